"""Which tools the model is offered, and in which order."""

from collections.abc import Iterator, Sequence

from agentmut.nouns import AgentConfig, Candidate, Edit, Effect, Intent, Reach, ToolSpec
from agentmut.operators.tool.example_tools import LOOK_UP, REFUND, tools_example
from agentmut.seams import OperatorOptions, operator


@operator(
    "tool.remove",
    effect=Effect.DROPS_TOOL,
    why="A tool is not registered: a lost import, a feature flag, a server that is down.",
    reach=Reach.CALLED,
    examples=[tools_example((LOOK_UP, REFUND), (REFUND,))],
)
def remove(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per tool, in their order: it is no longer offered. The prompt still speaks of it."""
    for index, tool in enumerate(config.tools):
        yield Candidate(
            edits=(Edit(pointer=f"/tools/{index}", before=tool.model_dump(mode="json"), after=None),),
            description=f"remove the tool {tool.name}",
            anchor=tool.name,
            subject=tool.name,
        )


@operator(
    "tool.reorder",
    why="Registration order changes with imports, and models favour tools by position.",
    intent=Intent.PRESERVE,
    examples=[tools_example((LOOK_UP, REFUND), (REFUND, LOOK_UP))],
)
def reorder(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield two mutants: the tools in reverse, and with the first one last. For two tools these are the same."""
    tools = config.tools
    if len(tools) > 1:
        yield _reordered(tools, tools[::-1], "offer the tools in reverse order")
    if len(tools) > 2:
        yield _reordered(tools, (*tools[1:], tools[0]), "offer the first tool last")


def _reordered(before: Sequence[ToolSpec], after: Sequence[ToolSpec], description: str) -> Candidate:
    old, new = ([tool.model_dump(mode="json") for tool in tools] for tools in (before, after))
    edit = Edit(pointer="/tools", before=old, after=new)
    return Candidate(edits=(edit,), description=description, anchor=description)
