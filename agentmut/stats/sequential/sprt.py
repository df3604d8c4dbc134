"""Wald's sequential probability ratio test of a pass rate: trial by trial, without numpy.

H0 says that the pass rate is at least theta (`threshold`), H1 that it is at most theta - delta (`margin`).
FAIL rejects H0. PASS rejects H1, so it is evidence of a rate above theta - delta, not above theta. In between
the test may say either: that is what the margin gives away for fewer trials.

The log-likelihood ratio after n trials with f failures, as in AgentAssay (arXiv 2603.02601), Eq. 7:

    L = (n - f) log((theta - delta)/theta) + f log((1 - theta + delta)/(1 - theta))

Failures raise it and a high value is evidence against the agent. Others, Cerberus among them, print its negative.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, get_args

from agentmut.stats.checks import check_count, check_name, check_rate, is_number
from agentmut.stats.three_valued import Verdict

Boundaries = Literal["wald", "strict"]
TIE = 1e-9
"""A log-ratio this close to a boundary has reached it: equal sums may differ in their last digits."""
LEAST_MARGIN = 1e-6


class SprtState(NamedTuple):
    """The state of a test."""

    n: int = 0
    failures: int = 0
    peak: float = 0.0
    """The largest log-ratio so far, that of no trials (0) included."""
    verdict: Verdict | None = None
    """None: run another trial."""

    @property
    def p_value(self) -> float:
        """Return exp(-peak): the chance of ever reaching such a log-ratio is at most this at every rate >= theta.

        In [0, 1] and valid whenever one looks (Ville's inequality); 1 before the first trial.
        """
        return math.exp(-self.peak)


@dataclass(frozen=True)
class SprtDesign:
    """A sequential test: its hypotheses, error rates and last trial.

    `strict` boundaries hold both error rates exactly: the log-ratio exponentiated is a supermartingale at
    every rate >= theta, its inverse at every rate <= theta - delta, so by Ville's inequality
    P(FAIL | p >= theta) <= alpha and P(PASS | p <= theta - delta) <= beta, cut off at n_max or not.
    `wald` boundaries are closer together and save trials, but hold the two rates only approximately: what is
    proved is alpha/(1 - beta), beta/(1 - alpha), and alpha + beta for the sum of both.

    Trials are consumed in launch order. At n_max the verdict is INCONCLUSIVE, whichever boundary is nearer.

    Raises `ValueError` for a threshold outside (0, 1], a margin outside (1e-6, threshold), levels outside
    (0, 1) or adding to 1 or more, n_max < 1, unknown boundaries.
    """

    threshold: float
    """theta. At 1 the first failure decides: an agent that never fails cannot have failed."""
    margin: float = 0.10
    """delta, the drop below theta that must be noticed."""
    alpha: float = 0.05
    """Chance of FAIL although the rate is at least theta."""
    beta: float = 0.10
    """Chance of PASS although the rate is at most theta - delta."""
    n_max: int | None = 100
    """The last trial; None for no end. Without end the test still stops, with probability 1."""
    boundaries: Boundaries = "strict"

    def __post_init__(self) -> None:
        check_threshold(self.threshold)
        check_rate("margin", self.margin, LEAST_MARGIN, self.threshold)
        check_rate("alpha", self.alpha)
        check_rate("beta", self.beta)
        if self.alpha + self.beta >= 1:
            raise ValueError(f"alpha + beta must be below 1, got {self.alpha!r} and {self.beta!r}")
        if self.n_max is not None:
            check_count("n_max", self.n_max, 1)
        check_name("boundaries", self.boundaries, get_args(Boundaries))

    @property
    def alternative(self) -> float:
        """Return theta - delta: the best rate that should not pass."""
        return self.threshold - self.margin

    @cached_property
    def lower(self) -> float:
        """Return a: PASS at or below it. log beta, or log(beta/(1 - alpha)) as Wald has it (Eq. 8)."""
        return math.log(self.beta if self.boundaries == "strict" else self.beta / (1 - self.alpha))

    @cached_property
    def upper(self) -> float:
        """Return b: FAIL at or above it. log(1/alpha), or log((1 - beta)/alpha) as Wald has it (Eq. 8)."""
        return math.log((1.0 if self.boundaries == "strict" else 1 - self.beta) / self.alpha)

    @cached_property
    def on_pass(self) -> float:
        """Return what a pass adds to the log-ratio; negative."""
        return math.log(self.alternative / self.threshold)

    @cached_property
    def on_failure(self) -> float:
        """Return what a failure adds to the log-ratio; infinite for theta = 1."""
        return math.inf if self.threshold == 1 else math.log((1 - self.alternative) / (1 - self.threshold))

    def log_ratio(self, n: int, failures: int) -> float:
        """Return the log-likelihood ratio of H1 over H0 (Eq. 7): high is for FAIL. Cerberus prints its negative."""
        return (n - failures) * self.on_pass + (failures * self.on_failure if failures else 0.0)

    def decide(self, n: int, failures: int) -> Verdict | None:
        """Return the verdict after `n` trials with `failures`; None: go on. Ties decide.

        Meaningful only where no smaller n has decided: the first crossing counts, see `run`.
        """
        check_count("failures", failures, 0, check_count("n", n, 0, self.n_max))
        return self.crossed(n, failures) or (Verdict.INCONCLUSIVE if n == self.n_max else None)

    def crossed(self, n: int, failures: int) -> Verdict | None:
        """Return the verdict of the boundaries alone, without n_max; the counts are not checked."""
        ratio = self.log_ratio(n, failures)
        if ratio >= self.upper - TIE:
            return Verdict.FAIL
        return Verdict.PASS if ratio <= self.lower + TIE else None

    def after(self, state: SprtState, passed: bool) -> SprtState:
        """Return the state one trial later; `ValueError` if the test has ended, or for a score in between."""
        if passed not in (True, False):
            raise ValueError(f"passed must be true or false, got {passed!r}")
        if state.verdict is not None:
            raise ValueError(f"state must be open to further trials, got one that ended in {state.verdict}")
        n, failures = state.n + 1, state.failures + (not passed)
        peak = max(state.peak, self.log_ratio(n, failures))
        return SprtState(n, failures, peak, self.decide(n, failures))

    def run(self, outcomes: Iterable[bool]) -> SprtState:
        """Consume outcomes (true: it passed) in launch order up to the verdict; the rest is not read.

        >>> SprtDesign(0.9, boundaries="wald", beta=0.2).run([True] * 20)
        SprtState(n=14, failures=0, peak=0.0, verdict=<Verdict.PASS: 'PASS'>)
        """
        state = SprtState()
        for passed in outcomes:
            state = self.after(state, passed)
            if state.verdict is not None:
                break
        return state


def check_threshold(threshold: float) -> float:
    """Return `threshold` as a float in (0, 1]; else, and for NaN, `ValueError`."""
    if not (is_number(threshold) and 0 < threshold <= 1):
        raise ValueError(f"threshold must be in (0, 1], got {threshold!r}")
    return float(threshold)
