"""Caps on the number of mutants: ids are hashes, so the smallest ids are a fair and repeatable sample."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence

from agentmut._base import position
from agentmut.campaign.selection.locate import adds_item
from agentmut.language import parse
from agentmut.nouns import AgentConfig, Mutant


def capped(
    mutants: Sequence[Mutant], most: int | None, group: Callable[[Mutant], Hashable]
) -> tuple[Mutant, ...]:
    """Keep at most `most` mutants of each group, those with the smallest ids; None keeps all mutants."""
    if most is None:
        return tuple(mutants)
    return _only(mutants, (id_ for id_, rank in _ranks(mutants, group).items() if rank < most))


def sampled(mutants: Sequence[Mutant], most: int | None) -> tuple[Mutant, ...]:
    """Keep at most `most` mutants, with a fair share for each operator; None keeps all mutants.

    Every operator gives its mutants in the order of their ids, one in each round; in the last round the
    smallest ids go first. A mutant more or less changes the sample by no more than one that comes in and one
    that goes out.
    """
    if most is None:
        return tuple(mutants)
    ranks = _ranks(mutants, lambda mutant: mutant.operator)
    return _only(mutants, sorted(ranks, key=lambda id_: (ranks[id_], id_))[:most])


def by_instruction(config: AgentConfig) -> Callable[[Mutant], Hashable]:
    """Return the groups of `per_instruction`: the instruction, document line, tool or setting that a mutant changes
    first.
    """
    instructions = parse(config.prompt, config.tool_names).instructions
    ends = [instruction.end for instruction in instructions]

    def place(mutant: Mutant) -> Hashable:
        edit = mutant.places[0]
        part, *rest = edit.path
        if part == "prompt" and edit.span:
            # the first instruction that ends behind the span's beginning
            at = bisect_right(ends, edit.span[0])
            if at < len(ends) and instructions[at].start < max(edit.span[1], edit.span[0] + 1):
                return part, "instruction", at
            return part, position(config.prompt, edit.span[0]).line
        if part == "context" and edit.span and rest[0].isdigit():
            return part, rest[0], position(config.context[int(rest[0])].text, edit.span[0]).line
        inserts = adds_item(edit) and part in ("tools", "context")
        return (part, *rest[:1], inserts)

    return place


def _ranks(mutants: Iterable[Mutant], group: Callable[[Mutant], Hashable]) -> dict[str, int]:
    """Map each id to its rank within its group, in the order of the ids."""
    groups: defaultdict[Hashable, list[str]] = defaultdict(list)
    for mutant in mutants:
        groups[group(mutant)].append(mutant.id)
    return {id_: rank for ids in groups.values() for rank, id_ in enumerate(sorted(ids))}


def _only(mutants: Iterable[Mutant], ids: Iterable[str]) -> tuple[Mutant, ...]:
    kept = frozenset(ids)
    return tuple(mutant for mutant in mutants if mutant.id in kept)
