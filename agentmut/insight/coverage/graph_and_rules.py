"""Graph coverage and instruction coverage. Neither is part of the overall figure."""

from collections.abc import Iterator, Sequence

from agentmut._base import position
from agentmut.insight.coverage.context import CoverageContext
from agentmut.insight.coverage.flow_graph import Graph
from agentmut.insight.coverage.models import Part, listed, nothing, row_of
from agentmut.insight.coverage.nouns import CoverageItem, Dimension, LeftOut, RuleCoverage
from agentmut.insight.coverage.prompt_rules import (
    LEXICAL_REACH,
    Reach,
    Rule,
    ablated,
    rule_coverage,
    rules_of,
)
from agentmut.insight.coverage.sightings import Sightings, Traces, each_trace
from agentmut.language import parse
from agentmut.nouns import AgentConfig, AgentTrace, Flow


class GraphTally:
    """Nodes entered and edges taken, trace by trace; nothing for an agent without a graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._nodes: Sightings[str] = Sightings()
        self._edges: Sightings[tuple[str, str]] = Sightings()
        self._has_steps = False

    def add(self, scenario: str, trace: AgentTrace) -> None:
        """Count one trace."""
        if self._graph.nodes:
            self._nodes.add(scenario, self._graph.entered(trace))
            self._edges.add(scenario, self._graph.edges_taken(trace))
            self._has_steps = self._has_steps or bool(trace.steps)

    def parts(self) -> Iterator[Part]:
        """Yield the coverage of the traces so far."""
        if not self._graph.nodes:
            return
        named = (
            (CoverageItem(dimension=Dimension.NODE, name=n), self._nodes.shown_by(n))
            for n in self._graph.nodes
        )
        yield listed(Dimension.NODE, named, "the nodes of the graph")
        if not self._graph.edges:
            return
        if not len(self._edges) and self._has_steps:
            yield nothing(Dimension.EDGE, "the traces do not say which edges were taken")
            return
        joined = (
            (CoverageItem(dimension=Dimension.EDGE, name=f"{a} -> {b}"), self._edges.shown_by((a, b)))
            for a, b in self._graph.edges
        )
        yield listed(Dimension.EDGE, joined, "the edges of the graph, branches and handoffs among them")


def edges_never_taken(config: AgentConfig, traces: Traces) -> tuple[str, ...]:
    """Return the edges of the agent's flow that no run took; empty if the traces record no edges."""
    graph = Graph.from_flow(Flow.from_orchestration(config.orchestration))
    taken = set().union(*(graph.edges_taken(trace) for _, trace in each_trace(traces)))
    return tuple(f"{a} -> {b}" for a, b in graph.edges if (a, b) not in taken) if taken else ()


NO_WORDS = "no words of runs are kept (store.texts)"
Ruled = Sequence[tuple[RuleCoverage, frozenset[str]]]
"""The rules, and the scenarios whose words reach each."""


class RuleTally:
    """The rules of the prompt with the words that reach each, trace by trace."""

    def __init__(self, config: AgentConfig, context: CoverageContext) -> None:
        document = parse(config.prompt, config.tool_names)

        def in_prompt(start: int, end: int) -> tuple[str, int | None, int | None, int | None]:
            first, last = position(config.prompt, start), position(config.prompt, max(start, end - 1))
            return "prompt", first.line, last.line, first.column

        rules: tuple[Rule, ...] = rules_of(document, context.place or in_prompt)
        if context.wordless:
            rules = tuple(rule.without_words() for rule in rules)
        self._rules = rules
        self._rows = ablated(context.mutants or ())
        self._reach = Reach(rules, {scenario.name: scenario for scenario in context.scenarios})

    def add(self, scenario: str, trace: AgentTrace) -> None:
        """Count one trace."""
        self._reach.add(scenario, trace)

    def ruled(self) -> Ruled:
        """Return the rules, each with its coverage by the traces so far."""
        return [
            (rule_coverage(rule, self._reach.best(rule), self._rows), frozenset(self._reach.near(rule)))
            for rule in self._rules
        ]


def rule_parts(rules: Ruled, context: CoverageContext) -> Iterator[Part]:
    """Yield what the scenarios' words reach, and what ablation shows."""
    if not rules:
        yield nothing(Dimension.RULE, "the prompt has no instructions")
        return
    yield nothing(Dimension.RULE, NO_WORDS) if context.wordless else _lexical(rules)
    yield _ablation(rules, context)


def _lexical(rules: Ruled) -> Part:
    share = f"{LEXICAL_REACH:.0%}".replace("%", " %")
    basis = f"rules that share at least {share} of their content words (by stems) with one turn"
    speaking = [(row, by) for row, by in rules if row.reach is not None]
    left_out = tuple(
        LeftOut(what=str(row.item), why="it has no content words") for row, _ in rules if row.reach is None
    )
    if not speaking:
        return nothing(Dimension.RULE, "no rule has content words", left_out=left_out)
    part = listed(Dimension.RULE, ((row.item, by) for row, by in speaking), basis)
    return part._replace(left_out=left_out)


def _ablation(rules: Ruled, context: CoverageContext) -> Part:
    if context.mutants is None:
        return nothing(
            Dimension.ABLATION, "no campaign of this config has a result: `agentmut run` makes one"
        )
    tried = [row for row, _ in rules if row.ablation]
    if not tried:
        return nothing(Dimension.ABLATION, "no mutant that drops or negates a rule was decided")
    killers = {row.id: frozenset(row.killed_by) for row in context.mutants}
    items = {row.item.model_copy(update={"dimension": Dimension.ABLATION}): row for row in tried}
    shown = {item for item, row in items.items() if row.ablation in ("killed", "changed")}
    basis = (
        "rules whose loss or negation was killed or changed the behaviour, of the rules that a campaign has decided "
        f"(the prompt has {len(rules)})"
    )
    row = row_of(Dimension.ABLATION, len(shown), len(items), basis)
    covered = {
        item: frozenset(name for id in items[item].mutants for name in killers.get(id, ())) for item in shown
    }
    return Part(row, covered, tuple(item for item in items if item not in shown))
