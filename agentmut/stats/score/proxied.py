"""The score of a dear model from a cheap one: prediction-powered inference over mutants.

A cheap model decides all N mutants, the dear one a random n of them. With f the cheap model's verdicts (1: killed) and
Y the dear one's, the share that the dear model would kill is estimated by

    lambda mean of f over the N - n others + mean of (Y - lambda f) over the n

with lambda = Cov(Y, f) / (Var(f) (1 + n / (N - n))), which makes its variance least (Angelopoulos, Duchi and Zrnic,
PPI++, arXiv 2311.01453). It is right on average whatever the cheap model does: where the two have nothing in common,
lambda goes to 0 and the dear model's verdicts alone count. Pairs are mutants. Nothing is paired within a mutant, as two
services share no chance.

For a sample of a finite population this is the regression estimate. Its variance is (1 - n/N) Var(Y - b f) / n, where
b = Cov(Y, f) / Var(f), and so (1 - rho^2) of that without the cheap model.
"""

import math
from collections import Counter
from collections.abc import Callable, Container, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agentmut.stats.checks import check_count, check_rate
from agentmut.stats.intervals.proportion import Interval
from agentmut.stats.kill.rule import Decision
from agentmut.stats.score.false_kills import false_kill_rates
from agentmut.stats.score.missed_drops import missed_rates
from agentmut.stats.score.mutant_evidence import JudgedMutant

Array = NDArray[np.float64]
WORTH = 0.3
"""The least rho at which a cheap model is worth its price: below, it saves less than 9 % of the variance."""
ADDED = 1.0
"""Mutants of each kind of disagreement that the bounds add, as in Bonett and Price, J. Educ. Behav. Stat. 37 (2012)
479-488: a sample without a disagreement is no proof that the cheap model never errs."""
OPEN = frozenset({Decision.KILLED, Decision.UNDECIDED})
"""What may yet be killed."""
STEPS = 40
"""Halvings by which a bound is found: to 1e-12."""


class Pairs(NamedTuple):
    """Verdicts on mutants: those that both models decided, and those that the cheap one alone has."""

    both: int
    """Killed by both models."""
    cheap_only: int
    dear_only: int
    neither: int
    rest_killed: int
    """Mutants that the cheap model kills and the dear model has not judged."""
    rest_alive: int

    @property
    def size(self) -> int:
        """Return how many mutants the dear model decided."""
        return self.both + self.cheap_only + self.dear_only + self.neither

    @property
    def population(self) -> int:
        """Return how many mutants there are."""
        return self.size + self.rest_killed + self.rest_alive


class Moments(NamedTuple):
    """Means, variances and covariance of the verdicts of a sample."""

    dear: float
    cheap: float
    dear_variance: float
    cheap_variance: float
    covariance: float


class ProxyGain(NamedTuple):
    """What a cheap model adds to a sample of the dear one's verdicts."""

    share: float
    """The share of all mutants that the dear model would kill."""
    rho: float
    """The correlation of the two models' verdicts; 0 where one of them never differs."""
    weight: float
    """The weight lambda of the cheap model."""
    saved: float
    """The part of the dear model's mutants that is saved: 1 - n/m, where m drawn mutants without the cheap model
    would be as precise as these n."""

    @property
    def is_worth_it(self) -> bool:
        """Return whether the cheap model is worth its price."""
        return self.rho >= WORTH


def proxied(pairs: Pairs) -> ProxyGain:
    """Return the estimate with the tuned weight; see the module's text.

    Raises `ValueError` for negative counts, and for fewer than two mutants that both have decided.

    >>> proxied(Pairs(20, 5, 5, 30, 120, 120))
    ProxyGain(share=0.460..., rho=0.657..., weight=0.525..., saved=0.345...)
    """
    _check(pairs)
    moments, rho = _moments(pairs, 0.0), _rho(pairs)
    slope = moments.covariance / moments.cheap_variance if moments.cheap_variance else 0.0
    whole = _mean(pairs.both + pairs.cheap_only + pairs.rest_killed, pairs.population)
    share = moments.dear + slope * (whole - moments.cheap)
    n, population = pairs.size, pairs.population
    weight = slope * (population - n) / population
    return ProxyGain(min(1.0, max(0.0, share)), rho, weight, _saved(rho, n, population))


def proxied_bounds(
    killed: Pairs, open_: Pairs, false: Array, missed: Array, error: float
) -> tuple[float, float]:
    """Return bounds of the share of mutants with a drop, each of which errs with chance `error`/2.

    In `killed` an undecided mutant of the dear model counts as alive, in `open_` as killed. `false` and `missed` are
    the chances of a false kill and of a missed drop at draws of the baselines' true rates, which all mutants share.
    The bounds are Student's around a share to which one disagreement of each kind is added. Of the share D with a drop
    at most D + (1 - D) false are killed on average, and at least D (1 - missed).

    Raises `ValueError` as `proxied` does, and for an error outside (0, 1).
    """
    error = check_rate("error", error)
    many, few = _Estimate.from_pairs(killed), _Estimate.from_pairs(open_)
    low = _root(lambda d: many.above(d + (1 - d) * false, (1 - d) * false * (1 - false)) > error / 2)
    high = _root(lambda d: few.below(d * (1 - missed), d * missed * (1 - missed)) <= error / 2)
    return low, max(low, high)


class ProxyOnlyMutants(NamedTuple):
    """Mutants that the cheap model alone decided: those that it kills, and the others."""

    killed: int
    alive: int


class ProxiedScore(NamedTuple):
    """A score with a cheap model beside the dear one, and what that model adds."""

    interval: Interval
    adds: ProxyGain


def proxied_score(
    evidence: Sequence[JudgedMutant],
    cheap: Sequence[bool],
    rest: ProxyOnlyMutants,
    no_coverage: int = 0,
    gamma: float = 0.05,
    resolution: float | None = None,
) -> ProxiedScore | None:
    """Return the score of all mutants, of which `evidence` is a random part; `cheap` tells which the cheap model kills.

    The mutants in `rest` have a verdict of the cheap model alone, those without coverage are all known. None where the
    dear model decided fewer than two mutants. The ends speak of drops as those of `mutation_score` do.

    Raises `ValueError` for lists of different lengths, and as `proxied_bounds` does.
    """
    decided = [(m, f) for m, f in zip(evidence, cheap, strict=True) if m.decision is not Decision.UNDECIDED]
    if len(decided) < 2:
        return None
    population = len(evidence) + rest.killed + rest.alive
    false = false_kill_rates(evidence) if any(m.tests for m in evidence) else np.zeros(1)
    pairs = [_pairs(evidence, cheap, rest, open_) for open_ in ({Decision.KILLED}, OPEN)]
    low, high = proxied_bounds(pairs[0], pairs[1], false, missed_rates(evidence, resolution), gamma)
    adds = proxied(_pairs([m for m, _ in decided], [f for _, f in decided], rest, {Decision.KILLED}))
    total = population + check_count("no_coverage", no_coverage)
    of_all = population / total
    share = min(max(adds.share, low), high)
    return ProxiedScore(
        Interval(share * of_all, low * of_all, high * of_all, 1 - gamma, total, "kill rule, cheap model"),
        adds,
    )


def _pairs(
    evidence: Sequence[JudgedMutant],
    cheap: Sequence[bool],
    rest: ProxyOnlyMutants,
    killed: Container[Decision],
) -> Pairs:
    table = Counter((m.decision in killed, bool(f)) for m, f in zip(evidence, cheap, strict=True))
    cells = (table[True, True], table[False, True], table[True, False], table[False, False])
    return Pairs(*cells, *rest)


class _Estimate(NamedTuple):
    """An estimated share with its standard error, by a sample of so many out of so many."""

    share: float
    variance: float
    freedom: int
    population: int

    @classmethod
    def from_pairs(cls, pairs: Pairs) -> "_Estimate":
        """Return the regression estimate of the share of killed mutants. Raise `ValueError` for bad counts."""
        _check(pairs)
        moments = _moments(pairs, ADDED)
        slope = moments.covariance / moments.cheap_variance
        cheap = pairs.both + pairs.cheap_only + pairs.rest_killed
        whole = (cheap + ADDED) / (pairs.population + 2 * ADDED)
        rest = moments.dear_variance - slope * moments.covariance
        n, population = pairs.size, pairs.population
        freedom = max(1, n - 2)  # mean and slope are estimated
        variance = (1 - n / population) * rest / freedom
        return cls(moments.dear + slope * (whole - moments.cheap), variance, freedom, population)

    def above(self, mean: Array, errors: Array) -> float:
        """Return the chance of so large a share or a larger one, on average over the draws."""
        return float(1 - self._chances(mean, errors).mean())

    def below(self, mean: Array, errors: Array) -> float:
        """Return the chance of so small a share or a smaller one, on average over the draws."""
        return float(self._chances(mean, errors).mean())

    def _chances(self, mean: Array, errors: Array) -> Array:
        from scipy.special import stdtr

        scale = np.sqrt(np.maximum(self.variance + errors / self.population, 1e-18))
        return np.asarray(stdtr(self.freedom, (self.share - mean) / scale))


def _check(pairs: Pairs) -> None:
    for name, count in pairs._asdict().items():
        check_count(name, count)
    if pairs.size < 2:
        raise ValueError(f"two mutants or more must have both verdicts, got {pairs.size}")


def _moments(pairs: Pairs, added: float) -> Moments:
    n = pairs.size + 2 * added
    dear, cheap = ((pairs.both + only + added) / n for only in (pairs.dear_only, pairs.cheap_only))
    return Moments(dear, cheap, dear * (1 - dear), cheap * (1 - cheap), pairs.both / n - dear * cheap)


def _rho(pairs: Pairs) -> float:
    moments = _moments(pairs, 0.0)
    spread = math.sqrt(moments.dear_variance * moments.cheap_variance)
    return moments.covariance / spread if spread else 0.0


def _saved(rho: float, n: int, population: int) -> float:
    """Return 1 - n/m, where 1/m - 1/N = (1 - rho^2) (1/n - 1/N)."""
    return 1 - n * ((1 - rho * rho) * (1 / n - 1 / population) + 1 / population)


def _mean(count: int, of: int) -> float:
    return count / of if of else 0.0


def _root(holds: Callable[[float], bool]) -> float:
    """Return the share from which a rising condition holds; 1 where it never does, 0 where it always does."""
    low, high = 0.0, 1.0
    if holds(low):
        return low
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
