"""Verdicts on the agent as it is against its thresholds: what is run, what is reused, when it ends."""

from typing import Any

import pytest

from agentmut._base.errors import RunError, UsageError
from agentmut.stats.three_valued import Verdict
from agentmut.store.documents.verdict_report import VerdictReport
from agentmut.usecases.campaigns import measure
from agentmut.usecases.suite_verdicts import check_suite, compare_with_baseline, save_baseline
from tests.campaign.assessed import FLAWLESS, LATE, MIXED, changed, row, verdicts

pytestmark = pytest.mark.whole


def test_a_flawless_agent_passes_after_as_many_trials_as_the_margin_takes(projects: Any) -> None:
    report = check_suite(projects.write(("alpha", "beta"), extra=FLAWLESS))
    assert report.verdict is Verdict.PASS
    # log(0.1) / log(0.8/0.9) = 19.55: twenty passes in a row, however many scenarios there are
    assert [row.trials for row in report.scenarios] == [20, 20]
    assert report.cost.trials == 40
    assert report.cost.baseline_trials == 40


def test_the_scenario_that_falls_short_is_named_and_fails_the_suite(projects: Any) -> None:
    report = check_suite(projects.write(("alpha", "beta"), extra=MIXED))
    assert verdicts(report) == {"alpha": "PASS", "beta": "FAIL"}
    assert report.verdict is Verdict.FAIL
    assert "beta" in report.reason
    assert row(report, "beta").failure
    assert row(report, "beta").p_adjusted <= 0.05


def test_a_fixed_number_of_trials_is_run_and_decided_exactly(projects: Any) -> None:
    project = projects.write(
        ("alpha", "beta"), extra=MIXED, test={"method": "fixed", "trials": 36}, suite={"threshold": 0.9}
    )
    report = check_suite(project)
    assert [row.trials for row in report.scenarios] == [36, 36]
    # 0.9^36 = 0.0225 <= 0.025: 36 passes in a row are the fewest that Clopper and Pearson's interval passes
    assert row(report, "alpha").verdict is Verdict.PASS
    assert row(report, "beta").verdict is Verdict.FAIL


def test_too_few_trials_for_any_pass_are_said_and_leave_it_open(projects: Any) -> None:
    project = projects.write(("alpha",), extra=FLAWLESS, test={"method": "fixed", "trials": 35})
    report = check_suite(project)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert row(report, "alpha").needed == 1
    assert any("cannot PASS with 35 trials" in note and "36" in note for note in report.notes)


def test_trials_of_a_campaign_are_reused_and_a_second_test_is_free(projects: Any) -> None:
    project = projects.write(("alpha", "beta"), extra=FLAWLESS)
    measure(project)
    first = check_suite(project)
    assert (first.cost.trials, first.cost.reused) == (0, 40)
    again = check_suite(project)
    assert (again.cost.trials, again.verdict) == (0, Verdict.PASS)
    assert check_suite(project, fresh=True).cost.trials == 40


@pytest.mark.parametrize("window", [1, 7])
def test_verdicts_do_not_depend_on_the_order_in_which_trials_end(projects: Any, window: int) -> None:
    def told(report: VerdictReport) -> Any:
        return [(r.scenario, r.verdict, r.trials, r.passes) for r in report.scenarios]

    execution = {"window": window, "concurrency": 16}
    agreed = told(check_suite(projects.write(("alpha", "beta"), extra=MIXED, execution=execution)))
    late = changed(projects, ("alpha", "beta"), extra=MIXED + LATE, execution=execution)
    assert told(check_suite(late)) == agreed


def test_trials_that_are_no_evidence_are_replaced_and_counted_apart(projects: Any) -> None:
    trouble = """
async def run(config, input, inner=run):
    if uniform("trouble") < 0.15:
        raise ConnectionError("connection reset")
    return await inner(config, input)
"""
    settings = {"method": "fixed", "trials": 40}
    project = projects.write(("alpha",), extra=FLAWLESS + trouble, test=settings, execution={"retries": 0})
    found = row(check_suite(project), "alpha")
    assert found.trials == 40
    assert found.outcomes["infrastructure"] > 0
    assert found.per_protocol is not None and found.per_protocol.estimate == 1.0
    share = 40 / (40 + found.outcomes["infrastructure"])
    assert found.intention_to_treat is not None
    assert found.intention_to_treat.estimate == pytest.approx(share, abs=1e-6)


def test_no_trial_at_all_is_an_error_and_no_verdict(projects: Any) -> None:
    dead = "\nasync def run(config, input):\n    raise ConnectionError('refused')\n"
    project = projects.write(("alpha",), extra=dead, execution={"retries": 0}, test={"trials": 5})
    with pytest.raises(RunError, match="refused"):
        check_suite(project)


def test_a_budget_leaves_it_open_and_a_larger_one_goes_on(projects: Any) -> None:
    project = projects.write(("alpha", "beta"), extra=FLAWLESS, budget={"trials": 15})
    cut = check_suite(project)
    assert (cut.status, cut.verdict, cut.cost.trials) == ("budget", Verdict.INCONCLUSIVE, 15)
    project = projects.write(("alpha", "beta"), extra=FLAWLESS, budget={"trials": 100})
    rest = check_suite(project)
    assert (rest.status, rest.verdict, rest.cost.trials) == ("finished", Verdict.PASS, 25)


def test_a_margin_beyond_the_threshold_is_halved_and_that_is_said(projects: Any) -> None:
    project = projects.write(("alpha",), extra=FLAWLESS, test={"margin": 0.5}, suite={"threshold": 0.4})
    report = check_suite(project)
    assert report.verdict is Verdict.PASS
    assert report.notes[0] == "alpha: margin 0.2, half of its threshold 0.4"


def test_a_fixed_sample_that_was_cut_short_is_not_judged(projects: Any) -> None:
    fixed = {"method": "fixed", "trials": 100}
    project = projects.write(("alpha",), extra="\nRATES.update(alpha=0.1)", test=fixed, budget={"trials": 30})
    cut = check_suite(project)
    found = row(cut, "alpha")
    assert (cut.status, cut.verdict, found.p_fail, found.needed) == ("budget", Verdict.INCONCLUSIVE, 1.0, 70)
    assert found.reason.startswith("cut short after 30 of 100 trials")


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "benjamini-hochberg", "benjamini-yekutieli"])
def test_a_collapse_fails_under_every_correction(projects: Any, correction: str) -> None:
    words = ("alpha", "beta", "gamma")
    save_baseline(projects.write(words, extra=FLAWLESS), trials=60)
    gone = changed(projects, words, extra="\nRATES.update(alpha=1.0, beta=0.0, gamma=1.0)")
    for report in (
        check_suite(gone, correction=correction),
        compare_with_baseline(gone, correction=correction),
    ):
        assert verdicts(report)["beta"] is Verdict.FAIL
        assert row(report, "beta").p_adjusted <= 0.05


def test_settings_given_to_a_function_take_the_place_of_the_files(projects: Any) -> None:
    project = projects.write(("alpha",), extra=FLAWLESS)
    report = check_suite(project, method="fixed", trials=40)
    assert (row(report, "alpha").trials, report.settings["method"]) == (40, "fixed")
    with pytest.raises(UsageError, match=r"test.method: .*got 'quick'"):
        check_suite(project, method="quick")
