"""ADK's `Workflow` graphs as data, and built again with other agents, other edges and skipped nodes.

Edges with a route are taken where a node says so; they are no part of the flow that is changed, and stay.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from google.adk.agents import BaseAgent
from google.adk.workflow import START, BaseNode, Edge, FunctionNode, JoinNode, Workflow

from agentmut.errors import AdapterError
from agentmut.flow import END
from agentmut.flow import START as BEGIN
from agentmut.plain import one_line

Edges = tuple[tuple[str, ...], ...]


def nodes_of(workflow: Workflow) -> dict[str, BaseNode]:
    """What a workflow runs, by name."""
    found = workflow.graph.nodes if workflow.graph else ()
    return {node.name: node for node in found if node.name != START.name}


def edges_of(workflow: Workflow) -> list[list[str]]:
    """From the start to the end, without those that have routes; with several names before the last, it waits."""
    nodes = nodes_of(workflow)
    into: dict[str, list[str]] = {}
    for edge in _plain(workflow):
        into.setdefault(edge.to_node.name, []).append(_name(edge.from_node))
    joined = [
        edge
        for name, before in into.items()
        for edge in ([[*before, name]] if isinstance(nodes[name], JoinNode) else [[b, name] for b in before])
    ]
    leaving = {edge.from_node.name for edge in _edges(workflow)}
    return [*joined, *([name, END] for name in nodes if name not in leaving)]


def agents_before(workflow: BaseNode) -> dict[str, frozenset[str]]:
    """By the agents of a graph: those that may have run right before them, past nodes of other kinds."""
    if not isinstance(workflow, Workflow):
        return {}
    into: dict[str, set[str]] = {}
    for edge in _edges(workflow):
        into.setdefault(edge.to_node.name, set()).add(_name(edge.from_node))
    nodes = nodes_of(workflow)
    return {name: frozenset(_reached(name, into, nodes)) for name in nodes if _is_agent(nodes[name])}


def rebuilt(
    workflow: Workflow,
    copied: Callable[[BaseNode], BaseNode],
    wanted: Edges | None,
    kept: Iterable[str] | None,
) -> Workflow:
    """The graph with copies of its nodes, and other edges and fewer nodes where they are not None.

    Raises `AdapterError` for edges of which ADK makes no graph.
    """
    nodes = {name: copied(node) for name, node in nodes_of(workflow).items()}
    if kept is not None:
        nodes |= {name: _skipped(name) for name in nodes.keys() - set(kept)}
    nodes[BEGIN] = START
    if wanted is not None:
        _check_joins(wanted, nodes)
    edges = [
        Edge(from_node=nodes[source], to_node=nodes[target], route=route)
        for source, target, route in _reachable(_told(workflow, wanted))
    ]
    try:
        graph = Workflow(name=workflow.name, edges=edges).graph
    except ValueError as error:
        said = one_line(error).partition("Value error, ")[2].partition(" [type=")[0] or one_line(error)
        raise AdapterError(f"ADK makes no graph of these edges: {said}") from error
    return workflow.model_copy(update={"edges": edges, "graph": graph})


Told = tuple[str, str, Any]
"""An edge by the names of its ends, and its route; None for edges that are always taken."""


def _told(workflow: Workflow, wanted: Edges | None) -> list[Told]:
    """The edges of a workflow, or the wanted ones and those that have a route."""
    own = [(_name(edge.from_node), edge.to_node.name, edge.route) for edge in _edges(workflow)]
    if wanted is None:
        return own
    routed = [edge for edge in own if edge[2] is not None]
    return [*((source, edge[-1], None) for edge in wanted for source in edge[:-1]), *routed]


def _edges(workflow: Workflow) -> list[Edge]:
    return list(workflow.graph.edges) if workflow.graph else []


def _plain(workflow: Workflow) -> Iterator[Edge]:
    return (edge for edge in _edges(workflow) if edge.route is None)


def _name(node: BaseNode) -> str:
    return BEGIN if node.name == START.name else node.name


def _is_agent(node: BaseNode) -> bool:
    return isinstance(node, BaseAgent)


def _reached(name: str, into: Mapping[str, set[str]], nodes: Mapping[str, BaseNode]) -> Iterator[str]:
    seen: set[str] = set()
    ahead = list(into.get(name, ()))
    while ahead:
        before = ahead.pop()
        if before in seen:
            continue
        seen.add(before)
        if before == BEGIN or _is_agent(nodes[before]):
            yield before
        else:
            ahead += into.get(before, ())


def _skipped(name: str) -> FunctionNode:
    """A node that gives on what it is given."""

    def passed(node_input: Any) -> Any:
        return node_input

    return FunctionNode(func=passed, name=name)


def _check_joins(wanted: Edges, nodes: Mapping[str, BaseNode]) -> None:
    for edge in wanted:
        if len(edge) > 2 and not isinstance(nodes.get(edge[-1]), JoinNode):
            raise AdapterError(f"ADK makes no graph of these edges: {edge[-1]!r} is no JoinNode, which waits")


def _reachable(told: list[Told]) -> list[Told]:
    """The edges that a run comes by; ADK takes no others."""
    known, before = {BEGIN}, 0
    while len(known) > before:
        before = len(known)
        known |= {target for source, target, _ in told if source in known}
    return [edge for edge in told if edge[0] in known and edge[1] != END]
