"""Charts that watch a stream of results and alarm when it drifts: CUSUM and Page-Hinkley.

A chart is a design (frozen) and a state (frozen); `update` gives the next state. A chart alarms sooner or later
even if nothing changes: state how long that takes (`agentmut.stats.sequential.run_length`) wherever an alarm is shown.
The rates and means that the charts compare with are taken as known. Where they were estimated from a
baseline, the error of that estimate shortens or lengthens the run.
"""

import math
from fractions import Fraction
from typing import NamedTuple

from agentmut.stats.checks import check_count, check_rate

SLACK = 1e-9
"""A gap this close to a Page-Hinkley threshold is at it: sums of floats such as 0.1 are off by less."""

LEAST_DROP = 1e-3
"""Drops of this size and below are refused: the lattice of a chart for them is too fine to compute on."""


class DriftState(NamedTuple):
    """The state of a chart. The default is the start."""

    trials: int = 0
    level: float = 0.0
    """The evidence of drift in the results so far; never negative. Whole for a CUSUM."""
    total: float = 0.0
    """Sum of the values seen; for a CUSUM the failures."""
    alarm_at: int | None = None
    """The first trial at which the chart alarmed; it stays when the level falls again."""

    @property
    def alarm(self) -> bool:
        """Return whether the chart has alarmed. Start again from `DriftState()` once the reason is dealt with."""
        return self.alarm_at is not None


class Cusum(NamedTuple):
    """A Bernoulli CUSUM in whole numbers: level = max(0, level + step), alarm when it reaches the threshold.

    The step is `up` for a failure and -`down` for a pass, so that the chart's reference failure rate, at which
    the steps cancel, is down / (up + down). Source: Reynolds and Stoumbos, J. Quality Technology 31 (1999)
    87-108; E. S. Page, Biometrika 41 (1954) 100-115. Build one with
    `agentmut.stats.sequential.run_length.cusum_for`, which picks the threshold.
    """

    up: int
    down: int
    threshold: int

    @property
    def reference(self) -> float:
        """Return the failure rate at which the level neither rises nor falls on average."""
        return self.down / (self.up + self.down)

    def update(self, state: DriftState, passed: bool) -> DriftState:
        """Return the state after one more trial; `ValueError` for anything but a boolean."""
        if passed not in (True, False):
            raise ValueError(f"passed must be True or False, got {passed!r}")
        step = -self.down if passed else self.up
        level = max(0.0, state.level + step)
        return _next(state, level, float(not passed), level >= self.threshold)


class PageHinkley(NamedTuple):
    """Page-Hinkley for any finite values: alarms when they rise, by more than `tolerance`, above their mean.

    gap = max(0, gap + x - mean - tolerance); alarm when gap > threshold. This is m_t - min m_s for the sums
    m_t of x - mean - tolerance. `mean` is the value to compare with, if it is known; None for the mean of the
    values so far, x included, which forgets nothing: the longer a drift lasts, the more of it is in the mean.
    Feed 1 for a failed trial and 0 for a passed one, or the negative of a score that should not fall.
    Source: D. V. Hinkley, Biometrika 58 (1971) 509-523. Build one with `page_hinkley`.
    """

    tolerance: float
    """In units of the values; at least 0."""
    threshold: float
    """In units of the values, summed over trials; more than 0."""
    mean: float | None = None

    def update(self, state: DriftState, value: float) -> DriftState:
        """Return the state after one more value; `ValueError` if it, or a parameter of the chart, is not finite, and
        where the sum of the values, or the gap, becomes too large for a float.
        """
        check_parameters(self)
        value = _finite("value", value)
        total = _finite("sum of the values", state.total + value)
        mean = total / (state.trials + 1) if self.mean is None else self.mean
        gap = max(0.0, _finite("gap", state.level + value - mean - self.tolerance))
        return _next(state, gap, value, gap > self.threshold + SLACK)

    def as_cusum(self) -> Cusum:
        """Return the same chart for failures (1) and passes (0), in whole numbers.

        Its parameters are read as the decimal numbers they print as. Raises `ValueError` without a known
        mean, since the chart is then no walk on a lattice, and if mean + tolerance is outside (0, 1).
        """
        if self.mean is None:
            raise ValueError("mean must be given for a chart in whole numbers, got None")
        reference = Fraction(repr(float(self.mean))) + Fraction(repr(float(self.tolerance)))
        check_rate("mean + tolerance", float(reference))
        m = reference.denominator
        beyond = math.floor(Fraction(repr(float(self.threshold))) * m) + 1
        return Cusum(m - reference.numerator, reference.numerator, beyond)


def reference_rate(pass_rate: float, drop: float) -> Fraction:
    """Return the failure rate at which a CUSUM for a fall of the pass rate by `drop` stands still, as a fraction.

    It is r1/r2 with q = 1 - pass_rate, q' = q + drop, r1 = log((1-q)/(1-q')) and r2 = r1 + log(q'/q), rounded to the
    simplest fraction down/(up + down) within 2% of `drop`: on that lattice the chart can be computed exactly.

    Raises `ValueError` unless pass_rate and pass_rate - drop are in (0, 1) and drop > 0.001.
    """
    p = check_rate("pass_rate", pass_rate)
    drop = check_rate("drop", drop, LEAST_DROP, p)
    worse = p - drop
    r1 = math.log(p / worse)
    exact = r1 / (r1 + math.log((1 - worse) / (1 - p)))
    limit = 8
    while abs(Fraction(exact).limit_denominator(limit) - exact) > 0.02 * drop:
        limit += max(1, limit // 8)
    return Fraction(exact).limit_denominator(limit)


def page_hinkley(tolerance: float, threshold: float, mean: float | None = None) -> PageHinkley:
    """Return a Page-Hinkley chart; `ValueError` unless tolerance >= 0, threshold > 0, and all are finite.

    Without a known mean, tolerance must be more than 0, or the gap of a steady stream grows without bound.
    """
    known = None if mean is None else float(mean)
    return check_parameters(PageHinkley(float(tolerance), float(threshold), known))


def check_parameters(chart: PageHinkley) -> PageHinkley:
    """Return the chart; `ValueError` as `page_hinkley`."""
    tolerance, threshold, mean = chart
    if _finite("tolerance", tolerance) < 0 or (mean is None and tolerance == 0):
        raise ValueError(f"tolerance must be at least 0, and more without a known mean, got {tolerance!r}")
    if _finite("threshold", threshold) <= 0:
        raise ValueError(f"threshold must be more than 0, got {threshold!r}")
    if mean is not None:
        _finite("mean", mean)
    return chart


def checked(chart: Cusum) -> Cusum:
    """Return the chart; `ValueError` unless its steps and its threshold are whole numbers of at least 1."""
    for name, value in chart._asdict().items():
        check_count(name, value, 1)
    return chart


def _next(state: DriftState, level: float, value: float, alarm: bool) -> DriftState:
    trials = state.trials + 1
    alarm_at = trials if alarm and state.alarm_at is None else state.alarm_at
    return DriftState(trials, level, state.total + value, alarm_at)


def _finite(name: str, value: float) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    return number
