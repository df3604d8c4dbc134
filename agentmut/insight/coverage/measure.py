"""Coverage of stored traces: a pure function of traces, config and settings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from agentmut.insight.coverage.context import CoverageContext
from agentmut.insight.coverage.dimensions import (
    boundaries_part,
    models_part,
    paths_part,
    states_part,
    tools_part,
)
from agentmut.insight.coverage.flow_graph import Graph
from agentmut.insight.coverage.graph_and_rules import graph_parts, rule_parts, ruled
from agentmut.insight.coverage.nouns import PAPER, Coverage, CoverageItem, DimensionCoverage, ScenarioCoverage
from agentmut.insight.coverage.sightings import Seen, Traces
from agentmut.insight.coverage.states import State, expected_states, states
from agentmut.nouns import AgentConfig, Flow, Scenario
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
    graph = Graph.of(Flow.of(config.orchestration))
    found = states(traces)
    scale, how = _scale(found, settings, context)
    rules = ruled(traces, config, context)
    parts = (
        tools_part(traces, config.tools),
        paths_part(traces, graph, settings),
        states_part(found, scale, how),
        boundaries_part(traces, config.tools),
        models_part(traces, config, settings, context),
        *graph_parts(traces, graph),
        *rule_parts(rules, context),
    )
    rows = tuple(_wanted(part.row, settings) for part in parts)
    covered = {item: by for part in parts for item, by in part.covered.items()}
    return Coverage(
        overall=_overall(rows),
        dimensions=rows,
        covered=tuple(covered),
        uncovered=tuple(item for part in parts for item in part.uncovered),
        scenarios=tuple(_attributed(covered, traces, context.scenarios)),
        rules=tuple(row for row, _ in rules),
        traces=sum(map(len, traces.values())),
        states=scale if len(found) else None,
        left_out=tuple(each for part in parts for each in part.left_out),
        notes=tuple(note for part in parts for note in part.notes),
    )


def _scale(seen: Seen[State], settings: CoverageSettings, context: CoverageContext) -> tuple[float, str]:
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
    covered: Mapping[CoverageItem, frozenset[str]], traces: Traces, scenarios: Sequence[Scenario]
) -> Iterator[ScenarioCoverage]:
    names = dict.fromkeys((*(scenario.name for scenario in scenarios), *traces))
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
            traces=len(traces.get(name, ())),
            covered=tuple(own[name]),
            alone=tuple(alone[name]),
        )
