"""Coverage of stored traces: a pure function of traces, config and settings."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from agentmut.insight.coverage.context import CoverageContext
from agentmut.insight.coverage.dimensions import (
    BoundaryTally,
    ModelTally,
    PathTally,
    ToolTally,
    states_part,
)
from agentmut.insight.coverage.flow_graph import Graph
from agentmut.insight.coverage.graph_and_rules import GraphTally, RuleTally, rule_parts
from agentmut.insight.coverage.nouns import PAPER, Coverage, CoverageItem, DimensionCoverage, ScenarioCoverage
from agentmut.insight.coverage.sightings import Sightings, Traces, each_trace
from agentmut.insight.coverage.states import State, expected_states, states_of
from agentmut.nouns import AgentConfig, AgentTrace, Flow, Scenario
from agentmut.project import CoverageSettings
from agentmut.stats import overall_coverage

NO_CONTEXT = CoverageContext()


def measure(
    traces: Traces, config: AgentConfig, settings: CoverageSettings, context: CoverageContext = NO_CONTEXT
) -> Coverage:
    """Return what these runs have exercised of the agent that `config` describes.

    `traces` are runs of the unchanged agent, by scenario. The weight of a dimension that the agent does not have
    goes to the others. Raises `UsageError` for an orchestration that cannot be read.

    Tool, boundary, model and, with lambda given, state never fall when traces are added (Theorem 4.1); path may,
    as the estimate of its total grows. To compare a later measurement with this one, put `states` of the result
    into the settings.
    """
    found = Measurement(config, settings, context)
    for scenario, trace in each_trace(traces):
        found.add(scenario, trace)
    return found.coverage(traces)


class Measurement:
    """A measurement that takes traces one by one and keeps what they show, not the traces.

    Raises `UsageError` for an orchestration that cannot be read.
    """

    def __init__(
        self, config: AgentConfig, settings: CoverageSettings, context: CoverageContext = NO_CONTEXT
    ) -> None:
        graph = Graph.from_flow(Flow.from_orchestration(config.orchestration))
        self._settings, self._context = settings, context
        self._tools = ToolTally(config.tools)
        self._paths = PathTally(graph, settings)
        self._states: Sightings[State] = Sightings()
        self._boundaries = BoundaryTally(config.tools)
        self._models = ModelTally(config, settings, context)
        self._graph = GraphTally(graph)
        self._rules = RuleTally(config, context)
        self._counts: Counter[str] = Counter()

    def add(self, scenario: str, trace: AgentTrace) -> None:
        """Take in one run of the unchanged agent."""
        self._counts[scenario] += 1
        self._states.add(scenario, set(states_of(trace)))
        tallies = (self._tools, self._paths, self._boundaries, self._models, self._graph, self._rules)
        for tally in tallies:
            tally.add(scenario, trace)

    def coverage(self, also: Iterable[str] = ()) -> Coverage:
        """Return the coverage of the runs so far; `also` names scenarios that may have none."""
        scale, how = _scale(self._states, self._settings, self._context)
        rules = self._rules.ruled()
        parts = (
            self._tools.part(),
            self._paths.part(),
            states_part(self._states, scale, how),
            self._boundaries.part(),
            self._models.part(),
            *self._graph.parts(),
            *rule_parts(rules, self._context),
        )
        rows = tuple(_wanted(part.row, self._settings) for part in parts)
        covered = {item: by for part in parts for item, by in part.covered.items()}
        counts = {**dict.fromkeys(also, 0), **self._counts}
        return Coverage(
            overall=_overall(rows),
            dimensions=rows,
            covered=tuple(covered),
            uncovered=tuple(item for part in parts for item in part.uncovered),
            scenarios=tuple(_attributed(covered, counts, self._context.scenarios)),
            rules=tuple(row for row, _ in rules),
            traces=self._counts.total(),
            states=scale if len(self._states) else None,
            left_out=tuple(each for part in parts for each in part.left_out),
            notes=tuple(note for part in parts for note in part.notes),
        )


def _scale(seen: Sightings[State], settings: CoverageSettings, context: CoverageContext) -> tuple[float, str]:
    """Return lambda, and its source."""
    if settings.states:
        return settings.states, "coverage.states"
    if context.calibrated:
        return context.calibrated, "the estimate of this config's first measurement"
    return expected_states(seen), "Chao1's estimate of all states from these traces"


def _wanted(row: DimensionCoverage, settings: CoverageSettings) -> DimensionCoverage:
    """Return the row with the settings for its dimension."""
    if row.dimension not in PAPER:
        return row
    weights: Mapping[str, float] = dict(settings.weights.items())
    targets: Mapping[str, float] = dict(settings.target.items())
    name = row.dimension.value
    return row.model_copy(update={"weight": weights.get(name, 1.0), "target": targets.get(name)})


def _overall(rows: Iterable[DimensionCoverage]) -> float | None:
    counted = [(row.value, row.weight) for row in rows if row.value is not None and row.weight]
    return overall_coverage([v for v, _ in counted], [w for _, w in counted]) if counted else None


def _attributed(
    covered: Mapping[CoverageItem, frozenset[str]], counts: Mapping[str, int], scenarios: Sequence[Scenario]
) -> Iterator[ScenarioCoverage]:
    names = dict.fromkeys((*(scenario.name for scenario in scenarios), *counts))
    own: dict[str, list[CoverageItem]] = {name: [] for name in names}
    alone: dict[str, list[CoverageItem]] = {name: [] for name in names}
    for item, by in covered.items():
        for name in by & own.keys():
            own[name].append(item)
            if len(by) == 1:
                alone[name].append(item)
    for name in names:
        yield ScenarioCoverage(
            scenario=name,
            traces=counts.get(name, 0),
            covered=tuple(own[name]),
            alone=tuple(alone[name]),
        )
