"""An upper bound on false kills by closed testing: how many kills may be unchanged mutants, whichever they are.

The bound is the largest k for which "the k kills with the largest p-values are unchanged, and so is everything that
was not killed" cannot be rejected. The true set of unchanged mutants is rejected with chance g at most, and any other
set with as many kills is harder to reject; so the bound holds for all subsets at once (closed testing: Goeman and
Solari, Statistical Science 26 (2011) 584-597). Two tests share g:

- .6 g: a rank test. Mutants share the baselines, so their p-values rise and fall together; the chance C(u, q) that an
  unchanged mutant is killed at level u is therefore taken at 96 draws q of the baselines' true rates. The statistic is
  min over l of mean_q P(Binomial(m, C(p_(l), q)) >= l), and its threshold is simulated from the same draws.
- .4 g: Simes' test, p_(l) <= .4 g l / m, which asks nothing of the draws but positive dependence.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agentmut.stats.kill.characteristics import chance_of, endings
from agentmut.stats.kill.rule import DEFAULT_DESIGN, Decision, KillTable
from agentmut.stats.kill.safety import safety_factor
from agentmut.stats.score.kill_p_value import KillTest, kill_levels
from agentmut.stats.score.mutant_evidence import FamilyKey, JudgedMutant, spread_levels

Array = NDArray[np.float64]
Whole = NDArray[np.int64]
DRAWS = 96
"""Draws of the baselines' true failure rates."""
SIMULATIONS = 42
"""Simulated sets of unchanged mutants for each draw."""
RANK_SHARE = 0.6
"""The share of the error that the rank test has. With all of it two null settings with small baselines covered .963 and
.950 where .975 is promised: the threshold averages over what the baselines leave uncertain."""
GRID = 96
"""Most levels that p-values are rounded up to."""
LOWEST = 1e-6
"""Levels below this are rounded up to it, or to the smallest level there is."""
COMPARISONS = 20_000
"""Most levels times kills that are looked at; fewer levels make the bound larger."""


class Family(NamedTuple):
    """Mutants with the same tables: the chance that one of them is killed at each level, by draw."""

    chances: Array
    """[level of the grid, draw]."""
    p_values: tuple[float, ...]
    """The p-values of its kills."""
    others: int
    """Its mutants that were not killed."""


def false_kill_bound(mutants: Sequence[JudgedMutant], error: float) -> int:
    """Return the largest number of kills that may all be unchanged mutants, at confidence 1 - error."""
    p_values = sorted(m.p_value for m in mutants if m.decision is Decision.KILLED)
    others = sum(m.decision is not Decision.KILLED and bool(m.tests) for m in mutants)
    most = simes_bound(np.array(p_values), others, (1 - RANK_SHARE) * error)
    if not most:
        return 0
    grid, families = families_of(mutants)
    return _rank_bound(grid, families, most, RANK_SHARE * error)


def false_kill_rates(mutants: Sequence[JudgedMutant]) -> Array:
    """Return the chance that an unchanged mutant is killed, at each draw: the largest of all families."""
    _, families = families_of(mutants)
    return np.asarray(np.max([family.chances[-1] for family in families], axis=0))


def simes_bound(p_values: Array, others: int, error: float) -> int:
    """Return the largest k such that Simes' test accepts the k largest of the rising p-values and `others` of 1."""
    for k in range(len(p_values), 0, -1):
        if (p_values[len(p_values) - k :] > error * np.arange(1, k + 1) / (k + others)).all():
            return k
    return 0


def families_of(mutants: Sequence[JudgedMutant]) -> tuple[Array, list[Family]]:
    """Return the levels that p-values are rounded up to, and the mutants with tables, by family."""
    members: dict[FamilyKey, list[JudgedMutant]] = {}
    for mutant in mutants:
        if mutant.tests:
            members.setdefault(mutant.family, []).append(mutant)
    draws = _Draws.from_tests(test for group in members.values() for test in group[0].tests)
    steps = [_Steps.from_judged(group[0]) for group in members.values()]
    grid = _grid(np.concatenate([step.claimed for step in steps]))
    return grid, [
        _family(group, step, grid, draws) for group, step in zip(members.values(), steps, strict=True)
    ]


def _grid(claimed: Array) -> Array:
    """Return at most `GRID` of the levels, the largest among them: all, or some that are equally far apart in logs."""
    levels = np.unique(claimed)
    if len(levels) <= GRID:
        return levels
    wanted = np.geomspace(max(LOWEST, levels[0]), levels[-1], GRID)
    places = np.minimum(np.searchsorted(levels, wanted * (1 - 1e-12)), len(levels) - 1)
    return np.asarray(levels[np.unique([*places, len(levels) - 1])])


class _Steps(NamedTuple):
    """A family's levels: at threshold `own` in each scenario a kill claims the level `claimed` of the mutant."""

    own: Array
    claimed: Array
    suite_level: float

    @classmethod
    def from_judged(cls, mutant: JudgedMutant) -> "_Steps":
        """Return the steps of the levels of one mutant's tests."""
        tests, suite = mutant.tests, mutant.suite.level
        own = np.unique(np.concatenate([np.array(kill_levels(t.table).levels) / t.weight for t in tests]))
        if suite:  # evidence of the suite is continuous: a fine net of levels
            own = np.unique(np.concatenate([own, np.geomspace(LOWEST, suite, 4 * GRID)]))
        claimed = sum((_attained(t, own) for t in tests), np.minimum(own, suite))
        return cls(own, np.asarray(np.minimum(claimed, 1.0)), suite)

    def within(self, grid: Array) -> tuple[Array, Array]:
        """Return the largest threshold, and what it claims, at or below each level of the mutant; 0 for none."""
        place = np.searchsorted(self.claimed, grid * (1 + 1e-12), side="right")
        return np.array((0.0, *self.own))[place], np.array((0.0, *self.claimed))[place]


def _attained(test: KillTest, own: Array) -> Array:
    levels = np.array((0.0, *kill_levels(test.table).levels))
    return levels[_reached(test, own)]


def _reached(test: KillTest, own: Array) -> Whole:
    """Return how many of a table's killing states lie at or below each threshold."""
    levels = np.array(kill_levels(test.table).levels)
    return np.searchsorted(levels, own * test.weight * (1 + 1e-12), side="right")


class _Draws(NamedTuple):
    """The chances of a table's killing states at the draws of its scenario; computed once for each table."""

    baselines: Mapping[str, tuple[int, int, int]]
    """By scenario: its number, and failures and trials of its largest baseline."""
    known: dict[tuple[str, KillTable], Array]

    @classmethod
    def from_tests(cls, tests: Iterable[KillTest]) -> "_Draws":
        """Return the draws of the scenarios of these tests, each with its largest baseline."""
        largest: dict[str, tuple[int, int]] = {}
        for test in tests:
            seen = largest.get(test.scenario, (0, 0))
            largest[test.scenario] = max(seen, (test.table.n0, test.table.f0))
        return cls({name: (i, f0, n0) for i, (name, (n0, f0)) in enumerate(sorted(largest.items()))}, {})

    def below(self, test: KillTest) -> Array:
        """Return [states, draw]: the chance of a kill in the first 0, 1, ... killing states, over the safety factor."""
        key = (test.scenario, test.table)
        if key not in self.known:
            self.known[key] = self._below(test)
        return self.known[key]

    def _below(self, test: KillTest) -> Array:
        from scipy.special import betaincinv

        (dimension, f0, n0), table = self.baselines[test.scenario], test.table
        phi = betaincinv(f0 + 0.5, n0 - f0 + 0.5, spread_levels(dimension, DRAWS))
        chances = chance_of(endings(table).get(Decision.KILLED), phi)
        usual = table.design._replace(alpha=DEFAULT_DESIGN.alpha) == DEFAULT_DESIGN
        factor = safety_factor(table.n0, table.design.alpha, usual=usual)
        return np.vstack([np.zeros(DRAWS), np.cumsum(chances, axis=0)]) / factor


def _family(members: Sequence[JudgedMutant], steps: _Steps, grid: Array, draws: _Draws) -> Family:
    """Return C of a family on the grid: scaled so that its mean is at least the level that a kill there claims."""
    own, claimed = steps.within(grid)
    chances = np.zeros((len(grid), DRAWS))
    for test in members[0].tests:
        chances += draws.below(test)[_reached(test, own)]
    shape = chances[-1] / chances[-1].mean() if chances[-1].any() else np.ones(DRAWS)
    chances += np.minimum(own, steps.suite_level)[:, None] * shape
    mean = chances.mean(axis=1)
    scale = np.maximum(1.0, claimed / np.where(mean > 0, mean, np.inf))
    chances = np.minimum(np.maximum.accumulate(chances * scale[:, None], axis=0), 1.0)
    killed = [m.p_value for m in members if m.decision is Decision.KILLED]
    return Family(chances, tuple(killed), len(members) - len(killed))


def _rank_bound(grid: Array, families: Sequence[Family], most: int, error: float) -> int:
    """Return the largest k up to `most` that the rank test accepts."""
    limit = rank_limit(families, error)
    p_values = np.sort(np.concatenate([f.p_values for f in families]))
    # a p-value counts rounds that are yet to come and may lie beyond every level: no chance of a kill is larger there
    rank = np.minimum(np.searchsorted(grid, p_values * (1 - 1e-12)), len(grid) - 1)
    others = sum(f.others for f in families)
    rest: Array = sum((f.others * f.chances for f in families), np.zeros_like(families[0].chances))
    worst = np.max([f.chances for f in families if f.p_values], axis=0)
    for k in range(most, 0, -1):
        places, counts = _looked_at(rank[len(rank) - k :], most)
        rates = (rest[places] + k * worst[places]) / (k + others)
        if _tails(counts, k + others, rates).min() >= limit:
            return k
    return 0


def _looked_at(rank: Whole, most: int) -> tuple[Whole, Whole]:
    """Return the levels of p-values and how many lie at or below each; some of the levels where they are many."""
    places, counts = np.unique(rank, return_counts=True)
    counts = np.cumsum(counts)
    chosen = np.unique(np.linspace(0, len(places) - 1, max(8, COMPARISONS // most)).round().astype(int))
    return places[chosen], counts[chosen]


def rank_limit(families: Sequence[Family], error: float) -> float:
    """Return the value below which the rank statistic of all mutants falls with chance `error` at most, if unchanged.

    Mutants of several families are drawn at their mean chances: that spreads more than a sum of unequal chances
    does (Hoeffding 1956), so that the limit errs to the safe side.
    """
    mutants = sum(len(f.p_values) + f.others for f in families)
    rates = sum(
        ((len(f.p_values) + f.others) * f.chances for f in families), np.zeros_like(families[0].chances)
    )
    rates = np.minimum(rates / mutants, 1.0)
    steps = np.vstack([np.diff(rates, axis=0, prepend=0.0), 1 - rates[-1]]).T
    drawn = np.random.default_rng(0).multinomial(mutants, np.maximum(steps, 0.0), size=(SIMULATIONS, DRAWS))
    counts = drawn.reshape(-1, len(rates) + 1)[:, :-1].cumsum(axis=1)
    statistic = np.sort(rank_statistics(counts, mutants, rates))
    return float(statistic[int(error * len(statistic))]) * (1 - 1e-9)


def rank_statistics(counts: Whole, mutants: int, rates: Array) -> Array:
    """Return the rank statistic of each simulated set: a row of how many p-values lie at or below each level."""
    size = counts.shape[1]
    pairs, where = np.unique(counts * size + np.arange(size), return_inverse=True)
    tails = _tails(pairs // size, mutants, rates[pairs % size])
    return np.asarray(tails[where.reshape(counts.shape)].min(axis=1))


def _tails(counts: Whole, mutants: int, rates: Array) -> Array:
    """Return the mean over the draws of P(Binomial(mutants, rate) >= count); 1 for a count of 0."""
    from scipy.special import bdtrc

    chances = bdtrc(np.maximum(counts, 1)[:, None] - 1, mutants, np.minimum(rates, 1.0)).mean(axis=1)
    return np.where(counts > 0, chances, 1.0)
