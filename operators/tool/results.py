"""What calls of a tool meet: failures, and results that are lost, damaged, outdated or late.

The model is told the same of its tools; the tool, or its double, does its work but for `result_error`,
`result_timeout` and `result_permission_denied`. Only tools whose calls the agent's adapter can intercept
have such mutants.
"""

from collections.abc import Iterator

from agentmut.nouns import AgentConfig, Candidate, Edit, FaultKind, Reach, ToolFault
from agentmut.operators.tool.samples import LOOK_UP, tools_example
from agentmut.seams import Example, OperatorOptions, operator


def _example(kind: FaultKind, seconds: float = 0.0) -> list[Example]:
    broken = LOOK_UP.model_copy(update={"fault": ToolFault(kind=kind, seconds=seconds)})
    return [tools_example((LOOK_UP,), (broken,))]


def _one_per_tool(config: AgentConfig, fault: ToolFault, description: str) -> Iterator[Candidate]:
    after = fault.model_dump(mode="json", exclude_defaults=True)
    for index, tool in enumerate(config.tools):
        before = tool.fault.model_dump(mode="json") if tool.fault else None
        yield Candidate(
            edits=(Edit(pointer=f"/tools/{index}/fault", before=before, after=after),),
            description=description.format(tool=tool.name),
            anchor=tool.name,
            subject=tool.own_name,
        )


@operator(
    "tool.result_error",
    why="The service behind a tool is down, or its client fails.",
    reach=Reach.CALLED,
    examples=_example(FaultKind.ERROR),
)
def result_error(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """One mutant per tool, in their order: every call raises an error of the service. Nothing is done."""
    yield from _one_per_tool(config, ToolFault(kind=FaultKind.ERROR), "{tool} raises an error")


@operator(
    "tool.result_timeout",
    why="The service behind a tool hangs, and the client gives up.",
    reach=Reach.CALLED,
    examples=_example(FaultKind.TIMEOUT),
)
def result_timeout(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """One mutant per tool: every call raises a timeout, at once so as not to cost time. Nothing is done."""
    yield from _one_per_tool(config, ToolFault(kind=FaultKind.TIMEOUT), "{tool} times out")


@operator(
    "tool.result_empty",
    why="An index is being rebuilt, a filter is too narrow, a query has a typo.",
    reach=Reach.CALLED,
    examples=_example(FaultKind.EMPTY),
)
def result_empty(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """One mutant per tool: every result is empty, of the kind that it has."""
    yield from _one_per_tool(config, ToolFault(kind=FaultKind.EMPTY), "{tool} returns an empty result")


@operator(
    "tool.result_truncated",
    why="Pages and size limits cut results, and nobody asks for the rest.",
    reach=Reach.CALLED,
    examples=_example(FaultKind.TRUNCATED),
)
def result_truncated(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """One mutant per tool: of every result the first half of its items, fields or characters."""
    fault = ToolFault(kind=FaultKind.TRUNCATED)
    yield from _one_per_tool(config, fault, "{tool} returns the first half of its result")


@operator(
    "tool.result_stale",
    why="A cache answers with the result of an earlier call.",
    reach=Reach.REPEATED,
    examples=_example(FaultKind.STALE),
)
def result_stale(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """One mutant per tool: the second and later calls of a run are given the first one's result."""
    fault = ToolFault(kind=FaultKind.STALE)
    yield from _one_per_tool(config, fault, "{tool} returns its first result again and again")


@operator(
    "tool.result_wrong_entity",
    why="A wrong key in a join or a cache brings another customer's data.",
    reach=Reach.CALLED,
    examples=_example(FaultKind.WRONG_ENTITY),
)
def result_wrong_entity(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """One mutant per tool: numbers, identifiers, addresses and days are another's of the same form."""
    fault = ToolFault(kind=FaultKind.WRONG_ENTITY)
    yield from _one_per_tool(config, fault, "{tool} returns the data of another entity")


@operator(
    "tool.result_permission_denied",
    why="A token expires, or a role loses a right.",
    reach=Reach.CALLED,
    examples=_example(FaultKind.PERMISSION_DENIED),
)
def result_permission_denied(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """One mutant per tool: every call is answered that it is not permitted. Nothing is done."""
    fault = ToolFault(kind=FaultKind.PERMISSION_DENIED)
    yield from _one_per_tool(config, fault, "{tool} answers that permission is denied")


@operator(
    "tool.result_malformed",
    why="A response is cut on its way, or a service answers with half a document.",
    reach=Reach.CALLED,
    examples=_example(FaultKind.MALFORMED),
)
def result_malformed(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """One mutant per tool: every result is text, JSON that breaks off in the middle."""
    yield from _one_per_tool(config, ToolFault(kind=FaultKind.MALFORMED), "{tool} returns malformed JSON")


@operator(
    "tool.result_slow",
    why="A service is under load, or moves to another region.",
    reach=Reach.CALLED,
    examples=_example(FaultKind.SLOW, seconds=3.0),
)
def result_slow(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """One mutant per tool: every result is right, but `slow_seconds` late.

    A suite notices with `max_seconds`, an agent with timeouts of its own.
    """
    fault = ToolFault(kind=FaultKind.SLOW, seconds=options.slow_seconds)
    late = f"{{tool}} returns its result {options.slow_seconds:g} s late"
    yield from _one_per_tool(config, fault, late)
