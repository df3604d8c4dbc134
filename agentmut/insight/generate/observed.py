"""Evaluators proposed from an agent's observed behaviour. They are guesses: the behaviour may be wrong."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from pydantic import JsonValue

from agentmut._base import canonical_json
from agentmut.insight.coverage.flow_graph import Graph
from agentmut.insight.generate.proposal_material import whole
from agentmut.insight.generate.user_wording import shown
from agentmut.judging import build
from agentmut.language import facts, stems
from agentmut.nouns import AgentConfig, AgentTrace, EvaluatorSpec, Flow, Scenario
from agentmut.seams import Catalogue, Group

STEPS = "max_steps"
"""What is proposed where nothing else is stable: on its own it says next to nothing."""
MOST_FACTS = 2
MOST_NODES = 2
SLACK = 2
"""The limit of steps, where nothing else is stable: so many times the longest run seen."""


def proposed_evaluators(
    scenario: Scenario,
    traces: Sequence[AgentTrace],
    config: AgentConfig,
    least: float,
    catalogue: Catalogue | None = None,
) -> tuple[EvaluatorSpec, ...]:
    """Return what held, all together, in at least the share `least` of these runs: tools and their order, arguments,
    tools that were spoken of and not called, figures of the answer, nodes that the flow chose. A limit of steps
    where nothing did.

    Raises `ValueError` without runs.
    """
    if not traces:
        raise ValueError("evaluators are proposed from at least one run.")
    said = whole(scenario.turns)
    usual = [trace for trace in traces if _shape(trace) == Counter(map(_shape, traces)).most_common(1)[0][0]]
    candidates = [
        *_calls(usual),
        *_arguments(said, usual),
        *_not_called(said, traces, config),
        *_facts(said, usual),
        *_nodes(usual, config),
    ]
    return holding(candidates, scenario, traces, least, catalogue)


def holding(
    specs: Iterable[EvaluatorSpec],
    scenario: Scenario,
    traces: Sequence[AgentTrace],
    least: float,
    catalogue: Catalogue | None = None,
) -> tuple[EvaluatorSpec, ...]:
    """Return the first of these evaluators that hold together in at least this share of the runs; else a limit of
    steps.
    """
    kept: list[EvaluatorSpec] = []
    passing = list(traces)
    catalogue = catalogue or Catalogue.from_group(Group.EVALUATORS)
    for spec in specs:
        evaluator = build(spec, catalogue)
        still = [trace for trace in passing if evaluator.evaluate(scenario, trace).passed]
        if len(still) >= least * len(traces):
            kept, passing = [*kept, spec], still
    if kept:
        return tuple(kept)
    longest = max((len(trace.steps) for trace in traces), default=1)
    return (EvaluatorSpec(name=STEPS, argument=SLACK * max(1, longest)),)


def _shape(trace: AgentTrace) -> tuple[str, ...]:
    """Return the tools of a run, which distinguish usual runs from an odd one."""
    return tuple(dict.fromkeys(trace.tools_called))


def _calls(traces: Sequence[AgentTrace]) -> Iterator[EvaluatorSpec]:
    first = tuple(dict.fromkeys(traces[0].tools_called))
    always = [tool for tool in first if all(tool in trace.tools_called for trace in traces)]
    orders = {tuple(t for t in dict.fromkeys(trace.tools_called) if t in always) for trace in traces}
    if len(always) > 1 and len(orders) == 1:
        yield EvaluatorSpec(name="tool_order", argument=list[JsonValue](always))
    else:
        yield from (EvaluatorSpec(name="tool_called", argument=tool) for tool in always)


def _arguments(text: str, traces: Sequence[AgentTrace]) -> Iterator[EvaluatorSpec]:
    """Yield arguments of a tool's first call that are equal in all runs, and are figures or part of the input."""
    for tool in dict.fromkeys(traces[0].tools_called):
        calls = [_first_call(trace, tool) for trace in traces]
        stable = {
            name: value
            for name, value in calls[0].items()
            if all(name in call and canonical_json(call[name]) == canonical_json(value) for call in calls)
            and _means_something(value, text)
        }
        if stable:
            yield EvaluatorSpec(name="tool_called_with", argument={"tool": tool, "arguments": stable})


def _first_call(trace: AgentTrace, tool: str) -> dict[str, JsonValue]:
    return next((step.arguments or {} for step in trace.tool_calls if step.tool == tool), {})


def _means_something(value: JsonValue, text: str) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= 60 and value.lower() in text.lower()
    return isinstance(value, int | float)


def _not_called(text: str, traces: Sequence[AgentTrace], config: AgentConfig) -> Iterator[EvaluatorSpec]:
    """Yield tools that the input names and that no run called."""
    called = {tool for trace in traces for tool in trace.tools_called}
    about = stems(text)
    for tool in config.tools:
        named = stems(tool.own_name)
        if tool.own_name not in called and named and named <= about:
            yield EvaluatorSpec(name="tool_not_called", argument=tool.own_name)


def _nodes(traces: Sequence[AgentTrace], config: AgentConfig) -> Iterator[EvaluatorSpec]:
    """Yield the last nodes after a branch or a hand-off that all runs entered."""
    flow = Flow.from_orchestration(config.orchestration)
    graph = Graph.from_flow(flow)
    chosen = {end for branch in flow.branches for end in branch.ends.values()}
    chosen |= {end for called in flow.handoffs.values() for end in called.values()}
    always = graph.entered(traces[0]).intersection(*map(graph.entered, traces)) & chosen
    named = [node for node in graph.nodes if node in always]
    yield from (
        EvaluatorSpec(name="expression", argument=f"{node!r} in nodes") for node in named[-MOST_NODES:]
    )


def _facts(input_text: str, traces: Sequence[AgentTrace]) -> Iterator[EvaluatorSpec]:
    """Yield figures of all the answers that the input does not state."""
    asked = input_text.lower()
    stated = [text[f.span.start : f.span.end] for text in [traces[0].text] for f in facts(text)]
    common = [
        fact
        for fact in dict.fromkeys(stated)
        if fact.lower() not in asked and all(fact in trace.text for trace in traces)
    ]
    yield from (EvaluatorSpec(name="contains", argument=shown(fact)) for fact in common[:MOST_FACTS])
