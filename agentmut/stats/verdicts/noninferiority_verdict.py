"""Is a candidate worse than a baseline by a margin or more? A verdict that takes drops below the margin as no loss."""

from typing import TYPE_CHECKING

from agentmut.stats.checks import check_rate
from agentmut.stats.sequential.further import further_trials
from agentmut.stats.tests.noninferiority import inferiority_test, noninferiority_test, score_statistic
from agentmut.stats.three_valued import Judgement, Verdict
from agentmut.stats.verdicts.regression import Samples, affordable_margin_test, check_samples

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Flags = NDArray[np.bool_]


def noninferiority_verdict(
    k_b: int,
    n_b: int,
    k_c: int,
    n_c: int,
    *,
    alpha: float = 0.05,
    beta: float = 0.10,
    delta: float = 0.20,
) -> Judgement:
    """Judge `k_c` passes in `n_c` trials of a candidate against `k_b` in `n_b` of the baseline, within `delta`.

    PASS: p_c <= p_b - delta is rejected at `beta`, the chance of a false PASS (`noninferiority_test`). FAIL:
    p_c >= p_b - delta is rejected at `alpha`, the chance of a false FAIL (`inferiority_test`, whose p-value is
    `p_fail`): where `regression_verdict` asks for any drop, this asks for one by more than delta. Else INCONCLUSIVE;
    for alpha and beta below 0.5 never both. The tests are exact, for large samples the score test.

    `interval` is Newcombe's for p_c - p_b at level 1 - 2 alpha. `n` counts the candidate's trials. `needed` keeps the
    baseline, lets the candidate go on at its observed rate (at the baseline's before its first trial), and plans with
    the score test: a guide.

    Degenerate cases: without trials on either side INCONCLUSIVE with p_fail 1. Where the baseline's rate leaves no
    room for a drop of delta (see `regression_verdict`) PASS is not given, FAIL may be.

    Raises `ValueError` for a count that is negative, fractional or above its trials, alpha or beta outside (0, 0.5),
    or delta outside (0, 1).

    >>> print(noninferiority_verdict(45, 50, 47, 50).reason)
    not worse by 0.2: 47/50 against 45/50 of the baseline, a change of +0.040, p = 0.000315 <= 0.1
    """
    samples = check_samples(k_b, n_b, k_c, n_c)
    alpha, beta = check_rate("alpha", alpha, 0, 0.5), check_rate("beta", beta, 0, 0.5)
    delta, method = check_rate("delta", delta), affordable_margin_test(n_b, n_c)
    p_fail = 1.0 if samples.lack() else inferiority_test(*samples, delta, method).p_value
    verdict, reason = _decide(samples, p_fail, alpha, beta, delta)
    needed = _needed(samples, alpha, beta, delta) if verdict is Verdict.INCONCLUSIVE else None
    name = f"{method} non-inferiority by {delta:g}"
    return Judgement(verdict, reason, p_fail, samples.change(1 - 2 * alpha), samples.n_c, needed, name)


def _decide(samples: Samples, p_fail: float, alpha: float, beta: float, delta: float) -> tuple[Verdict, str]:
    if lack := samples.lack():
        return Verdict.INCONCLUSIVE, f"{lack}: {samples}"
    seen = f"{samples}, a change of {samples.k_c / samples.n_c - samples.k_b / samples.n_b:+.3f}"
    if p_fail <= alpha:
        return Verdict.FAIL, f"worse by more than {delta:g}: {seen}, p = {p_fail:.3g} <= {alpha:g}"
    if room := samples.no_room(delta):
        return Verdict.INCONCLUSIVE, f"{room}: {seen}, p = {p_fail:.3g} > {alpha:g}"
    p_pass = noninferiority_test(*samples, delta, affordable_margin_test(samples.n_b, samples.n_c)).p_value
    if p_pass <= beta:
        return Verdict.PASS, f"not worse by {delta:g}: {seen}, p = {p_pass:.3g} <= {beta:g}"
    return Verdict.INCONCLUSIVE, (
        f"neither shown: {seen}; worse by more than {delta:g}: p = {p_fail:.3g} > {alpha:g}; "
        f"not worse by {delta:g}: p = {p_pass:.3g} > {beta:g}"
    )


def _needed(samples: Samples, alpha: float, beta: float, delta: float) -> int | None:
    import numpy as np
    from scipy.stats import norm

    k_b, n_b, k_c, n_c = samples
    if n_b == 0:
        return None
    room, least, enough = not samples.no_room(delta), float(norm.isf(alpha)), float(norm.isf(beta))

    # half a pass to the other side, as the exact test asks for more than the score test in small samples
    def fails(k: "Counts", n: "Counts") -> "Flags":
        return np.asarray(score_statistic(k_b, n_b, np.minimum(k + 0.5, n), n, delta) <= -least)

    def passes(k: "Counts", n: "Counts") -> "Flags":
        return np.asarray((score_statistic(k_b, n_b, np.maximum(k - 0.5, 0), n, delta) >= enough) & room)

    return further_trials(k_c, n_c, k_c / n_c if n_c else k_b / n_b, fails, passes)
