"""The reliability of repeated runs: pass@k, pass^k, and a summary of one test's runs.

Everything is computed in whole numbers or fractions and turned into a float or a percent once, at the end:
a truncated percent must not depend on how a float was rounded on the way.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from fractions import Fraction
from itertools import accumulate
from math import comb, exp, isqrt, log1p
from typing import NamedTuple

from agentmut.stats.checks import check_choice, check_count

MARGIN = 1e-7
"""A percent in floats that is nearer to a whole number is computed again in whole numbers."""


class Estimator(StrEnum):
    """How a chance over k runs is estimated from c passes in n runs."""

    UNBIASED = "unbiased"
    """Over all choices of k of the n runs: right on average at every pass rate; needs k <= n."""
    PLUG_IN = "plug-in"
    """The observed rate c/n in place of the true one: defined for any k. For k > 1 it is biased on n runs:
    pass^k comes out too high on average, pass@k too low."""


def pass_at_k(c: int, n: int, k: int, estimator: Estimator = Estimator.UNBIASED) -> float:
    """Return the chance that at least one of `k` runs passes, from `c` passes in `n` runs; in [0, 1].

    Unbiased: 1 - C(n-c, k) / C(n, k) (Chen et al., arXiv:2107.03374). Plug-in: 1 - (1 - c/n)^k.

    Raises `ValueError` unless n >= 1, 0 <= c <= n, k >= 1, and k <= n for the unbiased estimator;
    and for an unknown estimator.

    >>> pass_at_k(1, 4, 2)
    0.5
    """
    estimator = check_choice("estimator", estimator, Estimator)
    c, n, k = _counts(c, n, k, estimator)
    if estimator is Estimator.PLUG_IN:
        return float(1 - Fraction(n - c, n) ** k)
    return float(1 - Fraction(comb(n - c, k), comb(n, k)))


def pass_hat_k(c: int, n: int, k: int, estimator: Estimator = Estimator.UNBIASED) -> float:
    """Return the chance that every one of `k` runs passes (pass^k), from `c` passes in `n` runs; in [0, 1].

    Unbiased: C(c, k) / C(n, k) (Yao et al., arXiv:2406.12045). Plug-in: (c/n)^k.

    Raises `ValueError` unless n >= 1, 0 <= c <= n, k >= 1, and k <= n for the unbiased estimator;
    and for an unknown estimator.

    >>> pass_hat_k(4, 5, 2), pass_hat_k(4, 5, 2, Estimator.PLUG_IN)
    (0.6, 0.64)
    """
    estimator = check_choice("estimator", estimator, Estimator)
    c, n, k = _counts(c, n, k, estimator)
    if estimator is Estimator.PLUG_IN:
        return float(Fraction(c, n) ** k)
    return float(Fraction(comb(c, k), comb(n, k)))


class Reliability(NamedTuple):
    """A summary of one test's runs, in run order; percents are whole numbers from 0 to 100."""

    runs: int
    passes: int
    curve: tuple[int, ...]
    """See `decay_curve`."""
    variance_amplification: int
    """See `variance_amplification`."""
    graceful_degradation: int
    """See `graceful_degradation`."""

    @property
    def pass_at_k(self) -> int:
        """Return 100 if any run passed, else 0."""
        return 100 if self.passes else 0

    @property
    def pass_hat_k(self) -> int:
        """Return plug-in pass^k with k = the number of runs, in percent, truncated: the end of the curve."""
        return self.curve[-1]

    @property
    def flaky(self) -> bool:
        """Return whether some runs passed and some did not."""
        return 0 < self.passes < self.runs

    def __str__(self) -> str:
        flaky = ", flaky" if self.flaky else ""
        return (
            f"{self.passes} of {self.runs} runs passed{flaky}; pass@k {self.pass_at_k}%, "
            f"pass^k {self.pass_hat_k}% (plug-in, k={self.runs}); variance amplification "
            f"{self.variance_amplification}%, graceful degradation {self.graceful_degradation}%"
        )


def run_summary(outcomes: Iterable[bool]) -> Reliability:
    """Return the summary of the runs of one test, in order.

    Raises `ValueError` for no runs, or for anything but booleans.

    >>> print(run_summary([True, True, True, False]))
    3 of 4 runs passed, flaky; pass@k 100%, pass^k 31% (plug-in, k=4); variance amplification 87%, \
graceful degradation 60%
    """
    passed = _booleans(outcomes)
    degradation = graceful_degradation(passed)
    return Reliability(
        len(passed), sum(passed), decay_curve(passed), variance_amplification(passed), degradation
    )


def decay_curve(outcomes: Iterable[bool]) -> tuple[int, ...]:
    """Return plug-in pass^k over the first k runs, for k = 1 .. N, in whole percents, truncated: 100 (c_k/k)^k.

    c_k counts the passes among the first k. After a pass the curve can rise again (PFP: 100, 25, 29).

    Raises `ValueError` for no runs, or for anything but booleans.
    """
    passes = accumulate(_booleans(outcomes))
    return tuple(_truncated_power(c, k) for k, c in enumerate(passes, start=1))


def _truncated_power(c: int, k: int) -> int:
    """Return 100 (c/k)^k, truncated, for 0 <= c <= k. Large whole numbers are used only where a float may err."""
    if c in (0, k):
        return 100 if c else 0
    power = 100 * exp(k * log1p((c - k) / k))
    near = round(power)
    # where the result is 1 or more, k |log(c/k)| is at most 4.7, and the float errs by less than 1e-11
    return int(power) if abs(power - near) > MARGIN or near == 0 else 100 * c**k // k**k


def variance_amplification(outcomes: Iterable[bool]) -> int:
    """Return the standard deviation of the 0/1 outcomes (divisor N) over its maximum 1/2, in percent, half rounded up.

    With c passes in n runs: 200 sqrt(c (n - c)) / n. 0 where all runs agree, 100 where half of them pass.

    Raises `ValueError` for no runs, or for anything but booleans.
    """
    passed = _booleans(outcomes)
    n, c = len(passed), sum(passed)
    # floor(x + 1/2) = floor((2 n x + n) / 2n), and a root may be truncated first: n and 2n are whole
    return (isqrt(400**2 * c * (n - c)) + n) // (2 * n)


def graceful_degradation(outcomes: Iterable[bool]) -> int:
    """Return passes weighted by position 1 .. N: 100 sum(i * pass_i) / sum(i), in percent, half rounded up.

    A failure takes away its own position, so that with the same number of failures the score is lower the
    later they come: FPPP 90, PPPF 60. 100 if all runs pass, 0 if none does.

    Raises `ValueError` for no runs, or for anything but booleans.
    """
    passed = _booleans(outcomes)
    n = len(passed)
    earned = sum(position for position, is_pass in enumerate(passed, start=1) if is_pass)
    total = n * (n + 1) // 2
    return (200 * earned + total) // (2 * total)


def _counts(c: int, n: int, k: int, estimator: Estimator) -> tuple[int, int, int]:
    n = check_count("n", n, 1)
    most = n if estimator is Estimator.UNBIASED else None
    return check_count("c", c, 0, n), n, check_count("k", k, 1, most)


def _booleans(outcomes: Iterable[bool]) -> Sequence[bool]:
    """Return Python's booleans from Python's or numpy's; refuse text, whose letters would all be true."""
    plain = [outcome.item() if hasattr(outcome, "item") else outcome for outcome in outcomes]
    odd = [outcome for outcome in plain if not isinstance(outcome, bool)]
    if odd or not plain:
        example = repr(odd[0]) if odd else "none"
        raise ValueError(f"outcomes must be one boolean a run, at least one, got {example}")
    return plain
