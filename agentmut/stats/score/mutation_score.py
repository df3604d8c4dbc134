"""The mutation score with an interval from the evidence on each mutant.

A mutant's verdict errs at known rates: a kill may be false, and a survivor may have dropped by delta all the same.
All mutants share the baselines, so these errors rise and fall together. The lower end takes off the kills that may all
be false together (`false_kills`), the upper end adds the survivors that may all have dropped (`missed`); Wilson on
killed / total knows of neither and covers far less than it says.

The lower end covers the share of mutants with any real drop, the upper end the share with a drop of at least delta,
or of at least the resolution that is asked for. Say so wherever it is printed.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from agentmut.stats.checks import check_count, check_level, check_rate
from agentmut.stats.intervals.proportion import Interval, wilson
from agentmut.stats.kill.rule import Decision
from agentmut.stats.score.false_kills import false_kill_bound, false_kill_rates
from agentmut.stats.score.missed_drops import missed_bound, missed_rates
from agentmut.stats.score.mutant_evidence import JudgedMutant
from agentmut.stats.score.sample import Drawn, bounds_for_all


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


def mutation_score(
    mutants: Iterable[JudgedMutant],
    no_coverage: int = 0,
    gamma: float = 0.05,
    resolution: float | None = None,
) -> Score | None:
    """Return [(K - F)/(T - E), (K + U + M)/(T - E)] at level 1 - gamma; None where T = E.

    T mutants, E of them equivalent, K killed, S survived, U undecided; equivalent mutants are not passed in. F bounds
    the false kills and M the missed drops, each with error gamma/2.

    Mutants without coverage cannot be killed and cannot have dropped on this suite: they are in T, as
    survivors for certain, and in neither F nor M. The estimate is K/(K + S + no coverage), None where that
    is 0/0; with K/(T - E) on its left and (K + U)/(T - E) on its right it is always inside the interval.

    Where scenarios have tables for several drops, `resolution` is the drop that survival speaks of, and the decisions
    are those at that drop; without it, the smallest drop. Scenarios are told apart by name.

    Raises `ValueError` for a negative count, gamma outside (0, 1), other decisions, or a decision without a table.
    """
    mutants, gamma = list(mutants), check_rate("gamma", gamma)
    count = _counted(mutants)
    killed, survived, undecided = (count[d] for d in (Decision.KILLED, Decision.SURVIVED, Decision.UNDECIDED))
    total = check_count("no_coverage", no_coverage) + len(mutants)
    if total == 0:
        return None
    false_kills = min(killed, false_kill_bound(mutants, gamma / 2))
    missed = min(survived, missed_bound(mutants, gamma / 2, resolution))
    decided = killed + survived + no_coverage
    low, high = (killed - false_kills) / total, (killed + undecided + missed) / total
    estimate = killed / decided if decided else None
    return Score(Interval(estimate, low, high, 1 - gamma, total, "kill rule"), false_kills, missed)


def sampled_score(
    mutants: Iterable[JudgedMutant],
    not_drawn: int,
    no_coverage: int = 0,
    gamma: float = 0.05,
    resolution: float | None = None,
) -> Interval | None:
    """Return the score of all mutants, of which `mutants` are a random sample and `not_drawn` the others.

    The bounds are those of `bounds_for_all`, over all mutants; those without coverage are all known, and were not
    drawn from. The estimate is K/(K + S) for the mutants that were drawn from, None without a decided one. For one of
    several looks at a growing sample, gamma is that look's. None where there are no mutants at all.

    Raises `ValueError` as `mutation_score` does, and for a negative `not_drawn`.
    """
    mutants, gamma = list(mutants), check_rate("gamma", gamma)
    count = _counted(mutants)
    killed, survived, undecided = (count[d] for d in (Decision.KILLED, Decision.SURVIVED, Decision.UNDECIDED))
    population = len(mutants) + check_count("not_drawn", not_drawn)
    total = population + check_count("no_coverage", no_coverage)
    if total == 0:
        return None
    tested = any(mutant.tests for mutant in mutants)
    false = false_kill_rates(mutants) if tested else np.zeros(1)
    sample = Drawn(killed, undecided, survived, false, missed_rates(mutants, resolution))
    bounds = bounds_for_all(sample, population, gamma)
    estimate = killed / (killed + survived) * population / total if killed + survived else None
    return Interval(estimate, bounds.low / total, bounds.high / total, 1 - gamma, total, "kill rule, sample")


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


def _counted(mutants: Sequence[JudgedMutant]) -> Counter[Decision]:
    count = Counter(mutant.decision for mutant in mutants)
    known = count[Decision.KILLED] + count[Decision.SURVIVED] + count[Decision.UNDECIDED]
    if known != len(mutants) or any(not m.tests and m.decision is not Decision.UNDECIDED for m in mutants):
        raise ValueError(
            "mutants must be killed, survived or undecided, the decided ones on a scenario or more, "
            f"got {dict(count)}"
        )
    return count
