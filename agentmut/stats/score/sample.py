"""A score from a random part of the mutants: looks that are planned beforehand, and bounds for all mutants.

Mutants are drawn at random, without replacement, and judged; the sample grows from look to look. Each look has its
share of the error, fixed before the first draw, so all looks hold together and the run may end at any of them
(Bonferroni over looks).

The bounds for all mutants allow for the draw and for the errors of the verdicts at once. Of N mutants S have a drop,
and H of the d drawn ones, which is hypergeometric. A drawn mutant without a drop is killed with chance a, one with a
drop survives with chance m; baselines are shared, so a and m are the same draw q of the true rates for all mutants.

- lower end: the least S with mean_q P(H + Binomial(d - H, a_q) >= killed) > error/2. Any drop counts.
- upper end: the largest S with mean_q P(Binomial(H, 1 - m_q) <= killed + undecided) > error/2. Drops of delta count;
  kills of other mutants only make the true count of kills larger.

Adding the largest number of false kills and missed drops to the bounds of the draw would take the worst of both and be
about twice as wide. A sample that is stratified in proportion varies less than a plain one, so the bounds err to the
safe side.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agentmut.stats.checks import check_count, check_rate

Array = NDArray[np.float64]
PLANNED = 0.85
"""The share of the error that the look has at which the sample is planned to end."""
WHOLE = 0.05
"""The share of the look at all mutants."""
EARLIER = ((0.5, 0.03),)
"""Looks before the planned one: at this part of it, with this share."""
GROWTH = 1.2
"""From each look after the planned one to the next; each has half of what is left of the error."""
LEAST = 4
"""Mutants in the smallest sample that is looked at."""


class Look(NamedTuple):
    """A number of mutants at which the score is looked at, and its share of the error."""

    drawn: int
    share: float


class Drawn(NamedTuple):
    """A sample of mutants, with the chances of wrong verdicts at draws of the baselines' true rates."""

    killed: int
    undecided: int
    survived: int
    false: Array
    """The chance that a mutant without a drop is killed."""
    missed: Array
    """The chance that a mutant with a drop survives."""


class Counts(NamedTuple):
    """How many of all mutants have a drop: at least `low`, at most `high`."""

    low: int
    high: int


def planned_looks(population: int, target: int) -> tuple[Look, ...]:
    """Return the looks at a sample of `population` mutants that is planned to end at `target`; the last has all.

    The shares sum to 1 at most. Raises `ValueError` for a target outside [1, population].

    >>> [look.drawn for look in planned_looks(60, 24)]
    [12, 24, 29, 35, 42, 51, 60]
    """
    population = check_count("population", population, 1)
    target = check_count("target", target, 1, population)
    early = [Look(math.ceil(part * target), share) for part, share in EARLIER]
    looks = [look for look in early if LEAST <= look.drawn < target]
    looks.append(Look(target, PLANNED if target < population else PLANNED + WHOLE))
    share_left = 1 - PLANNED - WHOLE - sum(share for _, share in EARLIER)
    drawn = target
    while (drawn := max(drawn + 1, math.ceil(GROWTH * drawn - 1e-9))) < population:
        share_left /= 2
        looks.append(Look(drawn, share_left))
    return (*looks, Look(population, WHOLE)) if target < population else tuple(looks)


def bounds_for_all(drawn: Drawn, population: int, error: float) -> Counts:
    """Return how many of `population` mutants have a drop, by the sample; see the module's text.

    Raises `ValueError` for counts below 0, more drawn than there are, or an error outside (0, 1).

    >>> exact = np.zeros(1)
    >>> bounds_for_all(Drawn(6, 0, 4, exact, exact), 10, 0.05)  # all are drawn, and no verdict errs
    Counts(low=6, high=6)
    """
    error = check_rate("error", error)
    killed, open_ = check_count("killed", drawn.killed), check_count("undecided", drawn.undecided)
    size = killed + open_ + check_count("survived", drawn.survived)
    population = check_count("population", population, size)
    many = _Tail(size, population, _chance_of_so_many(killed, size, drawn.false))
    few = _Tail(size, population, _chance_of_so_few(killed + open_, size, drawn.missed))
    low = _first(lambda s: many.at(s) > error / 2, population)
    high = _first(lambda s: few.at(s) <= error / 2, population + 1) - 1
    return Counts(min(low, killed + population - size), max(high, killed + open_))


def sample_for(
    half_width: float, population: int, error: float, false: float = 0.0, missed: float = 0.0
) -> int:
    """Return the least sample whose bounds are `half_width` to each side at a share of one half, the worst one.

    `false` and `missed` are the chances of wrong verdicts that are taken for true. All mutants where no part of them is
    enough.

    >>> sample_for(0.1, 300, 0.05)
    75
    """
    population = check_count("population", population, 1)
    half_width = check_rate("half_width", half_width)
    low, high = 1, population
    while low < high:
        middle = (low + high) // 2
        if expected_width(middle, population, error, false, missed) <= 2 * half_width:
            high = middle
        else:
            low = middle + 1
    return low


def expected_width(
    drawn: int, population: int, error: float, false: float = 0.0, missed: float = 0.0
) -> float:
    """Return the width of the bounds where half of a sample is killed, and the rest survives."""
    killed = drawn // 2
    half = Drawn(killed, 0, drawn - killed, np.array([false]), np.array([missed]))
    bounds = bounds_for_all(half, population, error)
    return (bounds.high - bounds.low) / population


class _Tail(NamedTuple):
    """A chance that depends on how many drawn mutants have a drop, and its mean over the draw."""

    drawn: int
    population: int
    given: Array
    """By the number of drawn mutants with a drop."""

    def at(self, dropped: int) -> float:
        """Return the chance where `dropped` of all mutants have a drop."""
        h = np.arange(max(0, self.drawn - self.population + dropped), min(self.drawn, dropped) + 1)
        logs = _log_choose(dropped, h) + _log_choose(self.population - dropped, self.drawn - h)
        chances = np.exp(logs - _log_choose(self.population, np.array([self.drawn])))
        return float(chances @ self.given[h])


def _chance_of_so_many(killed: int, drawn: int, false: Array) -> Array:
    from scipy.special import bdtrc

    h = np.arange(drawn + 1)[:, None]
    needed = killed - h
    tails = bdtrc(np.maximum(needed, 1) - 1, np.maximum(drawn - h, 1), false[None, :])
    return np.asarray(np.where(needed > 0, np.where(needed > drawn - h, 0.0, tails), 1.0).mean(axis=1))


def _chance_of_so_few(killed: int, drawn: int, missed: Array) -> Array:
    from scipy.special import bdtr

    h = np.arange(drawn + 1)[:, None]
    tails = bdtr(np.minimum(killed, np.maximum(h - 1, 0)), np.maximum(h, 1), 1 - missed[None, :])
    return np.asarray(np.where(h <= killed, 1.0, tails).mean(axis=1))


def _first(holds: Callable[[int], bool], last: int) -> int:
    """Return the least number for which a rising condition holds, `last` where none below does."""
    low, high = 0, last
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _log_choose(of: int, taken: NDArray[np.int64]) -> Array:
    from scipy.special import gammaln

    return np.asarray(gammaln(of + 1.0) - gammaln(taken + 1.0) - gammaln(of - taken + 1.0))
