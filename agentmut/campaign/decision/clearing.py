"""The scenarios that a mutant is tried on: the most related ones, and a random one of each stratum of the rest."""

from collections.abc import Sequence
from random import Random

from agentmut.campaign.decision.reach import Clearing, ReachingScenarios

FOREMOST = 5
"""Scenarios with the highest affinity that are always tried: a kill is most likely there."""
UNTRIED = 5
"""Scenarios that are left out where little more than the sample reaches a mutant: with five strata of two each, and
drops that a tenth of trials misses, five scenarios may still have one, at 95 %. Six left out would allow no more."""


def tried_on(where: ReachingScenarios, size: int, seed: int, mutant: str) -> ReachingScenarios:
    """Return the scenarios that a mutant is tried on: the most related, and random ones; all if there are no more.

    Where more than `size` reach it, `size` are tried; all but five, where that is more; never more than `size` random
    ones. The choice is a function of seed, mutant and affinities. Strata are scenarios of like affinity, as equal in
    size as can be.
    """
    names = sorted(where.scenarios, key=lambda name: (-where.scenarios[name], name))
    if not size or len(names) <= size:
        return where
    rest, rng = names[FOREMOST:], Random(f"{seed} {mutant} clearing")
    count = min(size, max(size - FOREMOST, len(rest) - UNTRIED))
    strata = [rest[len(rest) * k // count : len(rest) * (k + 1) // count] for k in range(count)]
    chosen = [*names[:FOREMOST], *map(rng.choice, strata)]
    clearing = Clearing(len(names), FOREMOST, tuple(map(len, strata)))
    return _restricted(where, chosen)._replace(clearing=clearing)


def _restricted(where: ReachingScenarios, chosen: Sequence[str]) -> ReachingScenarios:
    return where._replace(
        scenarios={name: weight for name, weight in where.scenarios.items() if name in chosen},
        parts={name: parts for name, parts in where.parts.items() if name in chosen},
    )
