"""The five dimensions of the AgentAssay paper (Eqs. 14 to 19)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from agentmut.insight.coverage.boundaries import Boundary, Lacking, boundaries
from agentmut.insight.coverage.context import CoverageContext
from agentmut.insight.coverage.flow_graph import Graph
from agentmut.insight.coverage.models import Part, distinct_models, is_model, listed, nothing, row_of
from agentmut.insight.coverage.nouns import CoverageItem, Dimension, DimensionCoverage
from agentmut.insight.coverage.sightings import Seen, Traces, each_trace
from agentmut.insight.coverage.states import State
from agentmut.nouns import Action, AgentConfig, AgentTrace, ToolSpec
from agentmut.project import CoverageSettings
from agentmut.stats import chao1, state_coverage

NAMED = 10
"""Names listed in a note."""


def tools_part(traces: Traces, tools: Sequence[ToolSpec]) -> Part:
    """Measure tool coverage (Eq. 14). A tool that failed counts as called."""
    names = tuple(dict.fromkeys(tool.own_name for tool in tools))
    if not names:
        return nothing(Dimension.TOOL, "the agent has no tools")
    seen: Seen[str] = Seen()
    own = {tool.name: tool.own_name for tool in tools}
    for scenario, trace in each_trace(traces):
        seen.add(scenario, {own.get(name, name) for name in trace.tools_called})
    items = (
        (CoverageItem(dimension=Dimension.TOOL, name=name, tool=name), seen.shown_by(name)) for name in names
    )
    part = listed(Dimension.TOOL, items, "the tools of the config")
    foreign = sorted(set(seen.scenarios) - set(names))
    note = f"called, but no tools of the config, so not counted: {_some(foreign)}"
    return part._replace(notes=(note,) if foreign else ())


def paths_part(traces: Traces, graph: Graph, settings: CoverageSettings) -> Part:
    """Measure path coverage (Eq. 15). The total comes from Eq. 16 or from the graph."""
    seen, total, basis = paths(traces, graph, settings.depth)
    if not total:
        return nothing(Dimension.PATH, "no steps were recorded")
    covered = {
        CoverageItem(dimension=Dimension.PATH, name=" > ".join(path)): seen.shown_by(path)
        for path in seen.scenarios
    }
    return Part(row_of(Dimension.PATH, len(seen), total, basis), covered)


def states_part(seen: Seen[State], scale: float, how: str) -> Part:
    """Measure state coverage (Eq. 17). `how` says where lambda comes from."""
    if not len(seen):
        return nothing(Dimension.STATE, "no steps were recorded")
    row = DimensionCoverage(
        dimension=Dimension.STATE,
        covered=len(seen),
        total=scale,
        value=state_coverage(len(seen), scale),
        basis=f"1 - exp(-seen/lambda); lambda is {how}",
    )
    covered = {
        CoverageItem(dimension=Dimension.STATE, name=state.name): seen.shown_by(state)
        for state in seen.scenarios
    }
    return Part(row, covered)


def boundaries_part(traces: Traces, tools: Sequence[ToolSpec]) -> Part:
    """Measure boundary coverage (Eq. 18)."""
    by_tool = {tool.own_name: boundaries(tool) for tool in tools}
    left_out = tuple(each for _, skipped in by_tool.values() for each in skipped)
    if not any(found for found, _ in by_tool.values()):
        why = "no parameter of a tool has a bounded domain" if tools else "the agent has no tools"
        return nothing(Dimension.BOUNDARY, why, left_out=left_out)
    own = {tool.name: tool.own_name for tool in tools}
    seen = _boundaries_met(traces, {name: found for name, (found, _) in by_tool.items()}, own)
    items = (
        (boundary.item, seen.shown_by(boundary.item)) for found, _ in by_tool.values() for boundary in found
    )
    part = listed(Dimension.BOUNDARY, items, "boundaries that the tools' JSON Schemas state")
    return part._replace(left_out=left_out)


def _boundaries_met(
    traces: Traces, by_tool: Mapping[str, Sequence[Boundary]], own: Mapping[str, str]
) -> Seen[CoverageItem]:
    """Collect the boundaries that a scenario's calls meet; each different call is read once."""
    seen: Seen[CoverageItem] = Seen()
    for scenario, runs in traces.items():
        calls: set[tuple[str, str]] = set()
        lacking = {tool: Lacking(found) for tool, found in by_tool.items()}
        for step in (step for trace in runs for step in trace.steps if step.tool):
            tool = own.get(step.tool or "", step.tool or "")
            if not lacking.get(tool) or (call := (tool, repr(step.arguments))) in calls:
                continue
            calls.add(call)
            seen.add(scenario, lacking[tool].met(step.arguments or {}))
    return seen


def models_part(
    traces: Traces, config: AgentConfig, settings: CoverageSettings, context: CoverageContext
) -> Part:
    """Measure model coverage (Eq. 19). A model whose every call failed has not answered."""
    own = config.model.name
    targets = distinct_models(settings.models or ((own, *context.swap_models) if own else ()))
    if not targets:
        why = "the config names no model; say in coverage.models which ones the agent is meant to support"
        return nothing(Dimension.MODEL, why)
    also = {model: by for model, by in context.also_run.items() if any(is_model(t, model) for t in targets)}
    seen = _models_seen(traces, own, also)
    items = (
        (
            CoverageItem(dimension=Dimension.MODEL, name=target),
            frozenset(s for name in seen.scenarios if is_model(target, name) for s in seen.scenarios[name]),
        )
        for target in targets
    )
    basis = "coverage.models" if settings.models else "its own model, and mutation.swap_models"
    part = listed(Dimension.MODEL, items, basis)
    foreign = sorted(name for name in seen.scenarios if not any(is_model(t, name) for t in targets))
    note = f"models answered that are not among those meant to be supported: {_some(foreign)}"
    return part._replace(notes=(note,) if foreign else ())


def _models_seen(traces: Traces, own: str, also: Mapping[str, Iterable[str]]) -> Seen[str]:
    seen: Seen[str] = Seen()
    for scenario, trace in each_trace(traces):
        answered = {s.model or own for s in trace.steps if s.action is Action.REASON and not s.error}
        seen.add(scenario, answered - {""})
    for model, scenarios in also.items():
        for scenario in scenarios:
            seen.add(scenario, (model,))
    return seen


def _some(names: Sequence[str]) -> str:
    """Return the first few names: a model can invent any number of tools."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


Path = tuple[str, ...]
MOST_ROUTES = 1000
"""A graph with more routes than that gives no denominator: what is seen would be nothing beside it."""


class Paths(NamedTuple):
    """The decision paths that runs took, and the number of possible paths."""

    seen: Seen[Path]
    total: float
    basis: str


def decision_path(trace: AgentTrace) -> Path:
    """Return the sequence of actions and tools; a tool's name stands for a call of the tool.

    >>> from agentmut.nouns.trace import Action, Step
    >>> decision_path(AgentTrace(steps=(Step(action=Action.REASON), Step(action=Action.CALL_TOOL, tool="find"))))
    ('reason', 'find()')
    """
    return tuple(f"{step.tool}()" if step.tool else step.action.value for step in trace.steps)


def paths(traces: Traces, graph: Graph, depth: int) -> Paths:
    """Return the decision paths; for an explicit graph with few routes, the routes through it instead."""
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
