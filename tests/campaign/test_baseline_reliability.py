"""The reliability of the unchanged agent in `result.json`, against its stored runs."""

import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agentmut.campaign import open_session
from agentmut.campaign.results.reliability import ScenarioRuns, baseline_reliability, reliability_of
from agentmut.campaign.running.stored import stored_originals
from agentmut.insight.coverage.project_coverage import CoverageRequest, project_coverage
from agentmut.nouns.result import Result
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.project.loading import load_project
from agentmut.report.files.markdown import markdown_report
from agentmut.report.html.page import html_report
from agentmut.report.reliability_wording import reliability_lines
from agentmut.report.terminal.run_page import render
from agentmut.store.rows import StoredTrial, trial_of
from agentmut.usecases.campaigns import measure
from agentmut.usecases.runtime import open_store
from agentmut.usecases.suite_verdicts import check_suite
from agentmut.usecases.trends import trend


@pytest.fixture
def result(projects: Any) -> Result:
    project = projects.write(("alpha", "beta"), extra="\nRATES = {'alpha': 0.9}\nLATENCY = 0.02\n")
    found: Result = measure(project)
    return found


def test_the_curve_follows_the_launches_whatever_order_runs_end_in(result: Result, tmp_path: Path) -> None:
    with open_store(load_project(tmp_path)) as store:
        runs = [one for one in store.trials_of(result.run_id, "") if one.scenario == "alpha"][:40]
    passed = [one.execution.trace.text == "alpha" for one in sorted(runs, key=lambda one: one.repeat)]
    (row,) = [row for row in result.reliability.scenarios if row.scenario == "alpha"]  # type: ignore[union-attr]
    assert (row.runs, row.passes) == (40, sum(passed))
    assert row.flaky
    expected = [100 * sum(passed[:k]) ** k // k**k for k in range(1, 41)]
    assert list(row.decay_curve) == expected
    at = [expected[k - 1] for k in (1, 2, 4, 8, 16, 32, 40)]
    curve = ", ".join(map(str, at))
    said = f"decay curve {curve} % after 1, 2, 4, 8, 16, 32, 40 runs, variance amplification"
    for page in (render(result), markdown_report(result), html_report(result)):
        plain = " ".join(page.replace("`", "").split())
        assert said in plain
        assert "From observed rates alone, pass^k is" in plain
    seconds = [one.execution.trace.seconds for one in runs]
    assert row.p95_seconds == pytest.approx(np.quantile(seconds, 0.95, method="inverted_cdf"), abs=1e-6)


def test_a_plan_reads_the_last_trials_of_each_scenario_and_no_earlier_run_once_these_are_enough(
    result: Result, tmp_path: Path
) -> None:
    later = check_suite(tmp_path, fresh=True)
    session = open_session(load_project(tmp_path))
    with open_store(session.project) as store:
        few, _ = stored_originals(session, store, most=3)
        some, _ = stored_originals(session, store, most=10_000)
        without_alpha = store.trials_of(later.run_id, "", 2, {"alpha"})
        every, _ = stored_originals(session, store)
    assert {name: len(trials) for name, trials in few.items()} == {"alpha": 3, "beta": 3}
    assert [trial.scenario for trial in without_alpha] == ["beta", "beta"]
    assert few["beta"] == every["beta"][-3:]
    assert {trial.run for trials in few.values() for trial in trials} == {later.run_id}
    assert some == every
    assert {trial.run for trials in every.values() for trial in trials} == {later.run_id, result.run_id}


def test_coverage_and_trend_have_a_page_of_trials_in_memory(
    result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    live: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
    counts: list[int] = []

    def seen(row: Any, footprint: Any) -> StoredTrial:
        trial = trial_of(row, footprint)
        live[trial.id] = trial.execution
        counts.append(len(live))
        return trial

    monkeypatch.setattr("agentmut.store.used_trials.PAGE", 10)
    monkeypatch.setattr("agentmut.store.store.trial_of", seen)
    session = open_session(load_project(tmp_path))
    with open_store(session.project) as store:
        stored = len(store.listing.heads(result.run_id, ""))
        found = project_coverage(session, store, CoverageRequest(run=result.run_id))
    assert found.traces == len(counts)
    assert 40 < len(counts) <= stored
    assert max(counts) <= 2 * 10  # a page, and what is left of the page before
    counts.clear()
    assert trend(tmp_path).watches
    assert len(counts) == stored
    assert max(counts) <= 2 * 10


def test_an_earlier_result_has_its_counts(result: Result) -> None:
    earlier = baseline_reliability(result.model_copy(update={"reliability": None}))
    now = result.reliability
    assert earlier is not None
    assert now is not None
    assert (earlier.pass_rate, earlier.chances) == (now.pass_rate, now.chances)
    assert (earlier.p95, earlier.scenarios[0].decay_curve) == (None, ())


def test_categories_have_pass_rates_over_their_scenarios() -> None:
    runs = [
        ScenarioRuns("a", 3, 4, category="refunds", setup_seconds=2.0),
        ScenarioRuns("b", 1, 2, category="refunds"),
        ScenarioRuns("c", 2, 2, category="orders"),
        ScenarioRuns("d", 0, 5),
    ]
    found = reliability_of(runs)
    assert found is not None
    rates = {
        row.category: (row.scenarios, row.passes, row.runs, row.pass_rate.estimate)
        for row in found.categories
    }
    # (3/4 + 1/2) / 2
    assert rates == {
        "": (1, 0, 5, 0.0),
        "orders": (1, 2, 2, 1.0),
        "refunds": (2, 4, 6, 0.625),
    }
    assert [row.setup_seconds for row in found.scenarios] == [0.5, None, None, None]
    said = "\n".join(reliability_lines(found))
    assert "Pass rate of category refunds 0.625" in said
    assert "Pass rate of scenarios without a category 0.000" in said
    assert "The setup of a run takes 0.5 s on average, apart from these durations." in said
    plain = reliability_of([run._replace(category=None) for run in runs])
    assert plain is not None
    assert plain.categories == ()


def test_a_category_moves_no_stored_run_to_another_scenario() -> None:
    plain = Scenario(name="s", turns=("hello",), evaluators=(EvaluatorSpec(name="contains", argument="x"),))
    assert plain.model_copy(update={"category": "refunds"}).digest == plain.digest


def test_verdicts_tell_categories_and_what_setup_took_apart_from_the_runs(projects: Any) -> None:
    extra = "\nimport time\n\ndef slow(scenario):\n    time.sleep(0.05)\n"
    hooks = {"alpha": {"category": "greek", "setup": f"{projects.module}:slow"}}
    report = check_suite(
        projects.write(("alpha", "beta"), extra=extra, scenario=lambda word: hooks.get(word, {}))
    )
    found = report.reliability
    assert found is not None
    assert [(row.category, row.scenarios) for row in found.categories] == [("", 1), ("greek", 1)]
    alpha, beta = found.scenarios
    assert alpha.setup_seconds is not None
    assert alpha.setup_seconds >= 0.05
    assert beta.setup_seconds is None
    assert alpha.p95_seconds is not None
    assert alpha.p95_seconds < alpha.setup_seconds
