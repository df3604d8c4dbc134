"""The order in which mutants are drawn for a random sample: every beginning of this order is a random sample."""

import random
from collections.abc import Sequence

from agentmut._base import digest_of
from agentmut.nouns import Mutant


def drawing_order(mutants: Sequence[Mutant], seed: int) -> tuple[str, ...]:
    """Return the ids of `mutants` in random order, stratified by operator.

    Each operator's mutants are shuffled and spread evenly over the order, from a random beginning. So every
    beginning of the order has about the share of each operator that all mutants have, and every mutant has the same
    chance to be in it.
    """
    groups: dict[str, list[str]] = {}
    for mutant in mutants:
        groups.setdefault(mutant.operator, []).append(mutant.id)
    placed: list[tuple[float, str]] = []
    for operator, ids in sorted(groups.items()):
        rng = random.Random(digest_of([seed, "draw", operator]))
        shuffled = rng.sample(sorted(ids), len(ids))
        begin = rng.random()
        placed += [((place + begin) / len(ids), id) for place, id in enumerate(shuffled)]
    return tuple(id for _, id in sorted(placed))
