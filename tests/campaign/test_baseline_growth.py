"""A baseline that grows by comparisons that pass: which trials it takes, what it costs, and when it does not."""

import json
import sys
from typing import Any

import pytest

from agentmut._base.errors import UsageError
from agentmut.campaign.limits import Spend
from agentmut.project.schema import BudgetSettings
from agentmut.report.terminal.verdicts_page import render_verdicts
from agentmut.stats.three_valued import Verdict
from agentmut.stats.verdicts.given_baseline import doubt_of, lowest_rate
from agentmut.store.documents.saved_baseline import SavedBaseline, read_baseline
from agentmut.usecases.assessing import baselines_folder
from agentmut.usecases.baseline_growth import left_of
from agentmut.usecases.suite_verdicts import compare_with_baseline, save_baseline

FLAWLESS = "\nRATES.update(alpha=1.0)"
SMALL = {"method": "fixed", "trials": 30, "test": "fisher"}


def of_disk(projects: Any) -> SavedBaseline:
    return read_baseline("default", baselines_folder(projects.load()))


def changed(projects: Any, **parts: Any) -> Any:
    sys.modules.pop(projects.module, None)
    return projects.write(("alpha",), **parts)


def test_a_budget_is_that_of_both_runs() -> None:
    left = left_of(BudgetSettings(usd=2, trials=50), Spend(trials=60, usd=0.5, judges_usd=0.25, seconds=30))
    assert (left.usd, left.trials, left.minutes) == (1.25, 0, None)


@pytest.mark.whole
def test_a_pass_adds_a_series_of_its_own_and_pays_for_the_look(projects: Any) -> None:
    project = projects.write(("alpha",), extra=FLAWLESS, compare=SMALL)
    before = save_baseline(project, trials=20)
    report = compare_with_baseline(project, update=True)
    assert report.verdict is Verdict.PASS
    assert report.update is not None
    (row,) = report.update.scenarios
    # 30 is the next proposed size, and 20 trials grow to 40 at most
    assert (row.trials, row.total_trials, row.looks, row.replaces) == (10, 30, 2, False)
    assert (
        report.update.cost is not None and report.update.cost.trials == 10 and report.update.cost.reused == 0
    )
    kept = of_disk(projects).scenarios["alpha"]
    first, second = kept.series
    assert (first.run_id, first.first, first.launched) == (before.run_id, 0, 20)
    assert second.first >= 20 + 30  # past the baseline's own repeats and the comparison's
    assert (kept.passes, kept.trials, kept.looks) == (30, 30, 2)
    text = render_verdicts(report)
    assert "a new series of today's agent was added." in text
    assert "alpha: 10/10 passed in the new series, 30/30 now" in text
    assert json.loads(report.model_dump_json())["update"]["scenarios"][0]["total_trials"] == 30

    again = compare_with_baseline(project)
    side = again.scenarios[0].baseline
    assert side is not None and side.trials == 30
    assert side.lowest == pytest.approx(lowest_rate(30, 30, doubt_of(1, 2)), abs=1e-6)
    assert again.cost.reused == 0  # no trial of the series or of the first comparison


@pytest.mark.whole
def test_without_pass_nothing_is_added_and_that_is_said(projects: Any) -> None:
    save_baseline(projects.write(("alpha",), extra=FLAWLESS, compare=SMALL), trials=20)
    before = of_disk(projects)
    worse = changed(projects, extra="\nRATES.update(alpha=0.3)", compare=SMALL)
    report = compare_with_baseline(worse, update=True, update_trials=5)
    assert report.verdict is Verdict.FAIL
    assert report.update is not None
    assert report.update.said == "nothing was added to the baseline: the comparison is FAIL"
    assert report.update.cost is None
    assert of_disk(projects) == before


@pytest.mark.whole
def test_a_changed_agent_becomes_the_reference_alone(projects: Any) -> None:
    save_baseline(projects.write(("alpha",), extra=FLAWLESS, compare=SMALL), trials=20)
    other = changed(projects, extra=FLAWLESS, compare=SMALL, idle=3)  # another prompt, as good
    report = compare_with_baseline(other, update=True)
    assert report.update is not None
    (row,) = report.update.scenarios
    assert (row.trials, row.total_trials, row.looks, row.replaces) == (30, 30, 1, True)
    kept = of_disk(projects)
    assert kept.agent.digest == report.agent.digest
    assert kept.runs == (report.update.run_id,)
    assert report.baseline is not None and kept.run_id == report.baseline.run_id  # a gate takes the report
    assert compare_with_baseline(other).scenarios[0].baseline.trials == 30  # type: ignore[union-attr]


@pytest.mark.whole
def test_a_series_that_a_budget_cuts_short_is_not_added(projects: Any) -> None:
    save_baseline(projects.write(("alpha",), extra=FLAWLESS, compare=SMALL), trials=20)
    before = of_disk(projects)
    bounded = changed(projects, extra=FLAWLESS, compare=SMALL, budget={"trials": 34})
    report = compare_with_baseline(bounded, update=True)
    assert (report.verdict, report.status) == (Verdict.PASS, "budget")
    assert report.update is not None
    assert (
        report.update.said
        == "nothing was added to the baseline: budget after 4 of 10 trials of the new series"
    )
    assert of_disk(projects) == before


@pytest.mark.whole
def test_a_number_of_trials_that_is_none_is_refused(projects: Any) -> None:
    project = projects.write(("alpha",), extra=FLAWLESS, compare=SMALL)
    save_baseline(project, trials=20)
    with pytest.raises(UsageError, match="from 1 to 10000, got 0"):
        compare_with_baseline(project, update=True, update_trials=0)
