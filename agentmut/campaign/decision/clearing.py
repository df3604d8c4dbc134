"""The scenarios that a mutant is tried on: the most related ones, and a random one of each stratum of the rest."""

from collections.abc import Sequence
from random import Random

from agentmut.campaign.decision.reach import Clearing, Reached

FOREMOST = 5
"""Scenarios with the highest affinity that are always tried: a kill is most likely there."""


def tried_on(where: Reached, size: int, seed: int, mutant: str) -> Reached:
    """Return the scenarios that a mutant is tried on: `size` random ones and the most related; all if there are no
    more.

    The choice is a function of seed, mutant and affinities. Strata are scenarios of like affinity, as equal in size as
    can be.
    """
    names = sorted(where.scenarios, key=lambda name: (-where.scenarios[name], name))
    if not size or len(names) <= size + FOREMOST:
        return where
    rest, rng = names[FOREMOST:], Random(f"{seed} {mutant} clearing")
    strata = [rest[len(rest) * k // size : len(rest) * (k + 1) // size] for k in range(size)]
    chosen = [*names[:FOREMOST], *map(rng.choice, strata)]
    clearing = Clearing(len(names), FOREMOST, tuple(map(len, strata)))
    return _restricted(where, chosen)._replace(clearing=clearing)


def _restricted(where: Reached, chosen: Sequence[str]) -> Reached:
    return where._replace(
        scenarios={name: weight for name, weight in where.scenarios.items() if name in chosen},
        parts={name: parts for name, parts in where.parts.items() if name in chosen},
    )
