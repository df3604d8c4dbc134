"""The flow of ADK's workflow agents as data: which agent runs after which, and which other flows are possible.

ADK has no edges: a `SequentialAgent` runs its sub-agents in their order, a `ParallelAgent` side by side, a
`LoopAgent` again and again. A flow that operators have changed can be run if one of the trees that differ from the
agent's in one place has it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations

from agentmut.nouns import END, START

Edges = tuple[tuple[str, ...], ...]


class Kind(StrEnum):
    """What an agent does with its sub-agents."""

    AGENT = "agent"
    """It is one node, whatever is below it."""
    SEQUENCE = "sequence"
    PARALLEL = "parallel"
    LOOP = "loop"
    ONCE = "once"
    """A loop that is left after the first time."""


@dataclass(frozen=True)
class Stage:
    """A part of the flow."""

    name: str
    kind: Kind = Kind.AGENT
    parts: tuple["Stage", ...] = ()

    @property
    def leaves(self) -> Iterator[str]:
        """Yield the nodes in order."""
        if self.kind is Kind.AGENT:
            yield self.name
        for part in self.parts:
            yield from part.leaves

    @property
    def edges(self) -> Edges:
        """Return the edges from start to end; an edge of several names waits for all of them."""
        ends = [(name, END) for name in self._exits]
        return (*((START, name) for name in self._entries), *self._inner, *ends)

    def without(self, gone: Iterable[str]) -> "Stage":
        """Return the flow with some nodes taken out."""
        kept = [part for part in self.parts if part.kind is not Kind.AGENT or part.name not in set(gone)]
        return replace(self, parts=tuple(part.without(gone) for part in kept))

    @property
    def _running(self) -> list["Stage"]:
        return [part for part in self.parts if list(part.leaves)]

    @property
    def _entries(self) -> list[str]:
        if self.kind is Kind.AGENT:
            return [self.name]
        first = self._running if self.kind is Kind.PARALLEL else self._running[:1]
        return [name for part in first for name in part._entries]

    @property
    def _exits(self) -> list[str]:
        if self.kind is Kind.AGENT:
            return [self.name]
        last = self._running if self.kind is Kind.PARALLEL else self._running[-1:]
        return [name for part in last for name in part._exits]

    @property
    def _inner(self) -> Iterator[tuple[str, ...]]:
        parts = self._running
        in_order = self.kind is not Kind.PARALLEL
        for before, part in zip([None, *parts], parts, strict=False):
            if before and in_order:
                yield from ((*before._exits, name) for name in part._entries)
            yield from part._inner
        if self.kind is Kind.LOOP and parts:
            yield from ((*parts[-1]._exits, name) for name in parts[0]._entries)


def with_edges(stage: Stage, wanted: Iterable[Iterable[str]]) -> Stage | None:
    """Return a tree that differs in at most one place and has the `wanted` edges; None if there is none."""
    aim = _reached(wanted)
    return next((tree for tree in _variants(stage) if _reached(tree.edges) == aim), None)


def _reached(edges: Iterable[Iterable[str]]) -> frozenset[tuple[str, ...]]:
    """Return the edges that a run can reach; an ending run needs no edge to the end."""
    known, before = {START}, 0
    every = [tuple(edge) for edge in edges]
    while len(known) > before:
        before = len(known)
        known |= {edge[-1] for edge in every if known.issuperset(edge[:-1])}
    return frozenset(edge for edge in every if edge[-1] != END and known.issuperset(edge[:-1]))


def _variants(stage: Stage) -> Iterator[Stage]:
    yield stage
    for one, other in combinations(stage.leaves, 2):
        yield _renamed(stage, {one: other, other: one})
    yield from _elsewhere(stage)


def _elsewhere(stage: Stage) -> Iterator[Stage]:
    """Yield the stage with one change in itself, or in one of its parts."""
    yield from _own(stage)
    for index, part in enumerate(stage.parts):
        for other in _elsewhere(part):
            yield replace(stage, parts=(*stage.parts[:index], other, *stage.parts[index + 1 :]))


def _own(stage: Stage) -> Iterator[Stage]:
    if stage.kind is Kind.PARALLEL:
        yield replace(stage, kind=Kind.SEQUENCE)
        for index in range(len(stage.parts)):
            yield replace(stage, parts=(*stage.parts[:index], *stage.parts[index + 1 :]))
    if stage.kind in (Kind.SEQUENCE, Kind.LOOP):
        kind = Kind.ONCE if stage.kind is Kind.LOOP else stage.kind
        for length in range(len(stage.parts), -1, -1):
            yield replace(stage, kind=kind, parts=stage.parts[:length])


def _renamed(stage: Stage, names: Mapping[str, str]) -> Stage:
    name = names.get(stage.name, stage.name) if stage.kind is Kind.AGENT else stage.name
    return replace(stage, name=name, parts=tuple(_renamed(part, names) for part in stage.parts))
