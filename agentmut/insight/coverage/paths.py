"""Decision paths (Definition 4.3), and how many there may be (Eqs. 15 and 16)."""

from typing import NamedTuple

from agentmut.insight.coverage.flow_graph import Graph
from agentmut.insight.coverage.sightings import Seen, Traces, each_trace
from agentmut.nouns import AgentTrace
from agentmut.stats import chao1

Path = tuple[str, ...]
MOST_ROUTES = 1000
"""A graph with more routes than that gives no denominator: what is seen would be nothing beside it."""


class Paths(NamedTuple):
    """The decision paths that runs took, and the number of possible paths."""

    seen: Seen[Path]
    total: float
    basis: str


def decision_path(trace: AgentTrace) -> Path:
    """The sequence of actions and tools; a tool's name stands for the call of it.

    >>> from agentmut.nouns.trace import Action, Step
    >>> decision_path(AgentTrace(steps=(Step(action=Action.REASON), Step(action=Action.CALL_TOOL, tool="find"))))
    ('reason', 'find()')
    """
    return tuple(f"{step.tool}()" if step.tool else step.action.value for step in trace.steps)


def paths(traces: Traces, graph: Graph, depth: int) -> Paths:
    """The decision paths; of an explicit graph with few enough routes, the routes through it instead."""
    routes = graph.routes(depth, MOST_ROUTES) if graph.is_explicit else 0
    seen: Seen[Path] = Seen()
    if 0 < routes <= MOST_ROUTES:
        for scenario, trace in each_trace(traces):
            seen.add(scenario, graph.walked(trace, depth))
        return Paths(seen, routes, f"routes of at most {depth} edges through the graph")
    for scenario, trace in each_trace(traces):
        seen.add(scenario, [path] if (path := decision_path(trace)) else [])
    once, twice = seen.repeats()
    basis = f"Chao1: {len(seen)} seen, {once} of them once, {twice} twice"
    if routes > MOST_ROUTES:
        basis += f"; the graph has more than {MOST_ROUTES} routes of at most {depth} edges"
    return Paths(seen, chao1(len(seen), once, twice), basis)
