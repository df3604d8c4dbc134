"""The five dimensions of the AgentAssay paper (Eqs. 14 to 19)."""

from collections.abc import Sequence

from agentmut.insight.coverage.boundaries import UnmetBoundaries, boundaries
from agentmut.insight.coverage.context import CoverageContext
from agentmut.insight.coverage.flow_graph import Graph
from agentmut.insight.coverage.models import Part, distinct_models, is_model, listed, nothing, row_of
from agentmut.insight.coverage.nouns import CoverageItem, Dimension, DimensionCoverage
from agentmut.insight.coverage.sightings import Sightings
from agentmut.insight.coverage.states import State
from agentmut.nouns import Action, AgentConfig, AgentTrace, ToolSpec
from agentmut.project import CoverageSettings
from agentmut.stats import chao1, state_coverage

NAMED = 10
"""Names listed in a note."""
REMEMBERED = 10_000
"""Calls, and pairs of a scenario and a tool, that are remembered at once."""


class ToolTally:
    """Tool coverage (Eq. 14), trace by trace. A tool that failed counts as called."""

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        self._names = tuple(dict.fromkeys(tool.own_name for tool in tools))
        self._own = {tool.name: tool.own_name for tool in tools}
        self._seen: Sightings[str] = Sightings()

    def add(self, scenario: str, trace: AgentTrace) -> None:
        """Count one trace."""
        if self._names:
            self._seen.add(scenario, {self._own.get(name, name) for name in trace.tools_called})

    def part(self) -> Part:
        """Return the coverage of the traces so far."""
        if not self._names:
            return nothing(Dimension.TOOL, "the agent has no tools")
        items = (
            (CoverageItem(dimension=Dimension.TOOL, name=name, tool=name), self._seen.shown_by(name))
            for name in self._names
        )
        part = listed(Dimension.TOOL, items, "the tools of the config")
        foreign = sorted(set(self._seen.scenarios) - set(self._names))
        note = f"called, but no tools of the config, so not counted: {_some(foreign)}"
        return part._replace(notes=(note,) if foreign else ())


def states_part(seen: Sightings[State], scale: float, how: str) -> Part:
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
    # a set gave the states, whose order differs from process to process
    return Part(row, dict(sorted(covered.items(), key=lambda item: item[0].name)))


class BoundaryTally:
    """Boundary coverage (Eq. 18), trace by trace: each different call of a scenario is read about once."""

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        self._has_tools = bool(tools)
        self._own = {tool.name: tool.own_name for tool in tools}
        by_tool = {tool.own_name: boundaries(tool) for tool in tools}
        self._left_out = tuple(each for _, skipped in by_tool.values() for each in skipped)
        self._by_tool = {name: found for name, (found, _) in by_tool.items() if found}
        self._seen: Sightings[CoverageItem] = Sightings()
        self._lacking: dict[tuple[str, str], UnmetBoundaries] = {}
        self._calls: set[int] = set()

    def add(self, scenario: str, trace: AgentTrace) -> None:
        """Count one trace."""
        for step in trace.steps if self._by_tool else ():
            tool = self._own.get(step.tool or "", step.tool or "")
            if tool not in self._by_tool or not (lacking := self._lacking_of(scenario, tool)):
                continue
            if (call := hash((scenario, tool, repr(step.arguments)))) not in self._calls:
                self._calls.add(call)
                self._seen.add(scenario, lacking.met(step.arguments or {}))

    def _lacking_of(self, scenario: str, tool: str) -> UnmetBoundaries:
        """Return the boundaries that no call of the scenario was on yet; of many scenarios the latest are kept."""
        if len(self._lacking) > REMEMBERED or len(self._calls) > REMEMBERED:
            self._lacking.clear()
            self._calls.clear()
        if (scenario, tool) not in self._lacking:
            left = (each for each in self._by_tool[tool] if not self._seen.shows(scenario, each.item))
            self._lacking[scenario, tool] = UnmetBoundaries(left)
        return self._lacking[scenario, tool]

    def part(self) -> Part:
        """Return the coverage of the traces so far."""
        if not self._by_tool:
            why = "no parameter of a tool states a limit" if self._has_tools else "the agent has no tools"
            return nothing(Dimension.BOUNDARY, why, left_out=self._left_out)
        items = (
            (boundary.item, self._seen.shown_by(boundary.item))
            for found in self._by_tool.values()
            for boundary in found
        )
        part = listed(Dimension.BOUNDARY, items, "boundaries that the tools' JSON Schemas state")
        return part._replace(left_out=self._left_out)


class ModelTally:
    """Model coverage (Eq. 19), trace by trace. A model whose every call failed has not answered."""

    def __init__(self, config: AgentConfig, settings: CoverageSettings, context: CoverageContext) -> None:
        self._own = config.model.name
        self._stated = settings.models
        self._targets = distinct_models(
            settings.models or ((self._own, *context.swap_models) if self._own else ())
        )
        self._also = context.also_run
        self._seen: Sightings[str] = Sightings()

    def add(self, scenario: str, trace: AgentTrace) -> None:
        """Count one trace."""
        answered = {s.model or self._own for s in trace.steps if s.action is Action.REASON and not s.error}
        self._seen.add(scenario, answered - {""})

    def part(self) -> Part:
        """Return the coverage of the traces so far."""
        if not self._targets:
            why = "the config names no model; say in coverage.models which ones the agent is meant to support"
            return nothing(Dimension.MODEL, why)
        seen = self._with_others()
        items = (
            (
                CoverageItem(dimension=Dimension.MODEL, name=target),
                frozenset(s for name in seen if is_model(target, name) for s in seen[name]),
            )
            for target in self._targets
        )
        basis = "coverage.models" if self._stated else "its own model, and mutation.swap_models"
        part = listed(Dimension.MODEL, items, basis)
        foreign = sorted(name for name in seen if not self._is_meant(name))
        note = f"models answered that are not among those meant to be supported: {_some(foreign)}"
        return part._replace(notes=(note,) if foreign else ())

    def _with_others(self) -> dict[str, set[str]]:
        """Return the scenarios by the model that answered, those that mutants put in included."""
        seen = {name: set(counts) for name, counts in self._seen.scenarios.items()}
        for model, scenarios in self._also.items():
            if self._is_meant(model):
                seen.setdefault(model, set()).update(scenarios)
        return seen

    def _is_meant(self, model: str) -> bool:
        return any(is_model(target, model) for target in self._targets)


def _some(names: Sequence[str]) -> str:
    """Return the first few names: a model can invent any number of tools."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


Path = tuple[str, ...]
MOST_ROUTES = 1000
"""A graph with more routes than that gives no denominator: what is seen would be nothing beside it."""


def decision_path(trace: AgentTrace) -> Path:
    """Return the sequence of actions and tools; a tool's name stands for a call of the tool.

    >>> from agentmut.nouns.trace import Action, Step
    >>> decision_path(AgentTrace(steps=(Step(action=Action.REASON), Step(action=Action.CALL_TOOL, tool="find"))))
    ('reason', 'find()')
    """
    return tuple(f"{step.tool}()" if step.tool else step.action.value for step in trace.steps)


class PathTally:
    """Path coverage (Eq. 15), trace by trace. The total comes from Eq. 16 or from the graph.

    For an explicit graph with few routes, the routes through it are counted instead of the decision paths.
    """

    def __init__(self, graph: Graph, settings: CoverageSettings) -> None:
        self._graph, self._depth = graph, settings.depth
        self._routes = graph.routes(self._depth, MOST_ROUTES) if graph.is_explicit else 0
        self._seen: Sightings[Path] = Sightings()

    @property
    def _by_route(self) -> bool:
        return 0 < self._routes <= MOST_ROUTES

    def add(self, scenario: str, trace: AgentTrace) -> None:
        """Count one trace."""
        if self._by_route:
            self._seen.add(scenario, self._graph.walked(trace, self._depth))
        elif path := decision_path(trace):
            self._seen.add(scenario, [path])

    def part(self) -> Part:
        """Return the coverage of the traces so far."""
        total, basis = self._total()
        if not total:
            return nothing(Dimension.PATH, "no steps were recorded")
        covered = {
            CoverageItem(dimension=Dimension.PATH, name=" > ".join(path)): self._seen.shown_by(path)
            for path in self._seen.scenarios
        }
        return Part(row_of(Dimension.PATH, len(self._seen), total, basis), covered)

    def _total(self) -> tuple[float, str]:
        """Return the number of possible paths, and its source."""
        if self._by_route:
            return self._routes, f"routes of at most {self._depth} edges through the graph"
        once, twice = self._seen.repeats()
        basis = f"Chao1: {len(self._seen)} seen, {once} of them once, {twice} twice"
        if self._routes > MOST_ROUTES:
            basis += f"; the graph has more than {MOST_ROUTES} routes of at most {self._depth} edges"
        return chao1(len(self._seen), once, twice), basis
