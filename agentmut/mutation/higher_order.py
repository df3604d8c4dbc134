"""Two mutants at once: second-order mutants, named one by one or sampled."""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

from agentmut._base import MutationError, UsageError, digest_of
from agentmut.mutation.generation import DroppedCandidate
from agentmut.nouns import ID_LENGTH, AgentConfig, Edit, Intent, Mutant, OperatorClass, Reach, apply_edits

PAIR = "higher_order.pair"
HARMLESS_PAIR = "higher_order.harmless_pair"
"""Two `preserve` mutants at once: an operator of its own, since an operator has one intent."""
VERSION = 1
POOL = 300
"""Most mutants that pairs are sampled from: the number of pairs grows with the square."""

Expressible = Callable[[Mutant], str]
"""Why an agent cannot be run as a mutant; empty when it can."""
Named = tuple[str, str]


class Pairs(NamedTuple):
    """The second-order mutants that were made, and those that could not be."""

    mutants: tuple[Mutant, ...] = ()
    dropped: tuple[DroppedCandidate, ...] = ()


def pair(first: Mutant, second: Mutant, config: AgentConfig) -> Mutant | str:
    """Return `second` after `first`, or a phrase that says why there is no such mutant.

    The edits of both refer to `config`, so the order of the two makes no difference: a pair has one id, whichever
    is named first. It degrades if either part does.
    """
    if first.parts or second.parts or not (first.edits and second.edits):
        return "only mutants of first order can be combined"
    parts = tuple(sorted((first, second), key=lambda part: part.id))
    if conflict := _conflict(first, second):
        return conflict
    edits = _together(parts)
    try:
        both = apply_edits(config, edits)
        if same := _same(both, config, parts):
            return same
    except MutationError as error:
        return str(error)
    intent = Intent.DEGRADE if any(part.intent is Intent.DEGRADE for part in parts) else Intent.PRESERVE
    return Mutant(
        id=digest_of([PAIR, VERSION, *(part.id for part in parts)])[:ID_LENGTH],
        operator=PAIR if intent is Intent.DEGRADE else HARMLESS_PAIR,
        version=VERSION,
        operator_class=OperatorClass.HIGHER_ORDER,
        intent=intent,
        reach=Reach.SENT,  # not looked at: where a pair shows follows from its parts
        description=" and ".join(f"[{part.id}] {part.description}" for part in parts),
        edits=edits,
        parts=parts,
    )


def named_pairs(
    named: Iterable[Named], known: Sequence[Mutant], config: AgentConfig, cannot_express: Expressible
) -> Pairs:
    """Return the pairs with these ids (or beginnings of ids). Raise `UsageError` for an id that is not in `known`."""
    wanted = ((_find(one, known), _find(other, known)) for one, other in named)
    return _pairs_of(wanted, config, cannot_express)


def sampled_pairs(
    size: int, mutants: Iterable[Mutant], config: AgentConfig, cannot_express: Expressible
) -> Pairs:
    """Return `size` pairs of `degrade` mutants, or all there are; every run has the same pairs.

    Pairs of different operators and different parts of the config come first, since they resemble what a real
    change does; then those of different operators, then the rest. Within each group the smallest hashes are taken,
    so that a mutant more or less leaves the other pairs as they are.
    """
    degrading = sorted((m for m in mutants if m.intent is Intent.DEGRADE and m.edits), key=_rank)[:POOL]
    ranked = sorted(combinations(degrading, 2), key=lambda both: (_likeness(*both), _mixed(*both)))
    return _pairs_of(ranked, config, cannot_express, size)


def parse_pair(text: str) -> Named:
    """Read a pair, `ID+ID`, of the command line.

    >>> parse_pair("3f9ac2d1+77ab00c2")
    ('3f9ac2d1', '77ab00c2')
    """
    one, plus, other = (part.strip() for part in text.partition("+"))
    if not (one and plus and other) or "+" in other:
        raise UsageError(
            f"--pair {text}: give two mutant ids joined by a plus sign, as in 3f9ac2d1+77ab00c2."
        )
    return one, other


def _pairs_of(
    wanted: Iterable[tuple[Mutant, Mutant]],
    config: AgentConfig,
    cannot_express: Expressible,
    size: int | None = None,
) -> Pairs:
    made: dict[str, Mutant] = {}
    dropped: list[DroppedCandidate] = []
    for one, other in wanted:
        if size is not None and len(made) == size:
            break
        both = pair(one, other, config)
        reason = both if isinstance(both, str) else cannot_express(both)
        if reason or isinstance(both, str):
            dropped.append(DroppedCandidate(PAIR, f"{one.id} and {other.id}", reason))
        else:
            made[both.id] = both
    return Pairs(tuple(made.values()), tuple(dropped))


def _find(wanted: str, known: Sequence[Mutant]) -> Mutant:
    found = [mutant for mutant in known if mutant.id.startswith(wanted)]
    if len(found) != 1:
        many = (
            f"{len(found)} mutants begin with it" if found else "there is no such mutant among those selected"
        )
        raise UsageError(f"pair with {wanted}: {many}. `agentmut mutants` lists them all.")
    return found[0]


def _conflict(first: Mutant, second: Mutant) -> str:
    for one in first.edits:
        for other in second.edits:
            if _collide(one, other):
                shared = one.pointer if len(one.path) <= len(other.path) else other.pointer
                return f"their changes of {shared} overlap"
    return ""


def _collide(first: Edit, second: Edit) -> bool:
    """Return whether two edits exclude each other: they overlap, or change the very same place."""
    short, long = sorted((first.path, second.path), key=len)
    if long[: len(short)] != short:
        return False
    if first.path == second.path and first.span and second.span:
        same_start = (
            first.span[0] == second.span[0]
        )  # one inserts there: which comes first is anybody's guess
        return same_start or (first.span[0] < second.span[1] and second.span[0] < first.span[1])
    return not any(edit.inserts_item for edit in (first, second) if edit.path == short)


def _together(parts: Iterable[Mutant]) -> tuple[Edit, ...]:
    """Return the edits of both mutants. At one place of a list, a change of the item precedes an insertion."""
    edits = [edit for part in parts for edit in part.edits]
    return tuple(sorted(edits, key=lambda edit: edit.inserts_item))


def _same(both: AgentConfig, config: AgentConfig, parts: Iterable[Mutant]) -> str:
    if both == config:
        return "together they leave the config as it is"
    for part in parts:
        if both == part.apply(config):
            return f"together they give the same config as {part.id} alone"
    return ""


def _likeness(mutant: Mutant, other: Mutant) -> int:
    return 2 * (mutant.operator == other.operator) + (_place(mutant) == _place(other))


def _place(mutant: Mutant) -> tuple[str, ...]:
    """Return the part of the config, with the name of a tool or document."""
    return mutant.edits[0].path[:2]


def _rank(mutant: Mutant) -> str:
    return digest_of(["pairs", mutant.id])


def _mixed(mutant: Mutant, other: Mutant) -> str:
    return digest_of(sorted((mutant.id, other.id)))
