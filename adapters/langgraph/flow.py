"""A compiled LangGraph graph's flow as data, and the graph recompiled with another flow."""

import copy
import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import JsonValue

from agentmut._base import AdapterError
from agentmut.adapters.langgraph.nodes import AlteredNode, Change, Mark, WatchedBranch
from agentmut.adapters.langgraph.state import keys_read
from agentmut.adapters.langgraph.version import unknown_version
from agentmut.nouns import END, START, Branch, Flow

_OWN = ("model", "agent", "tools", "generate_structured_response")
"""The nodes of `create_agent` itself, and of `create_react_agent` before it."""
_OLD_LOOP = "langgraph.prebuilt.chat_agent_executor"


def describe(graph: Any) -> dict[str, JsonValue]:
    """Return what `agentmut.nouns.flow.Flow` knows of a compiled graph; keys without content are left out.

    Branches are known where LangGraph knows their ends (a path map, or a `Literal` return type), hand-offs
    where a node declares the targets of its `Command`s (`destinations=`, or the return type). Graphs in
    nodes are one node each.

    Of what `create_agent` builds, only the limit of steps and the nodes of middleware (or hooks) are there: the
    loop of model and tools is LangChain's own code, which no team breaks, and without either there is no agent.
    """
    found: dict[str, Any] = {"max_steps": _limit(graph)}
    builder = getattr(graph, "builder", None)
    if hasattr(builder, "waiting_edges"):
        found |= _hooks(builder) if _is_ready_made(graph) else _whole_flow(builder)
    return {key: value for key, value in found.items() if value}


def reshape(graph: Any, before: Flow, after: Flow, mark: Mark = lambda key: None) -> Any:
    """Return a new graph with the difference between two flows; the given graph does not change.

    `mark` is called in the changed graph's runs with the key of the part that took effect. Limits of steps are
    not the graph's, but given when it is run. Raises `AdapterError` with what cannot be changed.
    """
    limit = {"max_steps": None}
    if before.model_copy(update=limit) == after.model_copy(update=limit):
        return graph
    if not hasattr(getattr(graph, "builder", None), "waiting_edges"):
        raise AdapterError(f"the flow of a {type(graph).__name__} cannot be changed; it is no StateGraph")
    builder = _copied(graph.builder)
    changes: defaultdict[str, Change] = defaultdict(Change)
    _skip(builder, set(before.nodes) - set(after.nodes), changes)
    _lead(builder, set(before.edges), set(after.edges), changes)
    _reroute(builder, before.branches, after.branches, mark)
    _retry(builder, before, after, changes)
    _hand_over(builder, before, after, changes)
    _withhold(builder, before, after, changes)
    for name, change in changes.items():
        spec = _node(builder, name)
        builder.nodes[name] = dataclasses.replace(spec, runnable=AlteredNode(spec.runnable, change, mark))
    return _compiled(builder, graph)


def _limit(graph: Any) -> int | None:
    """Return a graph's own step limit, or LangGraph's default."""
    own = (getattr(graph, "config", None) or {}).get("recursion_limit")
    if own is not None:
        return int(own)
    try:
        from langgraph._internal._config import DEFAULT_RECURSION_LIMIT
    except ImportError:  # not public, and no more than a number to start from
        return None
    return int(DEFAULT_RECURSION_LIMIT)


def _is_ready_made(graph: Any) -> bool:
    """Return whether `create_agent` or `create_react_agent` has built the graph."""
    metadata = (getattr(graph, "config", None) or {}).get("metadata") or {}
    functions = (getattr(spec.runnable, "func", None) for spec in graph.builder.nodes.values())
    old = any(getattr(function, "__module__", "") == _OLD_LOOP for function in functions)
    return old or metadata.get("ls_integration") == "langchain_create_agent"


def _hooks(builder: Any) -> dict[str, Any]:
    return {"nodes": [name for name in builder.nodes if name not in _OWN]}


def _whole_flow(builder: Any) -> dict[str, Any]:
    nodes = {name: spec for name, spec in builder.nodes.items() if not spec.is_error_handler}
    order = {name: place for place, name in enumerate([START, *nodes, END])}
    return {
        "nodes": list(nodes),
        "edges": [
            list(edge) for edge in sorted(_edges(builder), key=lambda edge: [order.get(n, -1) for n in edge])
        ],
        "branches": list(_branches(builder, order)),
        "handoffs": {name: found for name, spec in nodes.items() if (found := _handoffs(spec))},
        "retries": {name: times for name, spec in nodes.items() if (times := _retries(spec))},
        "state": {name: keys for name, spec in nodes.items() if (keys := _passed(builder, spec))},
    }


def _branches(builder: Any, order: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    for source in sorted(builder.branches, key=lambda name: order.get(name, -1)):
        for name, branch in builder.branches[source].items():
            ends = {str(label): target for label, target in (branch.ends or {}).items()}
            if ends and len(ends) == len(branch.ends):  # else two labels look alike
                yield {"source": source, "name": name, "ends": ends}


def _handoffs(spec: Any) -> dict[str, str]:
    return {target: target for target in spec.ends or () if target != END}


def _retries(spec: Any) -> int:
    return max((policy.max_attempts - 1 for policy in _policies(spec)), default=0)


def _policies(spec: Any) -> list[Any]:
    policy = spec.retry_policy
    if policy is None:
        return []
    return [policy] if hasattr(policy, "max_attempts") else list(policy)


def _passed(builder: Any, spec: Any) -> list[str]:
    if hasattr(spec.runnable, "tools_by_name"):  # it reads the calls off the messages, and nothing else
        return []
    schema = builder.schemas.get(spec.input_schema, {})
    keys = [key for key in schema if key in builder.channels and key != "__root__"]
    return keys_read(spec.runnable, keys)


def _copied(builder: Any) -> Any:
    """Return a copy whose nodes, edges and branches can be changed without the original's."""
    new = copy.copy(builder)
    new.nodes = dict(builder.nodes)
    new.edges, new.waiting_edges = set(builder.edges), set(builder.waiting_edges)
    new.branches = defaultdict(dict, {source: dict(found) for source, found in builder.branches.items()})
    _without_node_defaults(new)
    new.compiled = False
    return new


def _without_node_defaults(builder: Any) -> None:
    """Remove the node defaults for compiling, since a compiled graph's nodes already have them."""
    try:
        builder._node_defaults = type(builder._node_defaults)()
    except (AttributeError, TypeError):  # not public
        raise AdapterError(unknown_version("a graph's defaults for its nodes")) from None


def _compiled(builder: Any, graph: Any) -> Any:
    try:
        new = builder.compile(
            checkpointer=graph.checkpointer,
            cache=graph.cache,
            store=graph.store,
            interrupt_before=graph.interrupt_before_nodes,
            interrupt_after=graph.interrupt_after_nodes,
            debug=graph.debug,
            name=graph.name,
            transformers=graph.stream_transformers,
        )
    except ValueError as error:
        raise AdapterError(f"LangGraph does not compile it: {error}") from error
    new.step_timeout, new.retry_policy = graph.step_timeout, graph.retry_policy
    return new.with_config(graph.config) if graph.config else new


def _node(builder: Any, name: str) -> Any:
    if name not in builder.nodes:
        raise AdapterError(f"the graph has no node {name!r}")
    return builder.nodes[name]


def _skip(builder: Any, names: Iterable[str], changes: Mapping[str, Change]) -> None:
    for name in names:
        spec = _node(builder, name)
        if hasattr(spec.runnable, "tools_by_name"):
            raise AdapterError(
                f"{name} is a tool node: without it calls have no results, and model services refuse such requests"
            )
        goes_on = name in builder.branches or any(name in _sources(edge) for edge in _edges(builder))
        if spec.ends and not goes_on:
            raise AdapterError(f"{name} itself decides where the run goes on, with a Command")
        changes[name].skipped = True
        changes[name].marks.add("nodes")


def _edges(builder: Any) -> set[tuple[str, ...]]:
    return {*builder.edges, *((*sources, target) for sources, target in builder.waiting_edges)}


def _sources(edge: tuple[str, ...]) -> tuple[str, ...]:
    return edge[:-1]


def _lead(
    builder: Any,
    before: set[tuple[str, ...]],
    after: set[tuple[str, ...]],
    changes: Mapping[str, Change],
) -> None:
    gone, new = before - after, after - before
    for edge in gone:
        if edge not in _edges(builder):
            raise AdapterError(f"the graph has no edge from {' and '.join(_sources(edge))} to {edge[-1]}")
        builder.edges.discard(edge)
        builder.waiting_edges.discard((_sources(edge), edge[-1]))
    for edge in new:
        if len(edge) == 2:
            builder.edges.add(edge)
        else:
            builder.waiting_edges.add((_sources(edge), edge[-1]))
    for name in {source for edge in gone | new for source in _sources(edge)}:
        for seen in [name] if name != START else _first(builder):
            changes[seen].marks.add("edges")


def _first(builder: Any) -> Iterator[str]:
    """Yield the first nodes of runs; nothing can be added at the start itself."""
    return (target for source, target in builder.edges if source == START and target in builder.nodes)


def _reroute(builder: Any, before: Iterable[Branch], after: Iterable[Branch], mark: Mark) -> None:
    wanted = {(branch.source, branch.name): branch.ends for branch in after}
    for branch in before:
        ends = wanted.get((branch.source, branch.name), branch.ends)
        if ends != branch.ends:
            found = builder.branches.get(branch.source, {}).get(branch.name)
            if found is None or not found.ends:
                raise AdapterError(
                    f"the graph has no branch {branch.name!r} after {branch.source} with known ends"
                )
            changed = frozenset(label for label in branch.ends if ends.get(label) != branch.ends[label])
            builder.branches[branch.source][branch.name] = found._replace(
                path=WatchedBranch(found.path, changed, mark, _sent(branch, ends)),
                ends={label: ends.get(str(label), target) for label, target in found.ends.items()},
            )


def _sent(branch: Branch, ends: Mapping[str, str]) -> dict[str, str]:
    """Return the target of a `Send` to a node: the labels that lead there, if all of them now lead elsewhere."""
    now: defaultdict[str, list[str]] = defaultdict(list)
    for label, target in branch.ends.items():
        now[target].append(ends.get(label, target))
    return {target: others[0] for target, others in now.items() if target not in others}


def _retry(builder: Any, before: Flow, after: Flow, changes: Mapping[str, Change]) -> None:
    names = list(builder.nodes) if isinstance(before.retries, int) else list(before.retries)
    changed = [name for name in names if after.retries_of(name) != before.retries_of(name)]
    tried = [name for name in changed if _policies(_node(builder, name))]
    if changed and not tried:
        raise AdapterError(f"the graph does not try {', '.join(changed)} again when it fails")
    for name in tried:
        spec, attempts = builder.nodes[name], after.retries_of(name) + 1
        policies = [policy._replace(max_attempts=attempts) for policy in _policies(spec)]
        builder.nodes[name] = dataclasses.replace(spec, retry_policy=policies)
        changes[name].marks.add("retries")


def _hand_over(builder: Any, before: Flow, after: Flow, changes: Mapping[str, Change]) -> None:
    for name, handoffs in before.handoffs.items():
        now = after.handoffs.get(name, {})
        changed = {target: now.get(label) for label, target in handoffs.items() if now.get(label) != target}
        if not changed:
            continue
        ends = _node(builder, name).ends or ()
        if undeclared := [target for target in changed if target not in ends]:
            raise AdapterError(f"{name} declares no hand-off to {', '.join(undeclared)}")
        changes[name].handoffs = changed


def _withhold(builder: Any, before: Flow, after: Flow, changes: Mapping[str, Change]) -> None:
    for name, keys in before.state.items():
        gone = frozenset(keys) - frozenset(after.state.get(name, ()))
        if gone:
            changes[name].without = gone
