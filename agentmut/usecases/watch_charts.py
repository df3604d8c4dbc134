"""Four charts over runs in the order of their start: CUSUM and Page-Hinkley, on the pass rate and on behaviour."""

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from agentmut.insight import Scorer
from agentmut.usecases.drift import Chart, Watch, watch
from agentmut.usecases.watch_report import ChartRow

if TYPE_CHECKING:
    import numpy as np

    from agentmut.stats import Array, Cusum, PageHinkley

CHARTS = 4
"""CUSUM and Page-Hinkley, each on the pass rate and on behaviour."""
UNUSUAL = 0.1
"""The share of the reference's runs that counts as unusual."""
MORE_UNUSUAL = 0.3
"""By so much the share of unusual runs has to rise for the CUSUM of behaviour to be quick."""
TOLERANCE = 0.25
"""Page-Hinkley on behaviour tolerates so many standard deviations of the reference's scores."""
GUARD = 0.9
"""The level at which the charts of behaviour allow for what a reference leaves open."""
SIMULATED = 200
"""Simulated sequences behind the run length of Page-Hinkley on behaviour."""
FEWEST_SCORES = 10
"""Scores of a reference from which behaviour is watched."""


class ChartInput(NamedTuple):
    """What the charts need of a run: no run stays in memory once it is read."""

    number: int
    """Its place in the store."""
    passed: bool | None
    score: float | None = None
    """How unusual it is; None for a run of the reference, and for one of a scenario that the reference lacks."""


ChartWithAlarm = tuple[ChartRow, ChartInput | None]
"""A chart, and the run that raised its alarm."""


def charts_of_pass_rate(runs: Sequence[ChartInput], settings: Chart) -> tuple[Watch, list[ChartWithAlarm]]:
    """Return the watch over all runs together, and its CUSUM and Page-Hinkley chart.

    Runs without a verdict are left out. The reference is the first judged runs, as many as `settings` says.
    """
    from agentmut.stats import page_hinkley_for, page_hinkley_run_length

    judged = [run for run in runs if run.passed is not None]
    all_runs = watch("all runs", [bool(run.passed) for run in judged], settings)
    if all_runs.pass_rate is None:
        why = all_runs.reason.replace("trials are stored", "judged runs are stored")
        rows = (ChartRow(chart=name, of="pass rate", reason=why) for name in ("cusum", "page-hinkley"))
        return all_runs, [(row, None) for row in rows]
    later = judged[settings.reference :]
    rate = min(round(all_runs.pass_rate, 2), 0.99)  # the chart is a walk on whole hundredths
    chart = page_hinkley_for(rate, max(0.01, round(settings.drop / 2, 2)), settings.in_control)
    cusum = ChartRow(
        chart="cusum",
        of="pass rate",
        in_control=all_runs.in_control,
        watched=len(later),
        alarm_at=all_runs.alarm_at,
    )
    exact = page_hinkley_run_length(chart, rate)
    page_hinkley = ChartRow(chart="page-hinkley", of="pass rate", in_control=exact)
    failed = [float(not run.passed) for run in later]
    return all_runs, [_with_run(cusum, later), _with_run(_charted(page_hinkley, chart, failed), later)]


def charts_of_behaviour(
    scorer: Scorer, later: Sequence[ChartInput], run_length: float, seed: int
) -> list[ChartWithAlarm]:
    """Return CUSUM and Page-Hinkley on how unusual the runs after the reference are.

    `run_length` is the number of runs to a false alarm of each chart. Both charts say why where nothing is watched.
    """
    from agentmut.stats import cusum_for

    rows = [ChartRow(chart=name, of="behaviour") for name in ("cusum", "page-hinkley")]
    if len(scorer.reference) < FEWEST_SCORES or not later:
        why = (
            "no run is stored after the reference runs"
            if not later
            else "too few reference runs have a behaviour that can be compared"
        )
        return [(row.model_copy(update={"reason": why}), None) for row in rows]
    known = [run for run in later if run.score is not None]
    scores = [float(run.score or 0.0) for run in known]
    limit, rate = usual_up_to(scorer.reference)
    plan = cusum_for(rate, MORE_UNUSUAL, run_length)
    first = rows[0].model_copy(update={"in_control": plan.in_control})
    chart, length = page_hinkley_on_scores(scorer.reference, run_length, seed)
    second = rows[1].model_copy(update={"in_control": length, "simulated": True})
    return [
        _with_run(_charted(first, plan.chart, [score <= limit for score in scores]), known),
        _with_run(_charted(second, chart, scores), known),
    ]


def usual_up_to(scores: Sequence[float]) -> tuple[float, float]:
    """Return the score up to which a run is usual, and the least chance of that for an unchanged run.

    The chance that a further score is at most the k-th smallest of m others is Beta(k, m + 1 - k) over references,
    whatever their spread; its lower bound at `GUARD` is given.
    """
    from scipy.stats import beta

    ordered, m = sorted(scores), len(scores)
    k = min(m, max(1, round((1 - UNUSUAL) * (m + 1))))
    return ordered[k - 1], float(beta.ppf(1 - GUARD, k, m + 1 - k))


def page_hinkley_on_scores(
    scores: Sequence[float], run_length: float, seed: int
) -> "tuple[PageHinkley, float]":
    """Return the chart on scores whose simulated run length is `run_length` or more, and that length.

    The threshold is found by bisection. The tolerance grows by how far the mean of the reference may lie below the
    true mean. One score, a standard deviation above the largest, stands for those that the reference has not seen: a
    further score is larger than all m known ones with the chance 1 / (m + 1).
    """
    import numpy as np
    from scipy.stats import norm

    from agentmut.stats import page_hinkley

    values = np.array(scores)
    spread = float(values.std(ddof=1)) or 1.0
    unsure = float(norm.ppf(GUARD)) / math.sqrt(len(scores))
    make = partial(page_hinkley, (TOLERANCE + unsure) * spread, mean=float(values.mean()))
    values = np.append(values, values.max() + spread) + unsure * spread
    low, high = 1.0, 2.0
    while (length := _length(make(high * spread), values, run_length, seed)) < run_length and high < 4096:
        low, high = high, 2 * high
    for _ in range(6):
        middle = (low + high) / 2
        there = _length(make(middle * spread), values, run_length, seed)
        low, high, length = (low, middle, there) if there >= run_length else (middle, high, length)
    return make(high * spread), length


def _length(chart: "PageHinkley", values: "Array", horizon: float, seed: int) -> float:
    """Return the average run length on draws from the reference's scores.

    Runs are close to geometric, so those cut at the horizon are counted as geometric runs are: time over alarms.
    """
    import numpy as np

    from agentmut.stats import simulated_run_length

    def draws(rng: "np.random.Generator", size: int) -> "Array":
        return np.asarray(rng.choice(values, size))

    simulated = simulated_run_length(
        chart, draws, np.random.default_rng(seed), runs=SIMULATED, horizon=max(1, round(horizon))
    )
    return simulated.mean / max(1 - simulated.silent, 1 / SIMULATED)


def _charted(row: ChartRow, chart: "Cusum | PageHinkley", values: Sequence[float | bool]) -> ChartRow:
    from agentmut.stats import DriftState

    state = DriftState()
    for value in values:
        state = chart.update(state, value)  # type: ignore[arg-type]  # each chart has values of its own kind
    return row.model_copy(
        update={
            "watched": len(values),
            "alarm_at": state.alarm_at,
            "level": round(state.level / chart.threshold, 4),
        }
    )


def _with_run(row: ChartRow, runs: Sequence[ChartInput]) -> ChartWithAlarm:
    """Return a chart with the run of its alarm; `runs` are those that the chart watched."""
    return row, None if row.alarm_at is None else runs[row.alarm_at - 1]
