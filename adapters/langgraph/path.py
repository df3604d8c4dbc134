"""The path of a run through a graph and its inner graphs, from LangGraph's metadata."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from agentmut.nouns import END, START
from agentmut.recording import Recorder

_Run = tuple[tuple[str, ...], str]
"""The nodes that a graph is in, and which run of it this is."""
_Ran = dict[int, list[str]]
"""The nodes of one run of one graph, by step."""


class Place(NamedTuple):
    """The place of an event in a run."""

    run: str
    """Tells runs of graphs apart: of the outer one, and of those in its nodes."""
    outer: tuple[str, ...]
    """The nodes that this graph is in, outermost first."""
    node: str
    step: int

    @property
    def path(self) -> str:
        """Return the node's name after the names of the nodes that contain it: `billing/tools`."""
        return "/".join([*self.outer, self.node])


def place_of(metadata: Mapping[str, Any] | None) -> Place | None:
    """Return the node of an event by LangGraph's metadata; None if it names none."""
    found = metadata or {}
    node = found.get("langgraph_node")
    if not node or node == START:
        return None
    run, _, _ = str(found.get("langgraph_checkpoint_ns", "")).rpartition("|")
    outer = (part.partition(":")[0] for part in run.split("|") if ":" in part)  # others only count
    return Place(run, tuple(outer), str(node), int(found.get("langgraph_step") or 0))


class NodePath:
    """Records the nodes that a run enters, and where it came from.

    LangGraph tells the steps of a run, not who sent it where. Where several nodes ran in one step, those count
    that lead to the next one by their edges; failing such, all of them that may lead there.
    """

    def __init__(self, graph: Any, recorder: Recorder) -> None:
        self._graph = graph
        self._recorder = recorder
        self._runs: defaultdict[_Run, _Ran] = defaultdict(dict)
        self._asking: set[_Run] = set()

    def enter(self, place: Place) -> None:
        """Note that something begins in a node."""
        ran = self._runs[place.outer, place.run]
        nodes = ran.setdefault(place.step, [])
        if place.node in nodes:
            return
        nodes.append(place.node)
        # a graph in a node is one node of the flow, which is all that can be changed of it
        if not place.outer:
            self._recorder.nodes.add(place.node)
        before = ran.get(place.step - 1, [])
        for source in self._sources(place, before) if before else [START]:
            self._record_edge(place.outer, source, place.node)

    def leave(self, place: Place, *, to_ask: bool) -> None:
        """Record that a node leaves its graph, to hand over to a node outside or to ask the user."""
        if to_ask:
            self._asking.add((place.outer, place.run))
        elif place.node in (nodes := self._runs[place.outer, place.run].get(place.step, [])):
            nodes.remove(place.node)

    def end_turn(self) -> None:
        """Lead the last nodes to the end, as the graph has answered; the next turn begins a new path.

        Where it has asked, the runs that wait for the next turn go on in it.
        """
        for run in [run for run in self._runs if run not in self._asking]:
            ran = self._runs.pop(run)
            for node in ran[max(ran)]:
                self._record_edge(run[0], node, END)
        self._asking.clear()

    def _record_edge(self, outer: tuple[str, ...], source: str, target: str) -> None:
        edge = "/".join([*outer, source]), "/".join([*outer, target])
        self._recorder.edges.setdefault(edge)

    def _sources(self, place: Place, before: list[str]) -> list[str]:
        builder = self._builder(place.outer) if len(before) > 1 else None
        if builder is None:
            return before
        sure = [node for node in before if node in _sure_sources(builder, place.node)]
        return sure or [node for node in before if _may_lead(builder, node, place.node)] or before

    def _builder(self, outer: tuple[str, ...]) -> Any:
        """Return the builder of the graph at that place; None if a function calls the graph."""
        graph = self._graph
        for name in outer:
            graph = getattr(getattr(graph, "nodes", {}).get(name), "bound", None)
        found = getattr(graph, "builder", None)
        return found if hasattr(found, "waiting_edges") else None


def _sure_sources(builder: Any, target: str) -> set[str]:
    """Return the nodes that lead to the target in any case."""
    plain = {source for source, end in builder.edges if end == target}
    return plain.union(*(sources for sources, end in builder.waiting_edges if end == target))


def _may_lead(builder: Any, source: str, target: str) -> bool:
    ends = list(_ends(builder, source))
    return None in ends or target in ends


def _ends(builder: Any, source: str) -> Iterator[str | None]:
    """Yield the possible targets of a node's decisions; None stands for any node."""
    for branch in builder.branches.get(source, {}).values():
        yield from branch.ends.values() if branch.ends else [None]
    spec = builder.nodes.get(source)
    yield from getattr(spec, "ends", None) or ()
