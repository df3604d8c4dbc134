"""An explicit graph: its nodes and edges, the number of routes through it, and the routes that runs took."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

from agentmut.nouns import END, START, AgentTrace, Flow

Edge = tuple[str, str]
Route = tuple[str, ...]
"""Nodes, from `__start__` to `__end__`."""


@dataclass(frozen=True)
class Graph:
    """Nodes and edges in the flow's order; the ends are `__start__` and `__end__`."""

    nodes: tuple[str, ...] = ()
    edges: tuple[Edge, ...] = ()

    @classmethod
    def from_flow(cls, flow: Flow) -> "Graph":
        """Return the graph of a flow: plain edges, branches and handoffs."""
        found = dict.fromkeys(_edges(flow))
        ends = (name for edge in found for name in edge if name not in (START, END))
        return cls(tuple(dict.fromkeys((*flow.nodes, *ends))), tuple(found))

    @property
    def is_explicit(self) -> bool:
        """Return whether the graph states where runs begin and end, so that its routes can be counted."""
        return any(a == START for a, _ in self.edges) and any(b == END for _, b in self.edges)

    def routes(self, depth: int, enough: int) -> int:
        """Return the number of routes from start to end of at most `depth` edges; counting stops above `enough`.

        Ways are added up node by node, none is listed: as much work as edges times depth.
        """
        ways, found = {START: 1}, 0
        for _ in range(depth):
            onward: dict[str, int] = {}
            for node, count in ways.items():
                for target in self._after.get(node, ()):
                    onward[target] = onward.get(target, 0) + count
            found += onward.pop(END, 0)
            if found > enough or not onward:
                break
            ways = onward
        return found

    def walked(self, trace: AgentTrace, depth: int) -> frozenset[Route]:
        """Return the routes of at most `depth` edges that a run took, as far as its trace shows.

        Where the edges that it took make no loop, all ways from start to end over them: several where nodes
        ran side by side. Otherwise the nodes of its steps, in order; what lies between two that no edge joins
        is filled in by the shortest way over the edges taken. Steps in a row in one node are one visit, unless
        the run took an edge from the node to itself. A run that did not come to an end went no route.
        """
        taken = self.edges_taken(trace)
        if taken and not _has_loop(taken):
            return frozenset(_ways(_after(taken), (START,), depth))
        route = self._in_order(trace, taken or self._edges)
        return frozenset([route]) if route and len(route) - 1 <= depth else frozenset()

    def entered(self, trace: AgentTrace) -> frozenset[str]:
        """Return the nodes that a run entered: the nodes of its steps, and the ends of its edges."""
        ends = {name for edge in trace.edges for name in edge}
        named = {self._own(step.node) for step in trace.steps if step.node} | {
            self._own(name) for name in ends
        }
        return frozenset(named & self._names)

    def edges_taken(self, trace: AgentTrace) -> frozenset[Edge]:
        """Return the edges of this graph that a run took."""
        return frozenset((self._own(a), self._own(b)) for a, b in trace.edges) & self._edges

    @cached_property
    def _after(self) -> Mapping[str, list[str]]:
        return _after(self.edges)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self.nodes)

    @cached_property
    def _edges(self) -> frozenset[Edge]:
        return frozenset(self.edges)

    def _own(self, name: str) -> str:
        """Return this graph's node that contains a node of an inner graph (`outer/inner`)."""
        while name not in self._names and "/" in name:
            name = name.rpartition("/")[0]
        return name

    def _in_order(self, trace: AgentTrace, edges: frozenset[Edge]) -> Route:
        """Return the route from start to end through the nodes of the steps; empty where no edges lead that way."""
        route = [START]
        for node in (*self._visits(trace, edges), END):
            onward = _shortest_path(route[-1], node, edges)
            if not onward:
                return ()
            route += onward
        return tuple(route)

    def _visits(self, trace: AgentTrace, edges: frozenset[Edge]) -> Iterator[str]:
        previous = ""
        for step in trace.steps:
            node = self._own(step.node or "")
            if node in self._names and (node != previous or (node, node) in edges):
                yield node
                previous = node


def _edges(flow: Flow) -> Iterator[Edge]:
    for *sources, target in flow.edges:
        for source in sources:
            yield source, target
    for branch in flow.branches:
        for target in branch.ends.values():
            yield branch.source, target
    for source, called in flow.handoffs.items():
        for target in called.values():
            yield source, target


def _after(edges: Iterable[Edge]) -> dict[str, list[str]]:
    after: dict[str, list[str]] = {}
    for source, target in sorted(edges):
        after.setdefault(source, []).append(target)
    return after


def _has_loop(edges: Iterable[Edge]) -> bool:
    after: dict[str, set[str]] = {}
    for source, target in edges:
        after.setdefault(source, set()).add(target)
    try:
        TopologicalSorter(after).prepare()
    except CycleError:
        return True
    return False


def _ways(after: Mapping[str, Sequence[str]], so_far: Route, depth: int) -> Iterator[Route]:
    """Yield all routes to the end of at most `depth` more edges, without loops."""
    if so_far[-1] == END:
        yield so_far
    elif depth:
        for target in after.get(so_far[-1], ()):
            yield from _ways(after, (*so_far, target), depth - 1)


def _shortest_path(start: str, goal: str, edges: frozenset[Edge]) -> list[str]:
    """Return the nodes after `start` on a shortest route of at least one edge to `goal`; empty if there is none."""
    after = _after(edges)
    waiting, been = deque([[start]]), {start} - {goal}
    while waiting:
        way = waiting.popleft()
        for target in after.get(way[-1], ()):
            if target == goal:
                return [*way[1:], goal]
            if target not in been:
                been.add(target)
                waiting.append([*way, target])
    return []
