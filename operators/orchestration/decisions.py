"""Operators on decisions of the flow: branches and hand-offs lead elsewhere."""

from collections.abc import Iterator, Mapping, Sequence

from agentmut.nouns import END, AgentConfig, Candidate, Flow, Reach
from agentmut.operators.orchestration.flows import entered, flow_edit, flow_example
from agentmut.seams import OperatorOptions, operator

_NO_HANDOFFS = "the agent has no hand-offs that its adapter can change"
_TRIAGE: dict[str, str] = {"money": "billing", "other": "tech"}


@operator(
    "orchestration.reroute_branch",
    why="A new case is added to a routing table, and an old one is mapped to the wrong place.",
    reach=Reach.RAN,
    examples=[
        flow_example(
            {"branches": [{"source": "triage", "name": "route", "ends": {**_TRIAGE}}]},
            {"branches": [{"source": "triage", "name": "route", "ends": {**_TRIAGE, "money": "tech"}}]},
        )
    ],
    lack="the agent has no branches that its adapter can change",
)
def reroute_branch(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per label of a branch: it leads where the next label leads to another place does."""
    for index, branch in enumerate(Flow.from_orchestration(config.orchestration).branches):
        for label, target in branch.ends.items():
            other = _next(list(branch.ends.values()), target)
            if other is not None:
                place = ("branches", index, "ends", label)
                yield Candidate(
                    edits=(flow_edit(*place, before=target, after=other),),
                    description=f"after {branch.source}, let {label!r} lead to {other} instead of {target}",
                    anchor=f"{branch.source} {branch.name} {label}",
                    subject=entered(branch.source),
                )


@operator(
    "orchestration.drop_handoff",
    why="A hand-off tool is not registered with one of the agents, so that the case stays where it is.",
    reach=Reach.RAN,
    examples=[
        flow_example(
            {"handoffs": {"triage": {"to_billing": "billing"}}},
            {"handoffs": {"triage": {}}},
        )
    ],
    lack=_NO_HANDOFFS,
)
def drop_handoff(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per hand-off to a node: it leads nowhere."""
    for node, name, target in _handoffs(Flow.from_orchestration(config.orchestration).handoffs):
        yield Candidate(
            edits=(flow_edit("handoffs", node, name, before=target, after=None),),
            description=f"drop the hand-off from {node} to {target}{_called(name, target)}",
            anchor=f"{node} {name}",
            subject=node,
        )


@operator(
    "orchestration.misdirect_handoff",
    why="A hand-off is copied from another one, and its target is not changed.",
    reach=Reach.RAN,
    examples=[
        flow_example(
            {"handoffs": {"triage": {"to_billing": "billing", "to_tech": "tech"}}},
            {"handoffs": {"triage": {"to_billing": "tech", "to_tech": "tech"}}},
        )
    ],
    lack=_NO_HANDOFFS,
)
def misdirect_handoff(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per hand-off: it leads where the next of that node does, or to another node if it has none."""
    flow = Flow.from_orchestration(config.orchestration)
    for node, name, target in _handoffs(flow.handoffs):
        others = [other for other in flow.handoffs[node].values() if other != END]
        away = _next(others, target) or next((n for n in flow.nodes if n not in (node, target)), None)
        if away is not None:
            yield Candidate(
                edits=(flow_edit("handoffs", node, name, before=target, after=away),),
                description=f"hand over from {node} to {away} instead of {target}{_called(name, target)}",
                anchor=f"{node} {name}",
                subject=node,
            )


def _handoffs(handoffs: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, str, str]]:
    """Yield node, name and target of each hand-off; where one ends the run, there is nothing to hand over."""
    for node, targets in handoffs.items():
        for name, target in targets.items():
            if target != END:
                yield node, name, target


def _called(name: str, target: str) -> str:
    return f" ({name})" if name != target else ""


def _next(targets: Sequence[str], target: str) -> str | None:
    """Return the first target that differs after `target`, or from the beginning."""
    place = targets.index(target)
    return next((other for other in (*targets[place:], *targets[:place]) if other != target), None)
