"""What a baseline is checked for when it is saved, and what a comparison says given it."""

from typing import Any

import pytest

from agentmut.assessment.comparability import next_looks
from agentmut.assessment.fitness import agent_remarks
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.trace import AgentTrace
from agentmut.report.terminal.verdicts_page import render_verdicts
from agentmut.stats.verdicts.given_baseline import doubt_of, lowest_rate
from agentmut.store.documents.saved_baseline import SavedScenario
from agentmut.usecases.suite_verdicts import compare_with_baseline, save_baseline

FLAWLESS = "\nRATES.update(alpha=1.0)"


def kept(passes: int, trials: int, looks: int = 1, key: str = "k") -> SavedScenario:
    counts = {"launched": trials, "passes": passes, "trials": trials, "looks": looks}
    return SavedScenario.model_validate({"digest": "d", "judged_by": "e", "first_key": key, **counts})


def test_a_larger_baseline_of_the_same_agent_is_a_further_look() -> None:
    def looks(now: SavedScenario, before: SavedScenario) -> int:
        return next_looks({"a": now}, {"a": before})["a"].looks

    assert looks(kept(74, 75), kept(50, 50)) == 2
    assert looks(kept(99, 100), kept(50, 50)) == 3  # 75 would have been proposed, too
    assert looks(kept(50, 50), kept(50, 50)) == 1  # the same trials again
    assert looks(kept(48, 50), kept(50, 50, looks=2)) == 3  # drawn anew
    assert looks(kept(99, 100), kept(50, 50, looks=2, key="other agent")) == 1
    assert next_looks({"a": kept(1, 2)}, {})["a"].looks == 1


def test_what_the_runs_cannot_show_is_said(projects: Any) -> None:
    project = projects.write(("alpha", "beta"), suite={"threshold": 0.9})
    same = [Execution(ending=Ending.ANSWERED, trace=AgentTrace(outputs=("yes",)))] * 2
    said = list(agent_remarks(project, {}, {"alpha": same, "beta": same}, ["refund"]))
    assert any("alpha, beta: all 2 runs gave the same answer" in each for each in said)
    assert "the agent gives one and the same answer to every scenario" in said
    assert any("called refund" in each for each in said)


@pytest.mark.whole
def test_a_small_baseline_has_too_few_trials_and_names_the_size_that_would_do(projects: Any) -> None:
    small = save_baseline(projects.write(("alpha",), extra=FLAWLESS), trials=20)
    (said,) = [each for each in small.remarks if "too few" in each]
    assert "alpha: too few baseline trials: with 20, a drop by 0.2 is a FAIL in" in said
    assert "trials would reach 80 %" in said
    size = int(said.split("; ")[1].split()[0])
    assert not [e for e in save_baseline(projects.load(), trials=size).remarks if "too few" in e]


@pytest.mark.whole
def test_the_page_prints_the_exact_chance_given_the_baseline(projects: Any) -> None:
    project = projects.write(("alpha",), extra=FLAWLESS)
    save_baseline(project, trials=60)
    report = compare_with_baseline(project)
    (row,) = report.scenarios
    assert row.baseline is not None and report.baseline is not None
    assert row.baseline.lowest == pytest.approx(lowest_rate(60, 60, doubt_of(1)), abs=1e-6)
    assert row.baseline.false_fail is not None and row.baseline.false_fail <= 0.05
    assert report.baseline.false_fail == row.baseline.false_fail
    text = " ".join(render_verdicts(report).split())
    assert f"{100 * report.baseline.false_fail:.2g} % by an exact count, with 95 % confidence" in text
