"""ADK's `Workflow` graphs as data, and rebuilt with other agents, other edges and skipped nodes.

Edges with a route are taken where a node says so; they are no part of the flow that is changed, and stay.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from google.adk.agents import BaseAgent
from google.adk.workflow import START, BaseNode, Edge, FunctionNode, JoinNode, Workflow

from agentmut._base import AdapterError, one_line
from agentmut.nouns import END
from agentmut.nouns import START as BEGIN

Edges = tuple[tuple[str, ...], ...]


def nodes_of(workflow: Workflow) -> dict[str, BaseNode]:
    """Return what a workflow runs, by name."""
    found = workflow.graph.nodes if workflow.graph else ()
    return {node.name: node for node in found if node.name != START.name}


def edges_of(workflow: Workflow) -> list[list[str]]:
    """Return the edges from start to end without routed ones; an edge of several names waits for all of them."""
    nodes = nodes_of(workflow)
    into: dict[str, list[str]] = {}
    for edge in (one for one in _edges(workflow) if one.route is None):
        into.setdefault(edge.to_node.name, []).append(_name(edge.from_node))
    joined = [
        edge
        for name, before in into.items()
        for edge in ([[*before, name]] if isinstance(nodes[name], JoinNode) else [[b, name] for b in before])
    ]
    leaving = {edge.from_node.name for edge in _edges(workflow)}
    return [*joined, *([name, END] for name in nodes if name not in leaving)]


def agents_before(
    workflow: BaseNode, first: frozenset[str] = frozenset({BEGIN})
) -> dict[str, frozenset[str]]:
    """Map each agent of a graph to the agents that may run directly before it, past nodes of other kinds.

    `first`: what has run before the graph.
    """
    if not isinstance(workflow, Workflow):
        return {}
    found, into = dict[str, frozenset[str]](), _into(workflow)
    for name, node in nodes_of(workflow).items():
        before = frozenset(_ran(workflow, into.get(name, ())))
        before = (before - {BEGIN}) | first if BEGIN in before else before
        found |= {name: before} if _is_agent(node) else agents_before(node, before)
    return found


def rebuilt(
    workflow: Workflow,
    copied: Callable[[BaseNode], BaseNode],
    wanted: Edges | None,
    kept: Iterable[str] | None,
) -> Workflow:
    """Return the graph with copies of its nodes; `wanted` edges and `kept` nodes replace the original's, unless None.

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
        for source, target, route in _reachable(_route_parts(workflow, wanted))
    ]
    try:
        graph = Workflow(name=workflow.name, edges=edges).graph
    except ValueError as error:
        said = one_line(error).partition("Value error, ")[2].partition(" [type=")[0] or one_line(error)
        raise AdapterError(f"ADK makes no graph of these edges: {said}") from error
    return workflow.model_copy(update={"edges": edges, "graph": graph})


Told = tuple[str, str, Any]
"""An edge by the names of its ends, and its route; None for edges that are always taken."""


def _route_parts(workflow: Workflow, wanted: Edges | None) -> list[Told]:
    """Return the edges of a workflow: the wanted ones, and the routed ones."""
    own = [(_name(edge.from_node), edge.to_node.name, edge.route) for edge in _edges(workflow)]
    if wanted is None:
        return own
    routed = [edge for edge in own if edge[2] is not None]
    return [*((source, edge[-1], None) for edge in wanted for source in edge[:-1]), *routed]


def _edges(workflow: Workflow) -> list[Edge]:
    return list(workflow.graph.edges) if workflow.graph else []


def _name(node: BaseNode) -> str:
    return BEGIN if node.name == START.name else node.name


def _is_agent(node: BaseNode) -> bool:
    return isinstance(node, BaseAgent)


def _into(workflow: Workflow) -> dict[str, list[str]]:
    into: dict[str, list[str]] = {}
    for edge in _edges(workflow):
        into.setdefault(edge.to_node.name, []).append(_name(edge.from_node))
    return into


def _ran(workflow: Workflow, names: Iterable[str]) -> Iterator[str]:
    """Yield the agents that ran last when these nodes have run; the start if no agent has."""
    nodes, into, seen, ahead = nodes_of(workflow), _into(workflow), set[str](), list(names)
    while ahead:
        name = ahead.pop()
        if name in seen:
            continue
        seen.add(name)
        last = _last(nodes[name]) if name in nodes else set[str]()
        yield from [BEGIN] if name == BEGIN else last - {BEGIN}
        ahead += into.get(name, ()) if BEGIN in last else ()


def _last(node: BaseNode) -> set[str]:
    """Return the agents that ran last when a node has run; the start if perhaps no agent has."""
    if _is_agent(node):
        return {node.name}
    if not isinstance(node, Workflow):
        return {BEGIN}
    leaving = {edge.from_node.name for edge in _edges(node)}
    return set(_ran(node, [name for name in nodes_of(node) if name not in leaving])) or {BEGIN}


def _skipped(name: str) -> FunctionNode:
    """Return a node that passes its input on."""

    def passed(node_input: Any) -> Any:
        return node_input

    return FunctionNode(func=passed, name=name)


def _check_joins(wanted: Edges, nodes: Mapping[str, BaseNode]) -> None:
    for edge in wanted:
        if len(edge) > 2 and not isinstance(nodes.get(edge[-1]), JoinNode):
            raise AdapterError(f"ADK makes no graph of these edges: {edge[-1]!r} is no JoinNode, which waits")


def _reachable(edges: list[Told]) -> list[Told]:
    """Return the edges that a run can reach; ADK accepts no others."""
    known, before = {BEGIN}, 0
    while len(known) > before:
        before = len(known)
        known |= {target for source, target, _ in edges if source in known}
    return [edge for edge in edges if edge[0] in known and edge[1] != END]
