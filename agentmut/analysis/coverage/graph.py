"""An explicit graph: its nodes, its edges, how many routes lead through it, and which of them a run took."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from agentmut.flow import END, START, Flow
from agentmut.trace import AgentTrace

Edge = tuple[str, str]


@dataclass(frozen=True)
class Graph:
    """Nodes and edges in the order in which the flow names them; ends are `__start__` and `__end__`."""

    nodes: tuple[str, ...] = ()
    edges: tuple[Edge, ...] = ()

    @classmethod
    def of(cls, flow: Flow) -> "Graph":
        """Plain edges, what branches lead to, and handoffs."""
        found = dict.fromkeys(_edges(flow))
        ends = (name for edge in found for name in edge if name not in (START, END))
        return cls(tuple(dict.fromkeys((*flow.nodes, *ends))), tuple(found))

    @property
    def is_explicit(self) -> bool:
        """Whether it says where runs begin and end, so that ways through it can be counted."""
        return any(a == START for a, _ in self.edges) and any(b == END for _, b in self.edges)

    def routes(self, depth: int, enough: int) -> int:
        """Ways from start to end over at most `depth` edges; counting ends when there are more than `enough`.

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

    def route(self, trace: AgentTrace) -> tuple[str, ...]:
        """The nodes that a run went through, as far as its trace tells, from start to end.

        They are the nodes of its steps, in order; what lies between two that are not joined by an edge that
        the run took is filled in by the shortest way over such edges. Steps in a row in one node are one visit,
        unless the run took an edge from the node to itself.
        """
        taken = self.taken(trace)
        visits = list(self._visits(trace, taken))
        if not visits and not taken:
            return ()
        path = [START]
        for node in (*visits, END):
            path += _way(path[-1], node, taken)
        return tuple(path)

    def entered(self, trace: AgentTrace) -> frozenset[str]:
        """The nodes that a run entered: those of its steps, and those that its edges lead to or from."""
        ends = {name for edge in trace.edges for name in edge}
        named = {self._own(step.node) for step in trace.steps if step.node} | {
            self._own(name) for name in ends
        }
        return frozenset(named & set(self.nodes))

    def taken(self, trace: AgentTrace) -> frozenset[Edge]:
        """The edges of this graph that a run took."""
        return frozenset((self._own(a), self._own(b)) for a, b in trace.edges) & frozenset(self.edges)

    @cached_property
    def _after(self) -> Mapping[str, list[str]]:
        return _after(self.edges)

    def _own(self, name: str) -> str:
        """The node of this graph that a node of a graph in it (`outer/inner`) belongs to."""
        while name not in self._names and "/" in name:
            name = name.rpartition("/")[0]
        return name

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self.nodes)

    def _visits(self, trace: AgentTrace, taken: frozenset[Edge]) -> Iterator[str]:
        previous = ""
        for step in trace.steps:
            node = self._own(step.node or "")
            if node in self._names and (node != previous or (node, node) in taken):
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


def _after(edges: tuple[Edge, ...] | frozenset[Edge]) -> dict[str, list[str]]:
    after: dict[str, list[str]] = {}
    for source, target in edges:
        after.setdefault(source, []).append(target)
    return after


def _way(start: str, goal: str, edges: frozenset[Edge]) -> list[str]:
    """The nodes after `start` of a shortest way to `goal`; the goal alone where none leads there."""
    if (start, goal) in edges:
        return [goal]
    after = _after(frozenset(edges))
    came: dict[str, str] = {}
    waiting = deque([start])
    while waiting and goal not in came:
        node = waiting.popleft()
        for target in sorted(after.get(node, ())):
            if target not in came:
                came[target] = node
                waiting.append(target)
    if goal not in came:
        return [goal]
    back = [goal]
    while came[back[-1]] != start:
        back.append(came[back[-1]])
    return back[::-1]
