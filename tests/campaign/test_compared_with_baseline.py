"""Verdicts on the agent as it is against a stored baseline: what is compared with what."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from agentmut._base.errors import BudgetError, UsageError
from agentmut.stats.three_valued import Verdict
from agentmut.store.documents.verdict_report import read_verdicts
from agentmut.usecases.campaigns import measure
from agentmut.usecases.suite_verdicts import check_suite, compare_with_baseline, save_baseline
from tests.campaign.assessed import FLAWLESS, changed, executed, row, verdicts

pytestmark = pytest.mark.whole


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
