"""The reliability figures of a suite's repeated runs, each with an interval that a gate can test."""

import math
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from statistics import fmean
from typing import NamedTuple

from agentmut._base import UsageError, nearest
from agentmut.campaign.results.bounds import bounds_of
from agentmut.nouns import Bounds, CategoryRate, Latency, PassChances, Reliability, RepeatedRuns, Result
from agentmut.stats import (
    Estimator,
    Interval,
    clustered_mean,
    descriptive,
    half_width,
    latency_percentile,
    mean_over_scenarios,
    nearest_rank,
    pass_at_k,
    pass_hat_k,
    run_summary,
    sample_standard_deviation,
    trials_for_half_width,
    wilson,
)

LEVEL = 0.95
MOST_K = 8
"""pass^k and pass@k are listed up to this k."""
HALF_WIDTH = 0.1
LONGEST_CURVE = 100
"""Entries of a decay curve that are kept: the first ones."""
_CHANCE = re.compile(r"(pass_hat|pass_at)_([1-9]\d{0,3})")


class ScenarioRuns(NamedTuple):
    """The runs of one scenario that are evidence."""

    scenario: str
    passes: int
    runs: int
    passed: tuple[bool, ...] = ()
    """In the order of their launch; empty where the order is not known."""
    seconds: tuple[float, ...] = ()
    category: str | None = None
    setup_seconds: float = 0.0
    """What the setup of all these runs took together."""


def baseline_reliability(result: Result) -> Reliability | None:
    """Return the reliability of a campaign's unchanged agent; by counts if an earlier version wrote the result."""
    if result.reliability is not None:
        return result.reliability
    return reliability_of([ScenarioRuns(row.scenario, row.passes, row.trials) for row in result.baseline])


def reliability_of(
    runs: Sequence[ScenarioRuns], *, early_stopping: bool = False, level: float = LEVEL
) -> Reliability | None:
    """Return the figures of a suite's runs; None if no scenario has a run that is evidence."""
    with_runs = [scenario for scenario in runs if scenario.runs]
    if not with_runs:
        return None
    most = min(MOST_K, max(scenario.runs for scenario in with_runs))
    outcomes = [float(i < scenario.passes) for scenario in with_runs for i in range(scenario.runs)]
    clustered = clustered_mean(
        outcomes, [scenario.scenario for scenario in with_runs for _ in range(scenario.runs)]
    )
    seconds = list(chain.from_iterable(scenario.seconds for scenario in with_runs))
    return Reliability(
        scenarios=tuple(map(_row, with_runs)),
        pass_rate=_bounds(_chance("pass_hat", 1, with_runs, level), early_stopping),
        naive=_bounds(wilson(int(sum(outcomes)), len(outcomes), level), early_stopping),
        design_effect=_rounded(clustered.design_effect),
        icc=_rounded(clustered.icc),
        chances=tuple(_chances(k, with_runs, level, early_stopping) for k in range(1, most + 1)),
        categories=tuple(_categories(with_runs, level, early_stopping)),
        p95=_latency(seconds, level) if seconds else None,
        early_stopping=early_stopping,
    )


def figure(reliability: Reliability, name: str, level: float) -> Interval:
    """Return the figure that a requirement names, with an interval at `level`.

    Raises `UsageError` for an unknown name, or a k with fewer runs than k on every scenario.
    """
    known = [ScenarioRuns(row.scenario, row.passes, row.runs) for row in reliability.scenarios]
    chance = _CHANCE.fullmatch(name)
    if chance or name == "pass_rate":
        kind, k = (chance[1], int(chance[2])) if chance else ("pass_hat", 1)
        fewest = min(known, key=lambda scenario: scenario.runs)
        if k > fewest.runs:
            raise UsageError(
                f"{name} needs {k} runs of each scenario, and {fewest.scenario} has {fewest.runs}"
            )
        return _marked(_chance(kind, k, known, level), reliability.early_stopping)
    exact = _exact(reliability)
    if name in exact:
        return Interval(exact[name], exact[name], exact[name], level, len(known), "as counted")
    if name == "p95_seconds" and (p95 := reliability.p95) is not None:
        high = math.inf if p95.high is None else p95.high
        return Interval(p95.seconds, p95.low, high, p95.level, p95.runs, "order statistics")
    raise UsageError(f"{name}: no such figure. {nearest(name, FIGURES)}")


FIGURES = (
    "pass_rate",
    "pass_hat_K",
    "pass_at_K",
    "p95_seconds",
    "flaky",
    "runs",
    "variance_amplification",
    "graceful_degradation",
)
"""What a requirement may name after `reliability.`; K is a number of runs."""


def _exact(reliability: Reliability) -> dict[str, float]:
    """Return the figures that are counts or describe the present runs, and so have no interval."""
    graceful = [
        row.graceful_degradation for row in reliability.scenarios if row.graceful_degradation is not None
    ]
    described = {"graceful_degradation": fmean(graceful)} if graceful else {}
    return {
        "flaky": reliability.flaky,
        "runs": min(row.runs for row in reliability.scenarios),
        "variance_amplification": fmean(row.variance_amplification for row in reliability.scenarios),
        **described,
    }


def _row(runs: ScenarioRuns) -> RepeatedRuns:
    likely = wilson(runs.passes, runs.runs)
    widest = min(max(0.5, likely.low), likely.high)
    # where the order is not known, only what does not hang on it is read off
    summary = run_summary(runs.passed or [i < runs.passes for i in range(runs.runs)])
    return RepeatedRuns(
        scenario=runs.scenario,
        runs=runs.runs,
        passes=runs.passes,
        flaky=summary.flaky,
        half_width=round(half_width(runs.runs), 6),
        runs_needed=trials_for_half_width(HALF_WIDTH, p=widest),
        decay_curve=summary.curve[:LONGEST_CURVE] if runs.passed else (),
        variance_amplification=summary.variance_amplification,
        graceful_degradation=summary.graceful_degradation if runs.passed else None,
        p95_seconds=_rounded(nearest_rank(runs.seconds)) if runs.seconds else None,
        deviation_seconds=_rounded(sample_standard_deviation(runs.seconds)),
        setup_seconds=_rounded(runs.setup_seconds / runs.runs) if runs.setup_seconds else None,
    )


def _categories(runs: Sequence[ScenarioRuns], level: float, early: bool) -> Iterator[CategoryRate]:
    grouped: dict[str, list[ScenarioRuns]] = {}
    for scenario in runs:
        grouped.setdefault(scenario.category or "", []).append(scenario)
    for name in sorted(grouped) if set(grouped) != {""} else ():
        yield CategoryRate(
            category=name,
            scenarios=len(grouped[name]),
            runs=sum(scenario.runs for scenario in grouped[name]),
            passes=sum(scenario.passes for scenario in grouped[name]),
            pass_rate=_bounds(_chance("pass_hat", 1, grouped[name], level), early),
        )


def _chances(k: int, runs: Sequence[ScenarioRuns], level: float, early: bool) -> PassChances:
    enough = [scenario for scenario in runs if scenario.runs >= k]
    plugged = [
        [rate(scenario.passes, scenario.runs, k, Estimator.PLUG_IN) for scenario in enough]
        for rate in (pass_hat_k, pass_at_k)
    ]
    return PassChances(
        k=k,
        scenarios=len(enough),
        pass_hat=_bounds(_chance("pass_hat", k, enough, level), early),
        pass_hat_plug_in=round(fmean(plugged[0]), 6),
        pass_at=_bounds(_chance("pass_at", k, enough, level), early),
        pass_at_plug_in=round(fmean(plugged[1]), 6),
    )


def _chance(kind: str, k: int, runs: Sequence[ScenarioRuns], level: float) -> Interval:
    counts = [(scenario.passes, scenario.runs) for scenario in runs if scenario.runs >= k]
    return mean_over_scenarios(counts, k, at_least_one=kind == "pass_at", level=level)


def _marked(interval: Interval, early: bool) -> Interval:
    return descriptive(interval) if early else interval


def _bounds(interval: Interval, early: bool) -> Bounds:
    return bounds_of(_marked(interval, early))


def _latency(seconds: Sequence[float], level: float) -> Latency:
    percentile = latency_percentile(seconds, 95, level)
    assert percentile.estimate is not None
    high = None if math.isinf(percentile.high) else round(percentile.high, 6)
    low = round(percentile.low, 6)
    return Latency(seconds=round(percentile.estimate, 6), low=low, high=high, level=level, runs=percentile.n)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
