"""Coverage of stored traces: a pure function of traces, config and settings."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from agentmut.analysis.coverage.boundaries import Boundary, boundaries
from agentmut.analysis.coverage.graph import Graph
from agentmut.analysis.coverage.models import distinct_models, is_model
from agentmut.analysis.coverage.nouns import (
    PAPER,
    Coverage,
    CoverageItem,
    Dimension,
    DimensionCoverage,
    LeftOut,
    RuleCoverage,
    ScenarioCoverage,
)
from agentmut.analysis.coverage.paths import paths
from agentmut.analysis.coverage.rules import (
    LEXICAL_REACH,
    Rule,
    ablated,
    reaches,
    rule_coverage,
    rules_of,
)
from agentmut.analysis.coverage.seen import Seen, Traces
from agentmut.analysis.coverage.states import State, expected_states, states
from agentmut.config import AgentConfig
from agentmut.errors import UsageError, nearest
from agentmut.files.guidance import CoverageSettings
from agentmut.flow import Flow
from agentmut.frozen import canonical_json
from agentmut.result import MutantRow
from agentmut.scenario import Scenario
from agentmut.stats.coverage import overall_coverage, state_coverage
from agentmut.text.document import parse
from agentmut.text.position import position
from agentmut.tools import ToolSpec
from agentmut.trace import Action

Place = Callable[[int, int], tuple[str, int | None, int | None, int | None]]
"""Path, line, last line and column of the characters `start` to `end` of the prompt, as far as they are known."""


@dataclass(frozen=True)
class Beside:
    """What tells more than traces and config do. All of it may be left out."""

    scenarios: Sequence[Scenario] = ()
    """What was asked. Those without a trace are listed as covering nothing."""
    swap_models: Sequence[str] = ()
    """Models that the agent is meant to support besides its own, where the settings name none."""
    also_run: Mapping[str, Iterable[str]] = field(default_factory=dict)
    """By model: scenarios that were run with it by a mutant that puts it in."""
    place: Place | None = None
    """Where the rules are written; by their line in the prompt when left out."""
    mutants: Sequence[MutantRow] | None = None
    """Of a result on this config: what ablation says of the rules. None where there is none."""


class _Part(NamedTuple):
    """One dimension, measured: its row, and who covers its items."""

    row: DimensionCoverage
    covered: Mapping[CoverageItem, frozenset[str]] = {}
    uncovered: Sequence[CoverageItem] = ()
    left_out: Sequence[LeftOut] = ()
    notes: Sequence[str] = ()


def measure(
    traces: Traces, config: AgentConfig, settings: CoverageSettings, beside: Beside = Beside()
) -> Coverage:
    """What these runs have exercised of the agent that `config` describes.

    The weight of a dimension that the agent does not have goes to the others. Raises `UsageError` for a weight
    of something that is no dimension of the paper's, and for an orchestration that cannot be read.

    Tool, boundary, model and, with `settings.states` given, state never fall when traces are added
    (Theorem 4.1); path may, as the estimate of its total grows.
    """
    _check_names("weights", settings.weights)
    _check_names("target", settings.target)
    graph = Graph.of(Flow.of(config.orchestration))
    found = states(traces)
    scale = settings.states or expected_states(found)
    rules = _rules(traces, config, beside)
    parts = [
        _tools(traces, config.tools),
        _paths(traces, graph, settings),
        _states(found, scale, fixed=settings.states is not None),
        _boundaries(traces, config.tools),
        _models(traces, config, settings, beside),
        *_graph(traces, graph),
        *_instructions(rules, beside),
    ]
    parts = [_weighted(part, settings.weights) for part in parts]
    covered = {item: by for part in parts for item, by in part.covered.items()}
    return Coverage(
        overall=_overall([part.row for part in parts]),
        dimensions=tuple(part.row for part in parts),
        covered=tuple(covered),
        uncovered=tuple(item for part in parts for item in part.uncovered),
        scenarios=tuple(_attributed(covered, traces, beside.scenarios)),
        rules=tuple(row for row, _ in rules),
        traces=sum(map(len, traces.values())),
        states=scale if len(found) else None,
        left_out=tuple(each for part in parts for each in part.left_out),
        notes=tuple(note for part in parts for note in part.notes),
    )


def _check_names(key: str, given: Iterable[str]) -> None:
    known = [dimension.value for dimension in PAPER]
    for name in given:
        if name not in known:
            raise UsageError(f"coverage.{key}: {name!r} is no dimension. {nearest(name, known)}")


def _weighted(part: _Part, weights: Mapping[str, float]) -> _Part:
    if part.row.dimension not in PAPER:
        return part
    weight = weights.get(part.row.dimension.value, 1.0)
    return part._replace(row=part.row.model_copy(update={"weight": weight}))


def _overall(rows: Iterable[DimensionCoverage]) -> float | None:
    counted = [(row.value, row.weight) for row in rows if row.value is not None and row.weight]
    return overall_coverage([v for v, _ in counted], [w for _, w in counted]) if counted else None


def _row(dimension: Dimension, covered: int, total: float, basis: str) -> DimensionCoverage:
    value = min(1.0, covered / total)
    return DimensionCoverage(dimension=dimension, covered=covered, total=total, value=value, basis=basis)


def _none(dimension: Dimension, why: str, left_out: Sequence[LeftOut] = ()) -> _Part:
    row = DimensionCoverage(dimension=dimension, covered=0, total=None, value=None, basis=why)
    return _Part(row, left_out=left_out)


def _listed(dimension: Dimension, items: Iterable[tuple[CoverageItem, frozenset[str]]], basis: str) -> _Part:
    """A dimension whose items are all known beforehand."""
    known = dict(items)
    covered = {item: by for item, by in known.items() if by}
    row = _row(dimension, len(covered), len(known), basis)
    return _Part(row, covered, tuple(item for item in known if item not in covered))


def _tools(traces: Traces, tools: Sequence[ToolSpec]) -> _Part:
    names = tuple(dict.fromkeys(tool.own_name for tool in tools))
    if not names:
        return _none(Dimension.TOOL, "the agent has no tools")
    seen: Seen[str] = Seen()
    own = {tool.name: tool.own_name for tool in tools}
    for scenario, runs in traces.items():
        for trace in runs:
            seen.add(scenario, {own.get(name, name) for name in trace.tools_called})
    items = (
        (CoverageItem(dimension=Dimension.TOOL, name=name, tool=name), seen.shown_by(name)) for name in names
    )
    part = _listed(Dimension.TOOL, items, "the tools of the config")
    foreign = sorted(set(seen.scenarios) - set(names))
    note = f"called, but no tools of the config, so not counted: {', '.join(foreign)}"
    return part._replace(notes=(note,) if foreign else ())


def _paths(traces: Traces, graph: Graph, settings: CoverageSettings) -> _Part:
    seen, total, basis = paths(traces, graph, settings.depth)
    if not len(seen):
        return _none(Dimension.PATH, "no steps were recorded")
    covered = {
        CoverageItem(dimension=Dimension.PATH, name=" > ".join(path)): seen.shown_by(path)
        for path in seen.scenarios
    }
    return _Part(_row(Dimension.PATH, len(seen), total, basis), covered)


def _states(seen: Seen[State], scale: float, *, fixed: bool) -> _Part:
    if not len(seen):
        return _none(Dimension.STATE, "no steps were recorded")
    how = "coverage.states" if fixed else "calibrated: Chao1's estimate of all states, from these traces"
    row = DimensionCoverage(
        dimension=Dimension.STATE,
        covered=len(seen),
        total=scale,
        value=state_coverage(len(seen), scale),
        basis=f"1 - exp(-seen/lambda); lambda is {how}. As many as lambda give 0.63",
    )
    covered = {
        CoverageItem(dimension=Dimension.STATE, name=state.name): seen.shown_by(state)
        for state in seen.scenarios
    }
    return _Part(row, covered)


def _boundaries(traces: Traces, tools: Sequence[ToolSpec]) -> _Part:
    by_tool = {tool.own_name: boundaries(tool) for tool in tools}
    left_out = tuple(each for _, skipped in by_tool.values() for each in skipped)
    if not any(found for found, _ in by_tool.values()):
        why = "no parameter of a tool has a bounded domain" if tools else "the agent has no tools"
        return _none(Dimension.BOUNDARY, why, left_out=left_out)
    own = {tool.name: tool.own_name for tool in tools}
    seen = _boundaries_met(traces, {name: found for name, (found, _) in by_tool.items()}, own)
    items = (
        (boundary.item, seen.shown_by(boundary.item)) for found, _ in by_tool.values() for boundary in found
    )
    part = _listed(Dimension.BOUNDARY, items, "boundaries that the tools' JSON Schemas state")
    return part._replace(left_out=left_out)


def _boundaries_met(
    traces: Traces, by_tool: Mapping[str, Sequence[Boundary]], own: Mapping[str, str]
) -> Seen[CoverageItem]:
    """Each different call of a scenario is looked at once, and only for what the scenario does not show yet."""
    seen: Seen[CoverageItem] = Seen()
    for scenario, runs in traces.items():
        calls: set[tuple[str, str]] = set()
        lacking = {tool: list(found) for tool, found in by_tool.items()}
        for step in (step for trace in runs for step in trace.steps if step.tool):
            tool = own.get(step.tool or "", step.tool or "")
            if not lacking.get(tool) or (call := (tool, canonical_json(step.arguments or {}))) in calls:
                continue
            calls.add(call)
            met = [boundary for boundary in lacking[tool] if boundary.on(step.arguments or {})]
            seen.add(scenario, (boundary.item for boundary in met))
            lacking[tool] = [boundary for boundary in lacking[tool] if boundary not in met]
    return seen


def _models(traces: Traces, config: AgentConfig, settings: CoverageSettings, beside: Beside) -> _Part:
    own = config.model.name
    targets = distinct_models(settings.models or ((own, *beside.swap_models) if own else ()))
    if not targets:
        why = "the config names no model; say in coverage.models which ones the agent is meant to support"
        return _none(Dimension.MODEL, why)
    seen = _models_seen(traces, own, beside.also_run)
    items = (
        (
            CoverageItem(dimension=Dimension.MODEL, name=target),
            frozenset(s for name in seen.scenarios if is_model(target, name) for s in seen.scenarios[name]),
        )
        for target in targets
    )
    basis = "coverage.models" if settings.models else "its own model, and mutation.swap_models"
    part = _listed(Dimension.MODEL, items, basis)
    foreign = sorted(name for name in seen.scenarios if not any(is_model(t, name) for t in targets))
    note = f"models answered that are not among those meant to be supported: {', '.join(foreign)}"
    return part._replace(notes=(note,) if foreign else ())


def _models_seen(traces: Traces, own: str, also: Mapping[str, Iterable[str]]) -> Seen[str]:
    seen: Seen[str] = Seen()
    for scenario, runs in traces.items():
        for trace in runs:
            answered = {s.model or own for s in trace.steps if s.action is Action.REASON and not s.error}
            seen.add(scenario, answered - {""})
    for model, scenarios in also.items():
        for scenario in scenarios:
            seen.add(scenario, (model,))
    return seen


def _graph(traces: Traces, graph: Graph) -> Iterator[_Part]:
    if not graph.nodes:
        return
    nodes: Seen[str] = Seen()
    edges: Seen[tuple[str, str]] = Seen()
    for scenario, runs in traces.items():
        for trace in runs:
            nodes.add(scenario, graph.entered(trace))
            edges.add(scenario, graph.taken(trace))
    named = ((CoverageItem(dimension=Dimension.NODE, name=n), nodes.shown_by(n)) for n in graph.nodes)
    yield _listed(Dimension.NODE, named, "the nodes of the graph")
    if not graph.edges:
        return
    if not len(edges) and any(trace.steps for runs in traces.values() for trace in runs):
        yield _none(Dimension.EDGE, "the traces do not say which edges were taken")
        return
    joined = (
        (CoverageItem(dimension=Dimension.EDGE, name=f"{a} -> {b}"), edges.shown_by((a, b)))
        for a, b in graph.edges
    )
    yield _listed(Dimension.EDGE, joined, "the edges of the graph, branches and handoffs among them")


_Ruled = Sequence[tuple[RuleCoverage, frozenset[str]]]
"""The rules, and the scenarios whose words reach each."""


def _rules(traces: Traces, config: AgentConfig, beside: Beside) -> _Ruled:
    document = parse(config.prompt, config.tool_names)

    def in_prompt(start: int, end: int) -> tuple[str, int | None, int | None, int | None]:
        first, last = position(config.prompt, start), position(config.prompt, max(start, end - 1))
        return "prompt", first.line, last.line, first.column

    rules: tuple[Rule, ...] = rules_of(document, beside.place or in_prompt)
    reached = reaches(rules, traces, {scenario.name: scenario for scenario in beside.scenarios})
    rows = ablated(beside.mutants or ())
    found = []
    for rule in rules:
        by = reached.get(rule.item.name, [])
        near = frozenset(each.scenario for each in by if each.share >= LEXICAL_REACH)
        found.append((rule_coverage(rule, by, rows), near))
    return found


def _instructions(rules: _Ruled, beside: Beside) -> Iterator[_Part]:
    if not rules:
        yield _none(Dimension.RULE, "the prompt has no instructions")
        return
    yield _lexical(rules)
    yield _ablation(rules, beside)


def _lexical(rules: _Ruled) -> _Part:
    basis = f"rules of which one turn shares at least {LEXICAL_REACH:.0%} of the content words, by their stems".replace(
        "%", " %"
    )
    speaking = [(row, by) for row, by in rules if row.reach is not None]
    left_out = tuple(
        LeftOut(what=str(row.item), why="it has no content words") for row, _ in rules if row.reach is None
    )
    if not speaking:
        return _none(Dimension.RULE, "no rule has content words", left_out=left_out)
    part = _listed(Dimension.RULE, ((row.item, by) for row, by in speaking), basis)
    return part._replace(left_out=left_out)


def _ablation(rules: _Ruled, beside: Beside) -> _Part:
    if beside.mutants is None:
        return _none(Dimension.ABLATION, "no result of a run on this config: `agentmut run` makes one")
    tried = [row for row, _ in rules if row.ablation]
    if not tried:
        return _none(Dimension.ABLATION, "no mutant that drops or negates a rule was decided")
    killers = {row.id: frozenset(row.killed_by) for row in beside.mutants}
    items = {row.item.model_copy(update={"dimension": Dimension.ABLATION}): row for row in tried}
    shown = {item for item, row in items.items() if row.ablation in ("killed", "changed")}
    basis = f"rules of which a mutant lost or negated one and was decided, of {len(rules)} rules in all"
    row = _row(Dimension.ABLATION, len(shown), len(items), basis)
    covered = {
        item: frozenset(name for id in items[item].mutants for name in killers.get(id, ())) for item in shown
    }
    return _Part(row, covered, tuple(item for item in items if item not in shown))


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
