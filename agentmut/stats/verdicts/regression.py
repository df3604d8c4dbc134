"""The verdict whether a candidate has regressed against a baseline, from fixed samples of both."""

from typing import TYPE_CHECKING, NamedTuple

from agentmut.stats.checks import check_count, check_rate
from agentmut.stats.intervals.differences import newcombe
from agentmut.stats.intervals.proportion import Interval
from agentmut.stats.kill.rule import is_untestable
from agentmut.stats.sequential.further_trials import further_trials
from agentmut.stats.tests.noninferiority import (
    MarginTest,
    exact_is_affordable,
    noninferiority_test,
    score_statistic,
)
from agentmut.stats.tests.proportions import LARGEST_BOSCHLOO, TwoSampleTest, check_test, two_sample_test
from agentmut.stats.tests.significance import Alternative
from agentmut.stats.three_valued import Judgement, Verdict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Flags = NDArray[np.bool_]

SURE = 2_000
"""Pairs of counts up to which a proposed number of trials is checked by the exact test: some milliseconds each."""


class Samples(NamedTuple):
    """Passes and trials of baseline and candidate, checked."""

    k_b: int
    n_b: int
    k_c: int
    n_c: int

    def change(self, level: float) -> Interval:
        """Return p_c - p_b with Newcombe's interval."""
        return newcombe(self.k_c, self.n_c, self.k_b, self.n_b, level)

    def __str__(self) -> str:
        return f"{self.k_c}/{self.n_c} against {self.k_b}/{self.n_b} of the baseline"

    def lack(self) -> str:
        """Return what is missing for any verdict; empty if nothing is."""
        if self.n_b == 0:
            return "the baseline has no trials"
        return "" if self.n_c else "the candidate has no trials"

    def no_room(self, delta: float) -> str:
        """Return why no drop of `delta` could be seen, so that PASS would mean nothing; empty if it could."""
        if not is_untestable(self.n_b - self.k_b, self.n_b, delta):
            return ""
        return f"the baseline passes too rarely ({self.k_b}/{self.n_b}) for a drop of {delta:g} to be seen"


def check_samples(k_b: int, n_b: int, k_c: int, n_c: int) -> Samples:
    """Return the four counts; `ValueError` naming one that is negative, fractional or above its trials."""
    n_b, n_c = check_count("n_b", n_b), check_count("n_c", n_c)
    return Samples(check_count("k_b", k_b, 0, n_b), n_b, check_count("k_c", k_c, 0, n_c), n_c)


def regression_verdict(
    k_b: int,
    n_b: int,
    k_c: int,
    n_c: int,
    *,
    alpha: float = 0.05,
    beta: float = 0.10,
    delta: float = 0.20,
    test: TwoSampleTest = TwoSampleTest.BOSCHLOO,
    lowest: float | None = None,
) -> Judgement:
    """Judge `k_c` passes in `n_c` trials of a candidate against `k_b` in `n_b` of the baseline.

    FAIL: the one-sided `test` of p_c < p_b is significant at `alpha`, the chance of a false FAIL. The size
    of the drop is in the reason and the interval; it is no condition. PASS: a drop of `delta` or more is
    rejected at `beta`, the chance of a false PASS when the rate did drop by delta. Both can hold: a drop
    that is real but smaller than delta is FAIL, and the reason says so. Otherwise INCONCLUSIVE. Observed
    power is never looked at: after the fact it is the p-value in other clothes.

    `lowest` is the lowest true rate of the baseline that is left open (`lowest_rate`). With it FAIL must hold against
    that rate, too: `p_fail` is the larger of the test's p-value and P(K <= k_c) for K ~ Binomial(n_c, lowest). So it is
    valid given a baseline whose true rate is at least `lowest`, and not only on average over baselines.

    With more than 500 trials in a sample, Boschloo's test gives way to Fisher's, as `method` then says. The
    test of the drop is exact where the samples allow it (`exact_is_affordable`), beyond that the score
    test. Its level is kept before FAIL is looked at, hence also after.

    `interval` is Newcombe's for p_c - p_b at level 1 - 2 alpha, whose upper end is the one-sided limit at
    alpha. `n` counts the candidate's trials. `needed` keeps the baseline as it is, assumes that the
    candidate goes on at its observed rate (at the baseline's before its first trial). Chances of FAIL are those
    of Fisher's test (z for Z), which is no more likely to fail than Boschloo's.

    Degenerate cases: without trials on either side INCONCLUSIVE with p_fail 1; equal samples never FAIL;
    all pass or none pass in both gives p_fail 1. Where the baseline's rate leaves no room for a drop of
    delta (the kill rule's limit: (failures + 1/2)/(n_b + 1) + delta > 0.97) PASS is not given, FAIL may be.

    Source: Eq. 5 of the AgentAssay paper, which adds abs(difference) >= delta to FAIL and asks for power in
    PASS. The former holds power near 1/2 at a true drop of delta whatever the sample; neither is used.

    Raises `ValueError` for a count that is negative, fractional or above its trials, alpha or beta outside
    (0, 0.5), delta outside (0, 1), or an unknown test.
    """
    samples = check_samples(k_b, n_b, k_c, n_c)
    test = _affordable(check_test(test), samples)
    alpha, beta = check_rate("alpha", alpha, 0, 0.5), check_rate("beta", beta, 0, 0.5)
    delta = check_rate("delta", delta)
    by_test = 1.0 if samples.lack() else p_worse(samples, test)
    p_fail = max(by_test, p_below(samples, lowest)) if lowest is not None else by_test
    verdict, reason = _decide(samples, p_fail, alpha, beta, delta)
    if lowest is not None and by_test <= alpha < p_fail:
        reason += (
            f"; against the observed rate alone p = {by_test:.3g}, but the baseline leaves {lowest:.3f} open"
        )
    needed = _needed(samples, alpha, beta, delta, test, lowest) if verdict is Verdict.INCONCLUSIVE else None
    return Judgement(
        verdict, reason, p_fail, samples.change(1 - 2 * alpha), samples.n_c, needed, f"regression ({test})"
    )


def _decide(samples: Samples, p_fail: float, alpha: float, beta: float, delta: float) -> tuple[Verdict, str]:
    if lack := samples.lack():
        return Verdict.INCONCLUSIVE, f"{lack}: {samples}"
    p_pass = _p_not_worse(samples, delta)
    seen = f"{samples}, a change of {samples.k_c / samples.n_c - samples.k_b / samples.n_b:+.3f}"
    room = samples.no_room(delta)
    if p_fail <= alpha:
        small = (
            "" if room or p_pass > beta else f", though by less than {delta:g} (p = {p_pass:.3g} <= {beta:g})"
        )
        return Verdict.FAIL, f"worse: {seen}, p = {p_fail:.3g} <= {alpha:g}{small}"
    if room:
        return Verdict.INCONCLUSIVE, f"{room}, and it is not shown to be worse (p = {p_fail:.3g} > {alpha:g})"
    if p_pass <= beta:
        return Verdict.PASS, f"not worse by {delta:g}: {seen}, p = {p_pass:.3g} <= {beta:g}"
    return Verdict.INCONCLUSIVE, (
        f"neither shown: {seen}; worse: p = {p_fail:.3g} > {alpha:g}; "
        f"not worse by {delta:g}: p = {p_pass:.3g} > {beta:g}"
    )


def _affordable(test: TwoSampleTest, samples: Samples) -> TwoSampleTest:
    """Return Fisher's test in place of Boschloo's for samples too large for it."""
    large = max(samples.n_b, samples.n_c) > LARGEST_BOSCHLOO
    return TwoSampleTest.FISHER if large and test is TwoSampleTest.BOSCHLOO else test


def p_worse(samples: Samples, test: TwoSampleTest) -> float:
    """Return the one-sided p-value of p_c < p_b; neither sample may be empty."""
    k_b, n_b, k_c, n_c = samples
    return two_sample_test(test, k_c, n_c, k_b, n_b, Alternative.LESS).p_value


def chance_of_fail(
    k_b: int,
    n_b: int,
    n_c: int,
    rate: float,
    *,
    alpha: float,
    test: TwoSampleTest = TwoSampleTest.BOSCHLOO,
    lowest: float | None = None,
) -> float:
    """Return the exact chance that `regression_verdict` is FAIL, given the baseline, at a candidate's true `rate`.

    Takes some eight tests: FAIL at some number of passes is FAIL at every smaller one.

    Raises `ValueError` as `regression_verdict` does, and for a rate outside [0, 1].
    """
    from scipy.stats import binom

    n_c, rate = check_samples(k_b, n_b, 0, n_c).n_c, check_rate("rate", rate, closed=True)
    fails, open_ = -1, n_c
    while open_ - fails > 1:
        samples = Samples(k_b, n_b, (fails + open_) // 2, n_c)
        p_fail = max(p_worse(samples, _affordable(test, samples)), p_below(samples, lowest or 1.0))
        fails, open_ = (samples.k_c, open_) if p_fail <= alpha else (fails, samples.k_c)
    return float(binom.cdf(fails, n_c, rate)) if fails >= 0 else 0.0


def p_below(samples: Samples, lowest: float) -> float:
    """Return the chance of so few passes of the candidate, or fewer, at a true rate of `lowest`."""
    from scipy.stats import binom

    lowest = check_rate("lowest", lowest, closed=True)
    return float(binom.cdf(samples.k_c, samples.n_c, lowest)) if samples.n_c else 1.0


def _p_not_worse(samples: Samples, delta: float) -> float:
    """Return the one-sided p-value of p_c > p_b - delta."""
    return noninferiority_test(*samples, delta, affordable_margin_test(samples.n_b, samples.n_c)).p_value


def affordable_margin_test(n_b: int, n_c: int) -> MarginTest:
    """Return the exact test of a margin if it is affordable, else the score test."""
    return MarginTest.EXACT if exact_is_affordable(n_b, n_c) else MarginTest.SCORE


def _needed(
    samples: Samples, alpha: float, beta: float, delta: float, test: TwoSampleTest, lowest: float | None
) -> int | None:
    import numpy as np
    from scipy.stats import binom, hypergeom, norm

    k_b, n_b, k_c, n_c = samples
    if n_b == 0:
        return None
    room, least, enough = not samples.no_room(delta), float(norm.isf(alpha)), float(norm.isf(beta))

    def fails(k: "Counts", n: "Counts") -> "Flags":
        differs = differ(k, n)
        return differs if lowest is None else differs & np.asarray(binom.cdf(k, n, lowest) <= alpha)

    def differ(k: "Counts", n: "Counts") -> "Flags":
        if test is TwoSampleTest.Z:
            pooled = (k_b + k) / (n_b + n)
            error = (pooled * (1 - pooled) * (1 / n_b + 1 / n)) ** 0.5
            far: Flags = k_b / n_b - k / n >= least * error + 1e-12
            return far
        small: Flags = np.asarray(hypergeom.cdf(k, n_b + n, k_b + k, n)) <= alpha
        return small

    def passes(k: "Counts", n: "Counts") -> "Flags":
        # half a pass less: in small samples the exact test asks for more than the score test
        return (score_statistic(k_b, n_b, np.maximum(k - 0.5, 0), n, delta) >= enough) & room

    def surely_passes(k: int, n: int) -> bool:
        # the score test serves to find a number of trials; whether it is enough, the exact one says where it matters
        if (n_b + 1) * (n + 1) > SURE:
            return bool(passes(np.asarray(k), np.asarray(n)))
        return room and _p_not_worse(Samples(k_b, n_b, k, n), delta) <= beta

    rate = k_c / n_c if n_c else k_b / n_b
    return further_trials(k_c, n_c, rate, fails, passes, surely_passes)
