"""Common parts of operators on the flow: pointers, edits, and the neighbours of a node."""

from collections import defaultdict
from collections.abc import Iterable

from pydantic import JsonValue

from agentmut._base import pointer
from agentmut.nouns import START, AgentConfig, Edge, Edit, Flow
from agentmut.seams import Example


def flow_edit(*place: str | int, before: JsonValue, after: JsonValue) -> Edit:
    """Return an edit of the value at a place below `orchestration`; keys are escaped."""
    path = ("orchestration", *map(str, place))
    return Edit(pointer=pointer(path), before=before, after=after)


def edge_edit(index: int, edge: Edge, after: Iterable[str] | None) -> Edit:
    """Put another edge in the place of one, or none."""
    return flow_edit("edges", index, before=list(edge), after=None if after is None else list(after))


def flow_example(before: dict[str, JsonValue], after: dict[str, JsonValue]) -> Example:
    """Return an example of a config with nothing but a flow."""
    return Example(AgentConfig(orchestration=before), AgentConfig(orchestration=after))


def entered(node: str) -> str:
    """Return the subject of a mutant that shows once `node` is entered: any node, where a run begins."""
    return "" if node == START else node


class FlowEdges:
    """The indices of the edges into and out of each node, and the nodes that take decisions."""

    def __init__(self, flow: Flow) -> None:
        self.into: defaultdict[str, list[int]] = defaultdict(list)
        self.out: defaultdict[str, list[int]] = defaultdict(list)
        for index, (*sources, target) in enumerate(flow.edges):
            self.into[target].append(index)
            for source in sources:
                self.out[source].append(index)
        self.deciding = frozenset(branch.source for branch in flow.branches) | frozenset(flow.handoffs)
        ends = [*(branch.ends for branch in flow.branches), *flow.handoffs.values()]
        self.chosen = frozenset(target for labels in ends for target in labels.values())
        """Nodes that some decision leads to."""

    def only_edge(self, edges: list[int], node: str) -> int | None:
        """Return the one edge of `edges`, where `node` takes no decision of its own; None otherwise."""
        return edges[0] if len(edges) == 1 and node not in self.deciding else None
