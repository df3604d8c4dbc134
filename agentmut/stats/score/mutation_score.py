"""The mutation score with an interval that allows for false kills and missed drops.

A mutant's verdict errs at known rates, given the baseline: FK, the chance of a kill although nothing changed,
and MS, the chance of survival although some scenario's pass rate dropped by delta. All mutants share the
baselines, so the rates are averaged over what the baselines leave uncertain; Wilson on killed / total knows
of neither and covers far less than it says.

The lower end covers the share of mutants with any real drop, the upper end the share with a drop of at least
delta. Say so wherever it is printed.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agentmut.stats.checks import check_count, check_level, check_rate
from agentmut.stats.intervals.proportion import Interval, wilson
from agentmut.stats.kill.characteristics import decision_probability
from agentmut.stats.kill.rule import Decision, KillDesign, KillTable

Array = NDArray[np.float64]
Family = Mapping[str, KillTable]
"""The scenarios that reach a mutant, by name, each with the table of its own level."""
Key = tuple[str, int, int, KillDesign]
POINTS = 512
"""Draws of the baselines' true failure rates that the interval averages over."""


class Rates(NamedTuple):
    """FK and MS of one scenario or family at each of the equally likely draws."""

    false_kill: Array
    missed: Array


class Group(NamedTuple):
    """Mutants with the same family, counted by verdict."""

    killed: int
    survived: int
    undecided: int
    rates: Rates


class Judged(NamedTuple):
    """One mutant: KILLED, SURVIVED or UNDECIDED, and the scenarios that were tried on it.

    Only an undecided mutant may have none: one that no scenario could be tried on.
    """

    decision: Decision
    family: Family
    suite_level: float = 0.0
    """The level at which all scenarios together might have killed it; see `kill.suite_share`."""


class Score(NamedTuple):
    """A mutation score.

    >>> print(Score(Interval(1.0, 0.9, 1.0, 0.95, 20, "kill rule"), 2, 0))
    1.000 [0.900, 1.000] (95% kill rule, n=20); up to 2 false kills, 0 missed
    """

    interval: Interval
    false_kills: int
    """Kills that may be false, at confidence 1 - gamma/2."""
    missed: int
    """Survivors that may have dropped by delta, at confidence 1 - gamma/2."""

    def __str__(self) -> str:
        return f"{self.interval}; up to {self.false_kills} false kills, {self.missed} missed"


def mutation_score(mutants: Iterable[Judged], no_coverage: int = 0, gamma: float = 0.05) -> Score | None:
    """Return the score of mutants that were each judged on a family of scenarios; see `score_interval`.

    Scenarios are told apart by name: the true rate behind a name is one unknown, shared by all mutants.
    """
    mutants = list(mutants)
    by_scenario = scenario_rates(mutants)
    families: dict[tuple[frozenset[Key], float], Counter[Decision]] = defaultdict(Counter)
    for mutant in mutants:
        family = frozenset(_key(*item) for item in mutant.family.items())
        families[family, mutant.suite_level][mutant.decision] += 1
    groups = [
        _group(counts, [by_scenario[key] for key in family], level)
        for (family, level), counts in families.items()
    ]
    return score_interval(groups, no_coverage, gamma)


def paper_score(mutants: int, equivalent: int, killed: int, level: float = 0.95) -> Interval | None:
    """Return Eq. 22 of the AgentAssay paper: killed / (mutants - equivalent), with Wilson's interval.

    The interval takes every verdict for true: it says how far the ratio may be from that of all such mutants, not
    how many kills are false; `mutation_score` does. Equivalent are mutants shown to change nothing. Counting
    every survivor as one would make the score 1 whatever the suite does. None where all are equivalent.

    Raises `ValueError` for negative counts, equivalent > mutants or killed > mutants - equivalent.

    >>> print(paper_score(20, 2, 14))
    0.778 [0.548, 0.910] (95% wilson, n=18)
    """
    mutants = check_count("mutants", mutants)
    rest = mutants - check_count("equivalent", equivalent, 0, mutants)
    killed, level = check_count("killed", killed, 0, rest), check_level(level)
    return wilson(killed, rest, level) if rest else None


def _group(counts: Counter[Decision], scenarios: Sequence[Rates], suite_level: float) -> Group:
    known = (counts[Decision.KILLED], counts[Decision.SURVIVED], counts[Decision.UNDECIDED])
    decided = counts[Decision.KILLED] + counts[Decision.SURVIVED]
    if sum(known) != counts.total() or (decided and not scenarios):
        raise ValueError(
            "mutants must be killed, survived or undecided, the decided ones on a scenario or more, "
            f"got {counts}"
        )
    return Group(*known, family_rates(scenarios, suite_level))


def scenario_rates(mutants: Iterable[Judged]) -> dict[Key, Rates]:
    """Return the rates of every scenario and level in use; levels of one scenario share its draws."""
    tables = {_key(*item): item for mutant in mutants for item in mutant.family.items()}
    dimension = {name: i for i, name in enumerate(sorted({name for name, _ in tables.values()}))}
    return {key: table_rates(table, dimension[name]) for key, (name, table) in tables.items()}


def table_rates(table: KillTable, dimension: int = 0) -> Rates:
    """Return FK(phi) and MS(phi) at `POINTS` draws of phi ~ Beta(f0 + 1/2, n0 - f0 + 1/2).

    MS is P(SURVIVED) at failure rate min(phi + delta, 0.999). The draws are quantiles: in dimension 0 the
    midpoints of equal cells, in dimension d > 0 multiples of the root of the d-th prime modulo 1, so that
    different dimensions are spread as if independent.
    """
    from scipy.special import betaincinv

    phi = betaincinv(table.f0 + 0.5, table.n0 - table.f0 + 0.5, _levels(dimension))
    worse = np.minimum(phi + table.design.delta, 0.999)
    killed, survived = Decision.KILLED, Decision.SURVIVED
    return Rates(decision_probability(table, killed, phi), decision_probability(table, survived, worse))


def family_rates(scenarios: Sequence[Rates], suite_level: float = 0.0) -> Rates:
    """Return a bound on a family's rates: the sum of FK, because one kill suffices, and the largest MS.

    A mutant survives only if every scenario says SURVIVED, the one that dropped included: so the chance of
    missing the drop is at most that scenario's own MS, whichever scenario it is. Both are 0 for an empty
    family: where nothing was tried, nothing was decided wrongly.

    Where the scenarios together could kill too (`kill.suite_share`), that adds a rate of mean `suite_level`. It
    is taken to vary over the draws as the scenarios' sum does: baselines that were lucky mislead both.

    Raises `ValueError` for a suite level outside [0, 1).
    """
    if suite_level:
        check_rate("suite_level", suite_level)
    if not scenarios:
        return Rates(np.zeros(POINTS), np.zeros(POINTS))
    false_kill = np.sum([s.false_kill for s in scenarios], axis=0)
    if suite_level > 0:
        false_kill = false_kill + suite_level * _shape(false_kill)
    return Rates(np.minimum(false_kill, 1.0), np.max([s.missed for s in scenarios], axis=0))


def _shape(rates: Array) -> Array:
    """Return the rates scaled to mean 1; constant if they are all 0."""
    mean = float(rates.mean())
    return rates / mean if mean > 0 else np.ones(POINTS)


def score_interval(groups: Sequence[Group], no_coverage: int = 0, gamma: float = 0.05) -> Score | None:
    """Return [(K - F)/(T - E), (K + U + M)/(T - E)] at level 1 - gamma, clipped to [0, 1]; None where T = E.

    T mutants, E of them equivalent, K killed, S survived, U undecided; equivalent mutants are not passed in.
    F bounds the false kills: the (1 - gamma/2)-quantile of Binomial(m, FK) mixed over the draws, m being the
    mutants without a real drop, at most T - E - K + F.
    M bounds the missed: the least M whose (1 - gamma/2)-quantile of Binomial(K + U + M + 1, MS) is at most M, so
    that M + 1 missed drops would be too many to believe. (With K + U + M trials instead, nothing killed would
    mean that nothing had dropped, whatever MS is.)

    In mixed groups the binomial's rate is the mean over the mutants it counts, the worst rate for those that
    could be any; a sum of unequal chances spreads less than that (Hoeffding 1956), so the bounds hold.

    Mutants without coverage cannot be killed and cannot have dropped on this suite: they are in T, as
    survivors for certain, and in neither F nor M. The estimate is K/(K + S + no coverage), None where that
    is 0/0; with K/(T - E) on its left and (K + U)/(T - E) on its right it is always inside the interval.

    Raises `ValueError` for negative counts or gamma outside (0, 1).
    """
    gamma = check_rate("gamma", gamma)
    total = check_count("no_coverage", no_coverage)
    killed = sum(check_count("killed", g.killed) for g in groups)
    survived = sum(check_count("survived", g.survived) for g in groups)
    undecided = sum(check_count("undecided", g.undecided) for g in groups)
    total += killed + survived + undecided
    if total == 0:
        return None
    false_kills = min(killed, _false_kills(groups, killed, 1 - gamma / 2))
    missed = min(survived, _missed(groups, 1 - gamma / 2))
    decided = killed + survived + no_coverage
    low, high = (killed - false_kills) / total, (killed + undecided + missed) / total
    estimate = killed / decided if decided else None
    return Score(Interval(estimate, low, high, 1 - gamma, total, "kill rule"), false_kills, missed)


def _false_kills(groups: Sequence[Group], killed: int, confidence: float) -> int:
    """Bound the false kills: put every covered mutant at risk, and lower that number by each bound until it
    stays.
    """
    alive = [(g.survived + g.undecided, g.rates.false_kill) for g in groups]
    worst = _largest([g.rates.false_kill for g in groups if g.killed])
    bound = killed
    while True:
        lower = min(killed, _quantile(_mixed([*alive, (bound, worst)]), confidence))
        if lower >= bound:
            return bound
        bound = lower


def _missed(groups: Sequence[Group], confidence: float) -> int:
    """Bound the missed drops: start from none, and raise that number by each bound until it stays.

    M is believable as long as M misses among the killed, the undecided and M mutants more are: one more is tried
    each time.
    """
    known = [(g.killed + g.undecided, g.rates.missed) for g in groups]
    survived = sum(g.survived for g in groups)
    worst = _largest([g.rates.missed for g in groups if g.survived])
    bound = 0
    while bound < survived:
        higher = _quantile(_mixed([*known, (bound + 1, worst)]), confidence)
        if higher <= bound:
            return bound
        bound = higher
    return survived


def _mixed(parts: Sequence[tuple[int, Array]]) -> tuple[int, Array]:
    """Return the number of mutants and their mean rate at each draw."""
    number = sum(n for n, _ in parts)
    mean: Array = sum((n * rate for n, rate in parts), np.zeros(POINTS)) / max(number, 1)
    return number, np.minimum(mean, 1.0)


def _quantile(binomial: tuple[int, Array], confidence: float) -> int:
    """Return the least x at which the mixture's distribution function reaches `confidence`."""
    from scipy.special import bdtr

    number, rate = binomial
    low, high = 0, number
    while low < high:
        middle = (low + high) // 2
        if bdtr(middle, number, rate).mean() >= confidence:
            high = middle
        else:
            low = middle + 1
    return low


def _largest(rates: Sequence[Array]) -> Array:
    return np.max(rates, axis=0) if rates else np.zeros(POINTS)


def _key(name: str, table: KillTable) -> Key:
    return (name, table.f0, table.n0, table.design)


def _levels(dimension: int) -> Array:
    centres: Array = (np.arange(POINTS) + 0.5) / POINTS
    if dimension == 0:
        return centres
    draws: Array = np.mod(0.5 + np.arange(1, POINTS + 1) * math.sqrt(_prime(dimension)), 1.0)
    return np.clip(draws, 1e-9, 1 - 1e-9)


def _prime(index: int) -> int:
    """Return the `index`-th prime, from 2."""
    primes: list[int] = []
    candidate = 2
    while len(primes) < index:
        if all(candidate % p for p in primes):
            primes.append(candidate)
        candidate += 1
    return primes[-1]
