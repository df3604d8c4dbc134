"""The chart that watches a pass rate: by hand, and how often it cries wolf."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from agentmut.nouns.result_figures import Score
from agentmut.report.terminal.trend_page import render_trend
from agentmut.stats.sequential.drift import Cusum, DriftState
from agentmut.stats.sequential.run_length import average_run_length, cusum_for
from agentmut.usecases.drift import Chart, Watch, watch
from agentmut.usecases.trend_rows import TrendReport, TrendRow, any_false_alarm, fall_of, sparkline


def test_trials_after_the_reference_are_watched_until_they_cross() -> None:
    passed = [True] * 45 + [False] * 5 + [True] * 10 + [False] * 10
    found = watch("a", passed, Chart(drop=0.2, reference=50, in_control=500))
    assert (found.reference_passes, found.reference_trials) == (45, 50)
    assert (found.watched, found.watched_passes) == (20, 10)
    assert found.pass_rate == pytest.approx(45.5 / 51)
    # Ten passes leave the level at 0; each failure then adds `up`, so the alarm is at failure ceil(h / up).
    chart = cusum_for(45.5 / 51, 0.2, 500).chart
    assert found.alarm_at == 10 + -(-chart.threshold // chart.up)
    assert found.in_control is not None
    assert found.in_control >= 500
    assert found.in_control == pytest.approx(average_run_length(chart, 45.5 / 51))


@pytest.mark.parametrize(("runs", "said"), [(1, "trend of p, 1 run\n"), (2, "trend of p, 2 runs\n")])
def test_a_trend_counts_its_runs(runs: int, said: str) -> None:
    parts: dict[str, Any] = {"kind": "test", "passes": 1, "trials": 1, "score": None, "runs_of_agent": 1}
    rows = tuple(TrendRow.model_construct(run=f"r{n}", changed=(), **parts) for n in range(runs))
    report = TrendReport.model_construct(
        agentmut_version="0", project="p", rows=rows, watches=(), false_alarm=0.0
    )
    assert said in render_trend(report)


def test_scenarios_that_are_not_watched_for_one_reason_share_a_line() -> None:
    few = [watch(f"s{n}", [True] * 9, Chart(0.2)) for n in range(50)]
    steady = watch("steady", ([True] * 9 + [False]) * 20, Chart(0.2))
    report = TrendReport.model_construct(
        agentmut_version="0", project="p", rows=(), watches=(*few, steady), false_alarm=0.1
    )
    text = " ".join(render_trend(report).split())
    assert "not watched: 50 scenarios (s0, s1, s2 and 47 more). " in text
    assert text.count("not watched") == 1 and "no drift" in text


def test_a_steady_rate_raises_no_alarm() -> None:
    found = watch("a", ([True] * 9 + [False]) * 20, Chart(0.2))
    assert found.alarm_at is None
    assert found.false_alarm is not None
    assert 0 < found.false_alarm < 0.2


@pytest.mark.parametrize(
    ("passed", "said"),
    [([True] * 50, "50 trials are stored"), ([], "0 trials"), ([False] * 60, "passes too rarely")],
)
def test_what_cannot_be_watched_says_why(passed: list[bool], said: str) -> None:
    found = watch("a", passed, Chart(0.2))
    assert said in found.reason
    assert found.pass_rate is None
    assert found.alarm_at is None


def alarms(chart: Cusum, passed: list[bool]) -> bool:
    state = DriftState()
    for each in passed:
        state = chart.update(state, each)
    return state.alarm


def test_the_stated_chance_of_a_false_alarm_is_the_observed_one() -> None:
    """An agent at 0.9 that never changes: 1500 projects, each with a reference and 150 trials of its own."""
    rng, settings = np.random.default_rng(7), Chart(drop=0.2, reference=50, in_control=500)

    @cache
    def planned(passes: int) -> tuple[Cusum, float]:
        steady = [True] * passes + [False] * (50 - passes) + [True] * 150
        found = watch("a", steady, settings)
        assert found.false_alarm is not None
        assert found.pass_rate is not None
        return cusum_for(found.pass_rate, 0.2, 500).chart, found.false_alarm

    stated, seen = [], []
    for _ in range(1500):
        chart, chance = planned(int(rng.binomial(50, 0.9)))
        stated.append(chance)
        seen.append(alarms(chart, (rng.random(150) < 0.9).tolist()))
    error = (np.mean(seen) * (1 - np.mean(seen)) / len(seen)) ** 0.5
    # What is stated is a mean over a posterior: it needs not hold at one rate to the letter.
    assert abs(np.mean(seen) - np.mean(stated)) <= 4 * error + 0.03


def test_charts_of_several_scenarios_add_up() -> None:
    def one(chance: float | None) -> Watch:
        return Watch(scenario="a", reference_passes=9, reference_trials=10, drop=0.2, false_alarm=chance)

    assert any_false_alarm([one(0.1), one(0.2), one(None)]) == pytest.approx(0.28)
    assert any_false_alarm([]) == 0


def row(run: str, low: float, high: float, status: str = "finished") -> TrendRow:
    score = Score(value=(low + high) / 2, low=low, high=high)
    return TrendRow(run=run, kind="run", status=status, config="c", passes=9, trials=10, score=score)


SAME = {name: {"suite": "s", "mutants": "m", "code": name} for name in "abc"}


def test_a_score_has_fallen_when_intervals_lie_apart_on_the_same_suite_and_mutants() -> None:
    rows = [row("a", 0.7, 0.9), row("b", 0.4, 0.69)]
    found = fall_of(rows, SAME)
    assert found is not None
    assert (found.before, found.after, found.chance) == ("a", "b", 0.05)
    assert fall_of([row("a", 0.7, 0.9), row("b", 0.4, 0.7)], SAME) is None
    assert fall_of(rows, {**SAME, "b": {"suite": "another", "mutants": "m"}}) is None
    assert fall_of([row("a", 0.7, 0.9), row("b", 0.4, 0.6, "budget")], SAME) is None
    assert fall_of(rows, {}) is None
    assert fall_of([], {}) is None


def test_a_run_on_other_mutants_is_passed_over() -> None:
    facts = {**SAME, "b": {"suite": "s", "mutants": "others"}}
    found = fall_of([row("a", 0.7, 0.9), row("b", 0.1, 0.2), row("c", 0.4, 0.6)], facts)
    assert found is not None
    assert (found.before, found.after) == ("a", "c")


def test_a_sparkline_has_one_block_for_each_value() -> None:
    assert sparkline([0, 1 / 7, 1, None]) == "▁▂█·"
