"""How long a drift chart runs until it alarms: exactly on a lattice, by simulation elsewhere.

The average run length (ARL) counts trials from a fresh start, the alarming one included. In control it is the
price of the chart, after a drop the delay. In control the run is close to geometric: half of the false alarms
come before 0.69 ARL.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agentmut.stats.checks import check_count, check_rate
from agentmut.stats.sequential.drift import (
    SLACK,
    Cusum,
    PageHinkley,
    check_parameters,
    checked,
    page_hinkley,
    reference_rate,
)

Array = NDArray[np.float64]
Draws = Callable[[np.random.Generator, int], Array]
"""Draws so many independent values of a stream."""
LONGEST = 1e12
"""Average run lengths beyond this are given as infinite: the linear system no longer carries the digits."""
LARGEST = 20_000
"""Most states of a chart that are solved for."""
LARGEST_DRAW = 1e200
"""Greatest size of a simulated value: its sum over a run is still a number."""
MOST_WORK = 5e7
"""Most multiplications for one of the systems that the search for a threshold solves: fifteen take about a second."""


class CusumPlan(NamedTuple):
    """A CUSUM and its exact run lengths.

    >>> print(cusum_for(0.9, 0.2, 500))
    CUSUM +13/-3, alarm at 44: one false alarm in 543 trials at pass rate 0.9, alarm after 21.3 trials at 0.7 \
(average, exact)
    """

    chart: Cusum
    pass_rate: float
    drop: float
    in_control: float
    """Average run length at `pass_rate`; exact."""
    after_drop: float
    """Average run length from a fresh start at `pass_rate - drop`; exact. From any other level it is shorter."""

    def __str__(self) -> str:
        chart = self.chart
        return (
            f"CUSUM +{chart.up}/-{chart.down}, alarm at {chart.threshold}: one false alarm in "
            f"{self.in_control:.0f} trials at pass rate {self.pass_rate:g}, alarm after "
            f"{self.after_drop:.1f} trials at {self.pass_rate - self.drop:g} (average, exact)"
        )


class RunLength(NamedTuple):
    """A simulated average run length.

    >>> print(RunLength(512.3, 10.7, 0.0, 2000, 10000))
    512.3 ± 10.7 trials (simulated, 2000 runs)
    >>> print(RunLength(900.5, 6.1, 0.12, 2000, 1000))
    at least 900.5 ± 6.1 trials (simulated, 2000 runs, 12% without alarm in 1000 trials)
    """

    mean: float
    """A run without alarm counts as `horizon` trials."""
    error: float
    """Standard error of the mean."""
    silent: float
    """Share of the runs without alarm within the horizon."""
    runs: int
    horizon: int

    def __str__(self) -> str:
        least = "at least " if self.silent else ""
        cut = f", {self.silent:.0%} without alarm in {self.horizon} trials" if self.silent else ""
        return f"{least}{self.mean:.1f} ± {self.error:.1f} trials (simulated, {self.runs} runs{cut})"


def average_run_length(chart: Cusum, pass_rate: float) -> float:
    """Return the exact ARL of a CUSUM on independent trials that pass at `pass_rate`, from a fresh start.

    The levels 0 .. threshold - 1 are the states of a Markov chain; with Q its transitions short of an alarm,
    the ARLs solve (I - Q) L = 1. Infinite at pass rate 1, and where it would exceed 1e12.

    Raises `ValueError` for a rate outside [0, 1], steps or threshold below 1, or a threshold over 20 000.
    """
    from scipy.linalg import solve_banded

    q = 1 - check_rate("pass_rate", pass_rate, closed=True)
    h = check_count("threshold", checked(chart).threshold, 1, LARGEST)
    if q == 0:
        return math.inf
    up, down = min(chart.up, h - 1), min(chart.down, h - 1)
    bands = np.zeros((up + down + 1, h))
    bands[up] = 1.0
    if chart.up < h:
        bands[0, up:] -= q
    if chart.down < h:
        bands[up + down, : h - down] -= 1 - q
    # Levels below `down` fall to 0: row s, column 0 lies on band up + s. Row `down` is set already.
    bands[up + np.arange(min(chart.down, h)), 0] -= 1 - q
    length = float(solve_banded((down, up), bands, np.ones(h))[0])
    return length if 1 <= length <= LONGEST else math.inf


def alarm_chance(chart: Cusum, pass_rate: float, horizon: int) -> float:
    """Return the exact chance that a CUSUM alarms within the first `horizon` trials, from a fresh start; in [0, 1].

    At the pass rate in control this is the chance of a false alarm. 0 for no trials. Takes time in proportion to
    horizon: 10^5 trials a few seconds.

    Raises `ValueError` as `average_run_length` does, and for a negative horizon.
    """
    q = 1 - check_rate("pass_rate", pass_rate, closed=True)
    h = check_count("threshold", checked(chart).threshold, 1, LARGEST)
    up, down = min(chart.up, h), min(chart.down, h)
    at = np.zeros(h)
    at[0], alarmed = 1.0, 0.0
    for _ in range(check_count("horizon", horizon)):
        alarmed += q * float(at[h - up :].sum())
        after = np.zeros(h)
        after[: h - down] = (1 - q) * at[down:]
        after[0] += (1 - q) * at[:down].sum()
        after[up:] += q * at[: h - up]
        at = after
    return min(1.0, alarmed)


def cusum_for(pass_rate: float, drop: float, in_control: float = 500.0) -> CusumPlan:
    """Return the CUSUM for a fall of the pass rate by `drop` with the least threshold whose exact ARL is `in_control`.

    The ARL grows with the threshold in small jumps, so the plan's is the wanted one or a little more.

    Raises `ValueError` unless pass_rate and pass_rate - drop are in (0, 1), drop > 0.001, 1 <= in_control <= 1e9,
    and for a drop so small that the chart would need more than 20 000 states or more than `MOST_WORK`.
    """
    reference = reference_rate(pass_rate, drop)
    steps = Cusum(reference.denominator - reference.numerator, reference.numerator, 1)
    chart = steps._replace(threshold=_least_threshold(steps, pass_rate, in_control))
    lengths = (average_run_length(chart, rate) for rate in (pass_rate, pass_rate - drop))
    return CusumPlan(chart, pass_rate, drop, *lengths)


def page_hinkley_for(pass_rate: float, tolerance: float, in_control: float = 500.0) -> PageHinkley:
    """Return the Page-Hinkley chart on failures around `1 - pass_rate` with the least threshold for an exact ARL.

    Its mean is the failure rate 1 - pass_rate (to twelve decimals), taken as known; `page_hinkley_run_length`
    gives the exact ARL, which is `in_control` or a little more. Half the drop that matters is a sensible
    tolerance: the reference rate is then midway between the two.

    Raises `ValueError` unless pass_rate and pass_rate - tolerance are in (0, 1), tolerance > 0, 1 <= in_control
    <= 1e9, and for rates so fine that the chart would need more than 20 000 states or more than `MOST_WORK`.
    """
    pass_rate = check_rate("pass_rate", pass_rate)
    tolerance = check_rate("tolerance", tolerance, 0.0, pass_rate)
    chart = page_hinkley(tolerance, 1.0, round(1 - pass_rate, 12))
    steps = chart.as_cusum()
    least = _least_threshold(steps, pass_rate, in_control)
    # alarm above (least - 1)/m, at or before least/m: the middle is clear of rounding on both sides
    return chart._replace(threshold=(least - 0.5) / (steps.up + steps.down))


def page_hinkley_run_length(chart: PageHinkley, pass_rate: float) -> float:
    """Return the exact ARL of a Page-Hinkley chart with a known mean on failures (1) and passes (0).

    Raises `ValueError` as `PageHinkley.as_cusum` and `average_run_length` do. Without a known mean, and for
    real values, use `simulated_run_length`.
    """
    return average_run_length(chart.as_cusum(), pass_rate)


def simulated_run_length(
    chart: PageHinkley,
    draws: Draws,
    rng: np.random.Generator,
    *,
    runs: int = 2000,
    horizon: int = 10_000,
    after: Draws | None = None,
    change: int = 0,
) -> RunLength:
    """Return the simulated ARL of a Page-Hinkley chart on independent values.

    `draws(rng, size)` gives values in control; for a recorded sample `lambda rng, n: rng.choice(sample, n)`. With
    `after`, values come from there once `change` trials are done, and the run is counted from the change, over
    the runs that had not alarmed by then. The length is cut at `horizon` trials (after the change).

    Raises `ValueError` for fewer than 2 runs, a horizon below 1, a negative change, if fewer than 2 runs
    reach the change, and for draws that are not `size` finite numbers, or a chart that `page_hinkley` refuses.
    """
    runs, horizon = check_count("runs", runs, 2), check_count("horizon", horizon, 1)
    change = check_count("change", change) if after else 0
    walks = _Walks(check_parameters(chart), runs)
    for _ in range(change):
        walks = walks.stepped(draws(rng, walks.gap.size))
    reached = check_count("runs that reach the change without alarm", walks.gap.size, 2)
    lengths: list[int] = []
    for trial in range(1, horizon + 1):
        before = walks.gap.size
        walks = walks.stepped((after or draws)(rng, before))
        lengths += [trial] * (before - walks.gap.size)
        if not walks.gap.size:
            break
    silent = reached - len(lengths)
    all_lengths = np.array(lengths + [horizon] * silent, dtype=float)
    error = float(all_lengths.std(ddof=1)) / math.sqrt(reached)
    return RunLength(float(all_lengths.mean()), error, silent / reached, reached, horizon)


class _Walks:
    """Many runs of one chart side by side, without the runs that have alarmed."""

    def __init__(self, chart: PageHinkley, runs: int) -> None:
        self.chart, self.trials = chart, 0
        self.gap, self.total = np.zeros(runs), np.zeros(runs)

    def stepped(self, values: Array) -> "_Walks":
        """Return the walks without an alarm at the next step. Raise `ValueError` for draws of another shape or size."""
        values = np.asarray(values, dtype=np.float64)
        if values.shape != self.gap.shape or not (np.abs(values) <= LARGEST_DRAW).all():
            raise ValueError(
                f"draws must give {self.gap.size} numbers of at most {LARGEST_DRAW:g} in size, got shape {values.shape}"
            )
        after = _Walks(self.chart, 0)
        after.trials, total = self.trials + 1, self.total + values
        mean = total / after.trials if self.chart.mean is None else self.chart.mean
        gap = np.maximum(self.gap + values - mean - self.chart.tolerance, 0.0)
        quiet = gap <= self.chart.threshold + SLACK
        after.gap, after.total = gap[quiet], total[quiet]
        return after


def _least_threshold(steps: Cusum, pass_rate: float, wanted: float) -> int:
    """Return the least threshold by doubling, then bisection: the ARL never falls as the threshold rises."""
    if not 1 <= wanted <= 1e9:
        raise ValueError(f"in_control must be in [1, 1e9] trials, got {wanted!r}")

    def enough(threshold: int) -> bool:
        work = threshold * min(steps.down, threshold) * min(steps.up + steps.down, threshold)
        if work > MOST_WORK:
            raise ValueError(
                f"the chart must have less than {MOST_WORK:g} threshold x steps to be planned, got over {work:.2g} for "
                f"steps +{steps.up}/-{steps.down}: ask for a larger drop, or a shorter run length in control"
            )
        return average_run_length(steps._replace(threshold=threshold), pass_rate) >= wanted

    high = 1
    while not enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
