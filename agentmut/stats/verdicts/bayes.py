"""How probable a regression is, given the data and a prior; by quadrature, not sampling.

Baseline and candidate have independent pass rates with the same prior, Beta(a0, b0). The probabilities are
degrees of belief under that prior. They are no error rates, though measured ones are close where the drop is
just delta (see the calibration).
"""

from typing import TYPE_CHECKING, NamedTuple

from agentmut.stats.checks import check_level, check_rate, is_number
from agentmut.stats.intervals.proportion import Interval
from agentmut.stats.sequential.further import further_trials
from agentmut.stats.three_valued import Judgement, Verdict
from agentmut.stats.verdicts.regression import Samples, check_samples

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

LARGEST_PRIOR = 1e6
"""Largest parameter of a prior; its sum is the number of trials that the prior is worth."""


class Prior(NamedTuple):
    """Beta(a, b): worth `a` passes and `b` failures. Uniform by default; Jeffreys' is Beta(0.5, 0.5)."""

    a: float = 1.0
    b: float = 1.0

    def __str__(self) -> str:
        return f"Beta({self.a:g}, {self.b:g}) prior"


UNIFORM = Prior()


def check_prior(prior: Prior) -> Prior:
    """The prior itself; `ValueError` naming the parameter that is not in (0, 1e6]."""
    for name, value in prior._asdict().items():
        check_rate(f"{name} of the prior", value, 0.0, LARGEST_PRIOR * (1 + 1e-9))
    return prior


def regression_probability(
    k_b: int, n_b: int, k_c: int, n_c: int, delta: float, prior: Prior = UNIFORM
) -> float:
    """P(p_c < p_b - delta | data): the belief that the pass rate dropped by more than `delta`.

    `k_b` passes in `n_b` trials of the baseline, `k_c` in `n_c` of the candidate; delta in [0, 1). The
    absolute error is below 1e-8. Without any data it is what the prior says. Source: Eq. 11 of the
    AgentAssay paper.

    >>> round(regression_probability(45, 50, 40, 50, 0.05), 5)
    0.74322

    Raises `ValueError` for a count that is negative, fractional or above its trials, delta outside [0, 1),
    or a prior with a parameter outside (0, 1e6].
    """
    samples, prior = check_samples(k_b, n_b, k_c, n_c), check_prior(prior)
    return _probability(samples, _check_delta(delta), prior)


def posterior_change(
    k_b: int, n_b: int, k_c: int, n_c: int, level: float = 0.95, prior: Prior = UNIFORM
) -> Interval:
    """Posterior mean of p_c - p_b with the equal-tailed credible interval, each bound within 1e-9.

    Without any data it is what the prior says. A bound is -1 or 1 where that much of the belief is there, as with
    parameters far below 1. Raises `ValueError` as `regression_probability` does, and for a level outside (0, 1).
    """
    samples, prior = check_samples(k_b, n_b, k_c, n_c), check_prior(prior)
    return _change(samples, check_level(level), prior)


def bayes_verdict(
    k_b: int,
    n_b: int,
    k_c: int,
    n_c: int,
    *,
    alpha: float = 0.05,
    beta: float = 0.10,
    delta: float = 0.20,
    prior: Prior = UNIFORM,
) -> Judgement:
    """FAIL if P(drop > delta | data) >= 1 - alpha, PASS if it is < beta, else INCONCLUSIVE.

    `p_fail` is the complement, P(drop <= delta | data): a belief, not a p-value. Note that FAIL asks for a
    drop by more than delta, where the regression verdict asks for any drop. `interval` is the credible
    interval at level 1 - 2 alpha. `needed` keeps the baseline as it is and assumes that the candidate goes
    on at its observed rate, at the baseline's before its first trial.

    Degenerate cases: a side without trials is INCONCLUSIVE, since a prior must not pass a candidate; where
    the baseline's rate leaves no room for a drop of delta (see `regression_verdict`) PASS is not given.
    Source: Eq. 11 of the AgentAssay paper.

    Raises `ValueError` as `regression_probability` does, and for alpha or beta outside (0, 0.5).
    """
    samples, prior = check_samples(k_b, n_b, k_c, n_c), check_prior(prior)
    alpha, beta = check_rate("alpha", alpha, 0, 0.5), check_rate("beta", beta, 0, 0.5)
    drop = _probability(samples, _check_delta(delta), prior)
    verdict, reason = _decide(samples, drop, alpha, beta, delta)
    needed = _needed(samples, alpha, beta, delta, prior) if verdict is Verdict.INCONCLUSIVE else None
    p_fail = 1.0 if samples.lack() else 1 - drop
    change = _change(samples, 1 - 2 * alpha, prior)
    return Judgement(verdict, reason, p_fail, change, samples.n_c, needed, f"Bayes ({prior})")


def _decide(samples: Samples, drop: float, alpha: float, beta: float, delta: float) -> tuple[Verdict, str]:
    if lack := samples.lack():
        return Verdict.INCONCLUSIVE, f"{lack}: {samples}"
    seen = f"{samples}, P(drop > {delta:g}) = {drop:.3g}"
    if 1 - drop <= alpha:
        return Verdict.FAIL, f"worse by more than {delta:g}: {seen} >= {1 - alpha:g}"
    if room := samples.no_room(delta):
        return Verdict.INCONCLUSIVE, f"{room}: {seen} < {1 - alpha:g}"
    if drop < beta:
        return Verdict.PASS, f"not worse by more than {delta:g}: {seen} < {beta:g}"
    return Verdict.INCONCLUSIVE, f"neither believed enough: {seen}, between {beta:g} and {1 - alpha:g}"


def _check_delta(delta: float) -> float:
    if not (is_number(delta) and 0 <= delta < 1):
        raise ValueError(f"delta must be in [0, 1), got {delta!r}")
    return float(delta)


def _probability(samples: Samples, delta: float, prior: Prior) -> float:
    k_b, n_b, k_c, n_c = samples
    return float(probabilities(k_b, n_b, k_c, n_c, delta, prior))


def probabilities(
    k_b: "ArrayLike",
    n_b: "ArrayLike",
    k_c: "ArrayLike",
    n_c: "ArrayLike",
    delta: "ArrayLike",
    prior: Prior = UNIFORM,
) -> "Array":
    """`regression_probability` for arrays of counts, broadcast; the input is not checked.

    P = integral over u of F_c(Q_b(u) - delta), u from F_b(delta) to 1, with the posterior distribution
    functions F and quantiles Q: bounded and without a kink whatever the prior, so that tanh-sinh quadrature
    converges. A drop of p_c below p_b is one of 1 - p_b below 1 - p_c, so the narrower posterior may take
    the part of p_b: the integrand is then smooth.
    """
    import numpy as np
    from scipy.integrate import tanhsinh
    from scipy.special import betainc, betaincinv

    n_b, n_c, k_b, k_c, delta = np.broadcast_arrays(
        *(np.asarray(given, dtype=np.float64) for given in (n_b, n_c, k_b, k_c, delta))
    )
    a_b, b_b, a_c, b_c = prior.a + k_b, prior.b + n_b - k_b, prior.a + k_c, prior.b + n_c - k_c
    swap = _variance(a_c, b_c) < _variance(a_b, b_b)
    a, b = np.where(swap, b_c, a_b), np.where(swap, a_c, b_b)
    other_a, other_b = np.where(swap, b_b, a_c), np.where(swap, a_b, b_c)

    def beyond(u: "Array", a: "Array", b: "Array", other_a: "Array", other_b: "Array", d: "Array") -> "Array":
        return np.asarray(betainc(other_a, other_b, np.clip(betaincinv(a, b, u) - d, 0, 1)), dtype=np.float64)

    start = betainc(a, b, delta)
    negligible = start > 1 - 1e-11  # the whole integral is smaller, and the interval too short for nodes
    start = np.where(negligible, 0.5, start)
    done = tanhsinh(
        beyond, start, np.ones_like(start), args=(a, b, other_a, other_b, delta), atol=1e-10, rtol=1e-10
    )
    if not np.all(done.success | negligible):
        raise ArithmeticError(f"the probability of a regression did not converge: error {np.max(done.error)}")
    return np.where(negligible, 0.0, np.clip(np.asarray(done.integral, dtype=np.float64), 0, 1))


def _variance(a: "Array", b: "Array") -> "Array":
    found: Array = a * b / ((a + b) ** 2 * (a + b + 1))
    return found


def _change(samples: Samples, level: float, prior: Prior) -> Interval:
    from scipy.optimize import brentq

    k_b, n_b, k_c, n_c = samples
    swapped = Samples(k_c, n_c, k_b, n_b)

    def below(change: float) -> float:
        """P(p_c - p_b < change)."""
        if change < 0:
            return _probability(samples, -change, prior)
        return 1 - _probability(swapped, change, prior)

    def quantile(share: float) -> float:
        # a prior below 1 may hold more than a tail within rounding of -1 or 1
        if below(-1 + 1e-12) >= share:
            return -1.0
        if below(1 - 1e-12) <= share:
            return 1.0
        return float(brentq(lambda x: below(x) - share, -1 + 1e-12, 1 - 1e-12, xtol=1e-10))

    low, high = quantile((1 - level) / 2), quantile((1 + level) / 2)
    weight = prior.a + prior.b
    mean = (prior.a + k_c) / (weight + n_c) - (prior.a + k_b) / (weight + n_b)
    return Interval(mean, low, high, level, n_b + n_c, f"credible, {prior}")


def _needed(samples: Samples, alpha: float, beta: float, delta: float, prior: Prior) -> int | None:
    k_b, n_b, k_c, n_c = samples
    if n_b == 0:
        return None
    room = not samples.no_room(delta)
    return further_trials(
        k_c,
        n_c,
        k_c / n_c if n_c else k_b / n_b,
        lambda k, n: 1 - probabilities(k_b, n_b, k, n, delta, prior) <= alpha,
        lambda k, n: (probabilities(k_b, n_b, k, n, delta, prior) < beta) & room,
    )
