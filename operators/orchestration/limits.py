"""Operators on the length of a run, and on retries of a failed step."""

from collections.abc import Iterator

from agentmut.nouns import AgentConfig, Candidate, Edit, Flow, Reach
from agentmut.operators.orchestration.flows import flow_edit, flow_example
from agentmut.seams import OperatorOptions, operator

_CUTS = ((2, 10), (4, 4))
"""Which part of the limit is left, and how much at most: the limits of frameworks are in the thousands."""

_FRAMEWORK_DEFAULT = 1000
"""Limits from here on are the defaults of frameworks."""


@operator(
    "orchestration.cut_max_steps",
    why="A limit against endless loops is set on simple cases, and the long ones run into it.",
    reach=Reach.RAN,
    examples=[flow_example({"max_steps": 25}, {"max_steps": 10})],
    lack="the agent has no limit of steps that its adapter can change",
)
def cut_max_steps(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield two mutants: half the steps, ten at most, and a quarter, four at most. A single step is left alone."""
    limit = Flow.from_orchestration(config.orchestration).max_steps or 1
    for cut in dict.fromkeys(min(limit // part, most) for part, most in _CUTS):
        if cut:
            yield Candidate(
                edits=(flow_edit("max_steps", before=limit, after=cut),),
                description=f"stop a run after {cut} step{'s' if cut > 1 else ''} instead of {_limit_text(limit)}",
                anchor="max_steps",
            )


@operator(
    "orchestration.disable_retry",
    why="A retry is lost in a refactoring, and nobody notices while the services behind it are well.",
    reach=Reach.RAN,
    examples=[flow_example({"retries": {"fetch": 2, "draft": 0}}, {"retries": {"fetch": 0, "draft": 0}})],
    lack="the agent has no retries that its adapter can change",
)
def disable_retry(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per node that is tried again, or one for all nodes: a failure is final."""
    retries = Flow.from_orchestration(config.orchestration).retries
    if isinstance(retries, int):
        if retries:
            yield _once(flow_edit("retries", before=retries, after=0), "", "a step")
        return
    for node, times in retries.items():
        if times:
            yield _once(flow_edit("retries", node, before=times, after=0), node, f"the node {node}")


def _limit_text(limit: int) -> str:
    """Return the limit in words. A number of four digits is a default that nobody has set."""
    return str(limit) if limit < _FRAMEWORK_DEFAULT else "the framework's own limit"


def _once(edit: Edit, node: str, description: str) -> Candidate:
    return Candidate(
        edits=(edit,), description=f"do not try {description} again when it fails", anchor=node, subject=node
    )
