"""Verdicts on the agent as it is: what is run, what is reused, what is compared with what."""

import json
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from agentmut._base.errors import BudgetError, RunError, UsageError
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.footprints import Footprint, RequestShape
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.project.project import Project
from agentmut.report.terminal.verdicts_page import render_verdicts
from agentmut.stats.three_valued import Verdict
from agentmut.store.documents.verdict_report import ScenarioVerdict, VerdictReport, read_verdicts
from agentmut.usecases.campaigns import measure
from agentmut.usecases.suite_verdicts import check_suite, compare_with_baseline, save_baseline

pytestmark = pytest.mark.whole

FLAWLESS = "\nRATES.update(alpha=1.0, beta=1.0, gamma=1.0)"
MIXED = "\nRATES.update(alpha=1.0, beta=0.5)"
LATE = """
import random
async def run(config, input, inner=run):
    await asyncio.sleep(random.random() * 0.005)
    return await inner(config, input)
"""


def verdicts(report: VerdictReport) -> dict[str, Verdict]:
    return {row.scenario: row.verdict for row in report.scenarios}


def row(report: VerdictReport, name: str) -> ScenarioVerdict:
    return next(row for row in report.scenarios if row.scenario == name)


def changed(projects: Any, words: tuple[str, ...], **parts: Any) -> Project:
    """The project rewritten, its agent as a new process would import it."""
    sys.modules.pop(projects.module, None)
    project: Project = projects.write(words, **parts)
    return project


def executed(projects: Any) -> int:
    with closing(sqlite3.connect(projects.folder / ".agentmut" / "store.db")) as store:
        return int(store.execute("SELECT count(*) FROM trials").fetchone()[0])


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


@pytest.mark.parametrize("verb", [check_suite, lambda project: save_baseline(project, trials=10), measure])
def test_an_agent_that_cannot_run_is_an_error_that_names_the_cause(projects: Any, verb: Any) -> None:
    keyless = (
        "\nimport os\nasync def run(config, input, inner=run):"
        "\n    os.environ['SHOP_KEY']\n    return await inner(config, input)\n"
    )
    with pytest.raises(
        RunError, match=r"^the agent cannot run: KeyError: 'SHOP_KEY' \(.*\)\. Each of \d+ trials raised"
    ):
        verb(projects.write(("alpha", "beta"), extra=keyless))


def test_a_key_that_was_missing_makes_the_next_run_another_one(
    projects: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyless = "\nimport os\nasync def run(config, input, inner=run):\n    os.environ['SHOP_KEY']\n"
    keyless += "    return await inner(config, input)\n"
    project = projects.write(("alpha", "beta"), extra=FLAWLESS + keyless)
    with pytest.raises(RunError, match="these runs are not reused"):
        check_suite(project)
    monkeypatch.setenv("SHOP_KEY", "1")
    healed = check_suite(project)
    assert (healed.verdict, healed.cost.reused) == (Verdict.PASS, 0)


def test_runs_without_a_key_are_not_reused_where_a_budget_ended_them_early(
    projects: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyless = "\nimport os\nasync def run(config, input, inner=run):\n    os.environ['SHOP_KEY']\n"
    keyless += "    return await inner(config, input)\n"
    project = projects.write(("alpha",), extra=FLAWLESS + keyless, budget={"trials": 2})
    assert check_suite(project).status == "budget"
    monkeypatch.setenv("SHOP_KEY", "1")
    assert check_suite(project).cost.reused == 0


KEYED = """
import os
async def run(config, input, inner=run):
    os.environ['SHOP_KEY']
    return await inner(config, input)
"""


def by_test(project: Project, trials: int) -> VerdictReport:
    return check_suite(project, method="fixed", trials=trials)


def by_saving(project: Project, trials: int) -> Any:
    return save_baseline(project, trials=trials)


def by_comparison(project: Project, trials: int) -> VerdictReport:
    return compare_with_baseline(project, method="fixed", trials=trials)


@pytest.mark.parametrize("verb", [by_test, by_saving, by_comparison])
def test_a_key_that_has_gone_since_is_told_though_stored_trials_ran(
    projects: Any, monkeypatch: pytest.MonkeyPatch, verb: Callable[[Project, int], Any]
) -> None:
    monkeypatch.setenv("SHOP_KEY", "1")
    project = projects.write(("alpha", "beta"), extra=FLAWLESS + KEYED)
    save_baseline(project, trials=10)
    verb(project, 10)
    before = executed(projects)
    monkeypatch.delenv("SHOP_KEY")
    with pytest.raises(
        RunError, match=r"KeyError: 'SHOP_KEY' \(.*\)\. Each of \d\d new .* a key or a server"
    ):
        verb(project, 30)
    assert executed(projects) > before
    monkeypatch.setenv("SHOP_KEY", "1")
    healed = verb(project, 30)
    rows = healed.scenarios.values() if verb is by_saving else healed.scenarios
    assert [(row.passes, row.trials) for row in rows] == [(30, 30)] * 2


def test_a_campaign_tells_a_key_that_has_gone_since_and_forgets_its_trials(
    projects: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_KEY", "1")
    project = projects.write(("alpha", "beta"), idle=0, extra=FLAWLESS + KEYED)
    by_test(project, 10)
    monkeypatch.delenv("SHOP_KEY")
    with pytest.raises(RunError, match=r"^the agent cannot run: KeyError.*Stored trials of this agent ran"):
        measure(project)
    monkeypatch.setenv("SHOP_KEY", "1")
    assert by_test(project, 40).cost.reused == 20


def test_a_campaign_on_a_stored_baseline_goes_on_once_the_key_is_back(
    projects: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_KEY", "1")
    project = projects.write(("alpha", "beta"), idle=0, extra=FLAWLESS + KEYED)
    by_test(project, 40)
    monkeypatch.delenv("SHOP_KEY")
    with pytest.raises(RunError, match=r"control failed.*KeyError: 'SHOP_KEY'"):
        measure(project)
    monkeypatch.setenv("SHOP_KEY", "1")
    assert measure(project).status == "finished"


def test_what_stored_trials_raised_as_well_is_a_failure_of_the_agent(projects: Any) -> None:
    """One that raises now and then before it does anything, among the last trials as among the first."""
    flaky = "\nCALLS = []\nasync def run(config, input, inner=run):\n    CALLS.append(input)\n"
    flaky += (
        "    if len(CALLS) in (4, 13):\n        raise KeyError('x')\n    return await inner(config, input)\n"
    )
    project = projects.write(("alpha",), extra=FLAWLESS + flaky)
    by_test(project, 12)
    assert row(by_test(project, 13), "alpha").passes == 11
    assert by_test(project, 13).cost.reused == 13


def test_a_new_scenario_that_the_agent_raises_in_fails_beside_stored_ones(projects: Any) -> None:
    broken = (
        "\nasync def run(config, input, inner=run):\n    if 'beta' in input:\n        raise KeyError('x')\n"
    )
    words = ("alpha", "beta")
    project = projects.write(words, extra=FLAWLESS + broken + "    return await inner(config, input)\n")
    check_suite(project, scenarios=["alpha"])
    assert verdicts(check_suite(project)) == {"alpha": "PASS", "beta": "FAIL"}


def test_a_budget_that_comes_before_it_can_be_told_says_what_is_not_reused(
    projects: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def limited(trials: int) -> Project:
        project: Project = projects.write(("alpha",), extra=FLAWLESS + KEYED, budget={"trials": trials})
        return project

    monkeypatch.setenv("SHOP_KEY", "1")
    kept = check_suite(limited(5))
    monkeypatch.delenv("SHOP_KEY")
    lost = check_suite(limited(3))
    with pytest.raises(BudgetError, match="raised before they did anything are not reused"):
        save_baseline(limited(2))
    monkeypatch.setenv("SHOP_KEY", "1")
    assert (kept.status, lost.status, check_suite(limited(40)).cost.reused) == ("budget", "budget", 5)
    said = [" ".join(render_verdicts(report).split()) for report in (kept, lost)]
    assert "again: finished trials are reused)" in said[0]
    assert "again: runs that raised before they did anything are not reused)" in said[1]


def test_an_agent_that_raises_in_one_scenario_only_fails_there(projects: Any) -> None:
    broken = (
        "\nasync def run(config, input, inner=run):\n    if 'beta' in input:\n        raise KeyError('x')\n"
    )
    report = check_suite(
        projects.write(("alpha", "beta"), extra=FLAWLESS + broken + "    return await inner(config, input)\n")
    )
    assert verdicts(report) == {"alpha": "PASS", "beta": "FAIL"}


def test_a_run_has_begun_once_a_model_answered_a_tool_was_called_or_a_request_was_read() -> None:
    raised = Execution(ending=Ending.RAISED, reason="KeyError: 'x'")
    refused, answered, called = (
        AgentTrace(steps=(step,))
        for step in (
            Step(action=Action.REASON, error="no key"),
            Step(action=Action.REASON),
            Step(action=Action.CALL_TOOL, error="broken"),
        )
    )
    assert raised.never_began == raised.model_copy(update={"trace": refused}).never_began == "KeyError"
    for begun in (
        {"trace": answered},
        {"trace": called},
        {"footprint": Footprint(requests=(RequestShape(text="hello"),))},
        {"footprint": Footprint(lost=True)},
        {"ending": Ending.TIMEOUT},
    ):
        assert raised.model_copy(update=begun).never_began == ""


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


def test_a_worse_agent_fails_against_its_baseline(projects: Any) -> None:
    good = projects.write(("alpha", "beta"), extra="\nRATES.update(alpha=0.97, beta=0.97)")
    saved = save_baseline(good, trials=60)
    assert saved.scenarios["alpha"].trials == 60
    worse = changed(projects, ("alpha", "beta"), extra="\nRATES.update(alpha=0.97, beta=0.4)")
    report = compare_with_baseline(worse)
    assert verdicts(report) == {"alpha": "PASS", "beta": "FAIL"}
    assert report.verdict is Verdict.FAIL
    beta = row(report, "beta")
    assert beta.baseline is not None and beta.baseline.trials == 60
    assert beta.effect is not None and beta.effect.difference < -0.2
    assert beta.effect.size in ("medium", "large")
    assert report.cost.trials == sum(r.trials for r in report.scenarios)  # the baseline's trials cost nothing


def test_an_unchanged_agent_is_compared_on_new_trials_and_passes(projects: Any) -> None:
    project = projects.write(("alpha", "beta"), extra="\nRATES.update(alpha=0.95, beta=0.95)")
    save_baseline(project, trials=50)
    before = executed(projects)
    report = compare_with_baseline(project)
    assert report.verdict is Verdict.PASS
    assert report.baseline is not None and report.baseline.same_agent
    assert report.cost.reused == 0
    assert any("only a drift of the model service can show" in note for note in report.notes)
    assert executed(projects) - before == report.cost.trials == sum(r.trials for r in report.scenarios)


@pytest.mark.parametrize("test", ["fisher", "boschloo", "z"])
def test_a_comparison_with_fixed_samples_tests_and_excludes_the_drop(projects: Any, test: str) -> None:
    save_baseline(projects.write(("alpha", "beta"), extra=FLAWLESS), trials=50)
    compare = {"method": "fixed", "trials": 50, "test": test}
    worse = changed(projects, ("alpha", "beta"), extra="\nRATES.update(alpha=1.0, beta=0.6)", compare=compare)
    report = compare_with_baseline(worse)
    assert verdicts(report) == {"alpha": "PASS", "beta": "FAIL"}
    assert [r.trials for r in report.scenarios] == [50, 50]


def test_a_changed_evaluator_judges_the_stored_baseline_anew(projects: Any) -> None:
    save_baseline(projects.write(("alpha",), extra="\nRATES.update(alpha=0.97)"), trials=50)
    lenient: Callable[[str], dict[str, Any]] = lambda word: {"evaluators": [{"regex": "."}]}  # noqa: E731
    report = compare_with_baseline(
        projects.write(("alpha",), extra="\nRATES.update(alpha=0.97)", scenario=lenient)
    )
    side = row(report, "alpha").baseline
    assert side is not None and side.passes == side.trials == 50


def test_scenarios_that_ask_something_else_now_are_not_compared(projects: Any) -> None:
    save_baseline(projects.write(("alpha", "beta"), extra=FLAWLESS), trials=40)
    other: Callable[[str], dict[str, Any]] = lambda word: (  # noqa: E731
        {"input": "kindly say beta"} if word == "beta" else {}
    )
    report = compare_with_baseline(projects.write(("alpha", "beta"), extra=FLAWLESS, scenario=other))
    assert list(verdicts(report)) == ["alpha"]
    assert any(note.startswith("beta was not compared: its input") for note in report.notes)


def test_nothing_comparable_is_an_error(projects: Any) -> None:
    save_baseline(projects.write(("alpha",), extra=FLAWLESS), trials=40)
    with pytest.raises(UsageError, match=r"no scenario can be compared .* beta: not in the baseline"):
        compare_with_baseline(projects.write(("beta",), extra=FLAWLESS))


def test_a_baseline_that_does_not_exist_or_is_damaged_is_an_error(projects: Any) -> None:
    project = projects.write(("alpha",), extra=FLAWLESS)
    with pytest.raises(
        UsageError, match=r"there is no baseline 'default'. `agentmut baseline save` makes one"
    ):
        compare_with_baseline(project)
    save_baseline(project, "good", trials=40)
    with pytest.raises(UsageError, match="Did you mean 'good'"):
        compare_with_baseline(project, "goo")
    (projects.folder / ".agentmut" / "baselines" / "good.json").write_text("{")
    with pytest.raises(UsageError, match="cannot be read as a baseline"):
        compare_with_baseline(project, "good")


@pytest.mark.parametrize("name", ["", "../escape", "a/b", "x" * 65, ".hidden"])
def test_a_name_that_is_no_file_name_is_refused(projects: Any, name: str) -> None:
    with pytest.raises(UsageError, match="a baseline's name has letters"):
        save_baseline(projects.write(("alpha",)), name, trials=5)


def test_a_baseline_cut_short_is_not_kept(projects: Any) -> None:
    project = projects.write(("alpha",), extra=FLAWLESS, budget={"trials": 20})
    with pytest.raises(BudgetError, match="budget after 20 of 40 trials: baseline 'default' was not saved"):
        save_baseline(project, trials=40)
    with pytest.raises(UsageError, match="there is no baseline"):
        compare_with_baseline(project)


def test_old_trials_are_said_to_be_old(projects: Any) -> None:
    project = projects.write(("alpha",), extra=FLAWLESS, idle=0)
    assert not check_suite(project).notes
    with closing(sqlite3.connect(projects.folder / ".agentmut" / "store.db")) as store:
        store.execute("UPDATE trials SET finished = finished - 9 * 86400 WHERE repeat = 3")
        store.commit()
    old, free = check_suite(project).notes
    assert old.startswith("verdicts rest on trials that are up to 9 days old")
    assert free.startswith("all trials that the verdicts rest on were stored before")
    assert any("trials of the original that are up to 9 days old" in note for note in measure(project).notes)


def test_an_unchanged_agent_is_run_again_when_its_last_trials_are_hours_old(projects: Any) -> None:
    project = projects.write(("alpha",), extra="\nRATES.update(alpha=0.95)")
    save_baseline(project, trials=50)
    first = compare_with_baseline(project)
    # within hours: what an interrupted one has is kept
    assert compare_with_baseline(project).cost.trials == 0
    with closing(sqlite3.connect(projects.folder / ".agentmut" / "store.db")) as store:
        store.execute("UPDATE trials SET finished = finished - 7 * 3600")
        store.commit()
    assert compare_with_baseline(project).cost.trials == first.cost.trials > 0


def test_a_baseline_judged_otherwise_than_when_it_was_saved_is_named(projects: Any) -> None:
    save_baseline(projects.write(("alpha",), extra=FLAWLESS), trials=50)
    strict: Callable[[str], dict[str, Any]] = lambda word: {"evaluators": [{"contains": "impossible"}]}  # noqa: E731
    report = compare_with_baseline(projects.write(("alpha",), extra=FLAWLESS, scenario=strict))
    assert any("50/50 passed when saved, 0/50 do now" in note for note in report.notes)
    assert any("the baseline passes too rarely (0/50)" in note for note in report.notes)
    assert report.verdict is Verdict.INCONCLUSIVE


def test_the_verdict_says_how_many_scenarios_were_left_out(projects: Any) -> None:
    save_baseline(projects.write(("alpha",), extra=FLAWLESS), trials=40)
    report = compare_with_baseline(changed(projects, ("alpha", "beta"), extra=FLAWLESS))
    assert report.reason.endswith("; 1 not compared")
    assert report.baseline is not None and report.baseline.not_compared == {"beta": "not in the baseline"}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("schema_version", 99),
        ("saved", -1e18),
        ("saved", 1e300),
        ("scenarios.alpha.passes", 999),
        ("scenarios.alpha.passes", -3),
        ("scenarios.alpha.trials", 1_000_000),
        ("scenarios.alpha.launched", -7),
        ("scenarios.alpha.launched", 10**30),
    ],
)
def test_a_baseline_file_that_cannot_be_is_refused(projects: Any, key: str, value: float) -> None:
    project = projects.write(("alpha",), extra=FLAWLESS)
    save_baseline(project, trials=40)
    path = projects.folder / ".agentmut" / "baselines" / "default.json"
    stored = json.loads(path.read_text())
    *sections, name = key.split(".")
    place = stored
    for section in sections:
        place = place[section]
    place[name] = value
    path.write_text(json.dumps(stored))
    with pytest.raises(UsageError, match="cannot be read as a baseline"):
        compare_with_baseline(project)


def test_python_asks_for_behaviour_too(projects: Any) -> None:
    save_baseline(projects.write(("alpha", "beta"), extra=FLAWLESS), trials=40)
    same = check_suite(projects.load(), method="fixed", trials=20, fresh=True, behaviour="default")
    assert same.behaviour is not None
    assert [row.change for row in same.behaviour.scenarios] == ["continue", "continue"]
    wordy = (
        FLAWLESS
        + "\nasync def run(config, input, inner=run):\n    return await inner(config, input) + ' of course'\n"
    )
    found = compare_with_baseline(changed(projects, ("alpha", "beta"), extra=wordy), behaviour=True)
    assert found.behaviour is not None
    assert found.verdict is Verdict.PASS
    assert {row.scenario for row in found.behaviour.changed} == {"alpha", "beta"}
    assert read_verdicts(projects.folder / ".agentmut" / "runs" / found.run_id / "verdicts.json") == found
    with pytest.raises(UsageError, match="other"):
        check_suite(projects.load(), behaviour="other")
