"""Operators on the edges of the flow."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from agentmut.nouns import END, START, AgentConfig, Candidate, Edit, Effect, Flow, Intent, Reach
from agentmut.operators.orchestration.flows import FlowEdges, edge_edit, entered, flow_edit, flow_example
from agentmut.seams import OperatorOptions, operator


@operator(
    "orchestration.remove_edge",
    effect=Effect.REWIRES,
    why="A connection is lost when a flow is rearranged, and the run ends early without an error.",
    reach=Reach.RAN,
    examples=[
        flow_example(
            {"edges": [["draft", "review"], ["review", "__end__"]]}, {"edges": [["review", "__end__"]]}
        )
    ],
    lack="the agent has no edges that its adapter can change",
)
def remove_edge(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per edge: it leads nowhere. Edges to the end stay, as the run would end there all the same."""
    for index, edge in enumerate(Flow.from_orchestration(config.orchestration).edges):
        *sources, target = edge
        if target != END:
            yield Candidate(
                edits=(edge_edit(index, edge, None),),
                description=f"do not go on from {' and '.join(sources)} to {target}",
                anchor=" ".join(edge),
                subject=entered(sources[0]),
            )


@operator(
    "orchestration.swap_agents",
    effect=Effect.REWIRES,
    why="Two steps of a pipeline are put in the wrong order when one of them is inserted.",
    reach=Reach.RAN,
    examples=[
        flow_example(
            {"edges": [["__start__", "draft"], ["draft", "review"], ["review", "__end__"]]},
            {"edges": [["__start__", "review"], ["review", "draft"], ["draft", "__end__"]]},
        )
    ],
    lack="no two nodes of the agent follow one another without a branch, as far as its adapter can tell",
)
def swap_agents(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per two nodes in a row: they trade places.

    In a row means that the first goes nowhere else, that nothing else leads to the second, and that neither
    decides itself where the run goes on.
    """
    flow = Flow.from_orchestration(config.orchestration)
    ways = FlowEdges(flow)
    for index, edge in enumerate(flow.edges):
        if len(edge) == 2 and _in_a_row(*edge, index, ways):
            first, second = edge
            yield Candidate(
                edits=tuple(_traded(flow, ways, {first: second, second: first})),
                description=f"run {second} before {first}",
                anchor=f"{first} {second}",
                subject=first,
            )


@operator(
    "orchestration.serialise_branches",
    effect=Effect.REWIRES,
    why="Parallel steps are put one after the other to get around a limit of requests or a race.",
    intent=Intent.PRESERVE,
    reach=Reach.RAN,
    examples=[
        flow_example(
            {"edges": [["ask", "one"], ["ask", "two"], ["one", "join"], ["two", "join"]]},
            {"edges": [["ask", "one"], ["one", "two"], ["two", "join"]]},
        )
    ],
    lack="the agent has no parallel branches that its adapter can change",
)
def serialise_branches(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per stretch of single nodes side by side: they run one after the other, in their order.

    The same work is done and arrives in the same order, so an agent that minds depends on timing, or on its
    branches not seeing each other's results: it is asked to be robust against that.
    """
    flow = Flow.from_orchestration(config.orchestration)
    for source, target, members in _parallel(flow, FlowEdges(flow)):
        names = list(members)
        yield Candidate(
            edits=tuple(_chained(flow, members, target)),
            description=f"run {', '.join(names)} one after the other instead of side by side",
            anchor=" ".join([source, *names, target]),
            subject=names[1],
        )


def _in_a_row(first: str, second: str, index: int, ways: FlowEdges) -> bool:
    if first == START or second in (END, first):
        return False
    alone = ways.into[second] == [index] and second not in ways.chosen and second not in ways.deciding
    return alone and ways.only_edge(ways.out[first], first) == index


def _traded(flow: Flow, ways: FlowEdges, names: Mapping[str, str]) -> Iterator[Edit]:
    """Yield the edits that swap two nodes wherever edges and decisions lead."""
    for index in sorted({i for name in names for i in (*ways.into[name], *ways.out[name])}):
        edge = flow.edges[index]
        yield edge_edit(index, edge, [names.get(node, node) for node in edge])
    for index, branch in enumerate(flow.branches):
        for label, target in branch.ends.items():
            if target in names:
                yield flow_edit("branches", index, "ends", label, before=target, after=names[target])
    for node, targets in flow.handoffs.items():
        for name, target in targets.items():
            if target in names:
                yield flow_edit("handoffs", node, name, before=target, after=names[target])


class _Member(NamedTuple):
    """A node between a fork and a join: the edges that lead into and out of it."""

    into: int
    out: int


def _parallel(flow: Flow, ways: FlowEdges) -> Iterator[tuple[str, str, dict[str, _Member]]]:
    """Yield fork, join and the nodes between them, for every stretch of single nodes side by side."""
    for source in list(ways.out):
        forks: defaultdict[tuple[str, ...], dict[str, _Member]] = defaultdict(dict)
        for into in ways.out[source]:
            member = flow.edges[into][-1]
            out = ways.only_edge(ways.out[member], member)
            if len(flow.edges[into]) == 2 and ways.into[member] == [into] and out is not None:
                forks[_join(flow, out)][member] = _Member(into, out)
        for (*waiting, target), members in forks.items():
            whole = not waiting or set(waiting) == set(members)
            if len(members) > 1 and whole and target != source and not ways.chosen.intersection(members):
                yield source, target, members


def _join(flow: Flow, out: int) -> tuple[str, ...]:
    """Return the key of a join: its target and, where the join waits for its sources, the sources."""
    edge = flow.edges[out]
    return edge if len(edge) > 2 else edge[-1:]


def _chained(flow: Flow, members: Mapping[str, _Member], target: str) -> Iterator[Edit]:
    names: Sequence[str] = list(members)
    for before, name in pairwise(names):
        into = members[name].into
        yield edge_edit(into, flow.edges[into], [before, name])
    outs = sorted({member.out for member in members.values()})
    if len(outs) == 1:
        yield edge_edit(outs[0], flow.edges[outs[0]], [names[-1], target])
        return
    for name in names[:-1]:
        out = members[name].out
        yield edge_edit(out, flow.edges[out], None)
