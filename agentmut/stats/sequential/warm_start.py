"""The sequential test of a pass rate with the help of earlier trials, which cannot raise its error rates.

Wald's test weighs two rates: theta, the threshold, and theta - delta. An agent that passes nearly always is evidence of
a rate above theta - delta sooner than that pair can tell. So each side of the test asks a mixture of rates here. Half
of its weight goes to rates that earlier trials make likely, and the rest to Wald's own alternative:

    FAIL  when  ((1 - w F) L(theta - delta) + w m F') / L(theta) >= 1/alpha
    PASS  when  ((1 - w S) L(theta) + w m S') / L(theta - delta) >= 1/beta

L(q) = q^s (1 - q)^f is the likelihood of s passes and f failures now, and w = 1/2. The earlier trials make the rate
Beta(a, b). F is its chance below theta and S its chance above theta - delta; F' and S' are the same after the trials
of now, and m is the chance that Beta(a, b) gives to them. The first ratio has a mean of at most 1 at every rate of
theta or more, and the second at every rate of theta - delta or less. That holds whatever a and b are, as long as no
earlier trial is one of now. So both errors hold by Ville's inequality: P(FAIL | p >= theta) <= alpha and
P(PASS | p <= theta - delta) <= beta.

Source: H. Robbins, Annals of Mathematical Statistics 41 (1970) 1397-1409, for tests by mixtures. The AgentAssay paper
(arXiv 2603.02601), Eq. 49, starts its ratio at what history says instead, so that history alone can decide.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from agentmut.stats.checks import check_count
from agentmut.stats.sequential.sprt import TIE, SprtDesign
from agentmut.stats.three_valued import Verdict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

WEIGHT = 0.5
"""The part of a mixture that history chooses. Where it misleads, the evidence loses a factor of 2 at most."""
MOST_PAST = 50
"""Earlier trials count as so many at most: an agent changes, and what is known of it gets old."""


class Past(NamedTuple):
    """Earlier trials of the same scenario. A trial of the test must not be among these."""

    passes: int
    trials: int


class Boundary(NamedTuple):
    """The decisions after each number of trials 0..n_max."""

    fail_at: tuple[int, ...]
    """Least number of failures that is FAIL; n + 1 where none is."""
    pass_at: tuple[int, ...]
    """Greatest number of failures that is PASS; -1 where none is."""


def _least(
    holds: "Callable[[NDArray[np.int64]], NDArray[np.bool_]]", n: "NDArray[np.int64]"
) -> "NDArray[np.int64]":
    """Return for each n the least number of failures at which `holds`, n + 1 where there is none."""
    import numpy as np

    low, high = np.zeros_like(n), n + 1
    while (low < high).any():
        middle = np.minimum((low + high) // 2, n)
        held = holds(middle) & (low < high)
        high = np.where(held, middle, high)
        low = np.where(held | (low >= high), low, middle + 1)
    return low


def prior_of(passes: float, trials: float) -> tuple[float, float]:
    """Return a and b of Beta(a, b): Jeffreys' prior and the earlier trials, as at most `MOST_PAST`."""
    share = min(1.0, MOST_PAST / trials) if trials else 0.0
    return 0.5 + share * passes, 0.5 + share * (trials - passes)


@dataclass(frozen=True)
class WarmSprt:
    """A sequential test whose alternatives come from earlier trials.

    Raises `ValueError` for a design without a last trial or with Wald's boundaries, and for impossible counts.
    """

    design: SprtDesign
    past: Past

    def __post_init__(self) -> None:
        check_count("passes", self.past.passes, 0, check_count("trials", self.past.trials))
        if self.design.n_max is None or self.design.boundaries != "strict":
            raise ValueError("a warm start needs a last trial and strict boundaries")

    @cached_property
    def prior(self) -> tuple[float, float]:
        """Return a and b of the rates that the earlier trials make likely."""
        return prior_of(*self.past)

    def evidence_of_fail(self, n: "ArrayLike", failures: "ArrayLike") -> "Floats":
        """Return the logarithm of the mixture against theta; infinite for a failure at theta = 1."""
        return evidence_of_fail(self.design, self.prior, n, failures)

    def evidence_of_pass(self, n: "ArrayLike", failures: "ArrayLike") -> "Floats":
        """Return the logarithm of the mixture against theta - delta."""
        return evidence_of_pass(self.design, self.prior, n, failures)

    @cached_property
    def boundary(self) -> Boundary:
        """Return the decisions. More failures are more evidence of FAIL and less of PASS, so bisection finds them."""
        import numpy as np

        n = np.arange((self.design.n_max or 0) + 1)
        fail_at = _least(lambda f: self.evidence_of_fail(n, f) >= self.design.upper - TIE, n)
        open_at = _least(lambda f: self.evidence_of_pass(n, f) < -self.design.lower - TIE, n)
        return Boundary(tuple(fail_at.tolist()), tuple((open_at - 1).tolist()))

    def crossed(self, n: int, failures: int) -> Verdict | None:
        """Return the verdict of the boundaries after `n` trials; None: go on. The first crossing counts."""
        check_count("failures", failures, 0, check_count("n", n, 0, self.design.n_max))
        if failures >= self.boundary.fail_at[n]:
            return Verdict.FAIL
        return Verdict.PASS if failures <= self.boundary.pass_at[n] else None


def evidence_of_fail(
    design: SprtDesign, prior: "tuple[ArrayLike, ArrayLike]", n: "ArrayLike", failures: "ArrayLike"
) -> "Floats":
    """Return the logarithm of the mixture against theta; FAIL from `design.upper` on. Arrays are broadcast."""
    return _evidence(_Side(design.alternative, design.threshold, below=True), prior, n, failures)


def evidence_of_pass(
    design: SprtDesign, prior: "tuple[ArrayLike, ArrayLike]", n: "ArrayLike", failures: "ArrayLike"
) -> "Floats":
    """Return the logarithm of the mixture against theta - delta; PASS from `-design.lower` on."""
    return _evidence(_Side(design.threshold, design.alternative, below=False), prior, n, failures)


class _Side(NamedTuple):
    """One side of the test: Wald's alternative, the rate that is rejected, and on which side of it alternatives are."""

    own: float
    null: float
    below: bool


def _evidence(
    side: _Side, prior: "tuple[ArrayLike, ArrayLike]", n: "ArrayLike", failures: "ArrayLike"
) -> "Floats":
    import numpy as np
    from scipy.special import betainc, betaln, xlog1py, xlogy

    a, b = np.asarray(prior[0], dtype=np.float64), np.asarray(prior[1], dtype=np.float64)
    f = np.asarray(failures, dtype=np.float64)
    s = np.asarray(n, dtype=np.float64) - f

    def beyond(passes: "Floats", lost: "Floats") -> "Floats":
        if side.below:
            return np.asarray(betainc(passes, lost, side.null), dtype=np.float64)
        return np.asarray(betainc(lost, passes, 1 - side.null), dtype=np.float64)

    def likelihood(rate: float) -> "Floats":
        return np.asarray(xlogy(s, rate) + xlog1py(f, -rate), dtype=np.float64)

    with np.errstate(divide="ignore"):
        own = np.log1p(-WEIGHT * beyond(a, b)) + likelihood(side.own)
        given = betaln(a + s, b + f) - betaln(a, b) + np.log(WEIGHT * beyond(a + s, b + f))
    top, bottom = np.logaddexp(own, given), likelihood(side.null)
    never = np.isneginf(bottom)  # a failure at theta = 1
    return np.where(never, np.inf, top - np.where(never, 0.0, bottom))
