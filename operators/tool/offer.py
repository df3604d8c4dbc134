"""Which tools the model is offered, and in which order."""

from collections.abc import Iterator, Sequence

from agentmut.config import AgentConfig
from agentmut.mutant import Candidate, Edit, Intent, Reach
from agentmut.operator import operator
from agentmut.protocols import Example, OperatorOptions
from agentmut.tools import ToolSpec

_LOOK_UP = ToolSpec(name="look_up_order", description="Look up an order by its number.")
_REFUND = ToolSpec(name="issue_refund", description="Refund an order.")


@operator(
    "tool.remove",
    why="A tool is not registered: a lost import, a feature flag, a server that is down.",
    reach=Reach.CALLED,
    examples=[Example(AgentConfig(tools=(_LOOK_UP, _REFUND)), AgentConfig(tools=(_REFUND,)))],
)
def remove(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """One mutant per tool, in their order: it is no longer offered. The prompt still speaks of it."""
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
    examples=[Example(AgentConfig(tools=(_LOOK_UP, _REFUND)), AgentConfig(tools=(_REFUND, _LOOK_UP)))],
)
def reorder(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Two mutants: the tools in reverse, and with the first one last. For two tools these are the same."""
    tools = config.tools
    if len(tools) > 1:
        yield _reordered(tools, tools[::-1], "offer the tools in reverse order")
    if len(tools) > 2:
        yield _reordered(tools, (*tools[1:], tools[0]), "offer the first tool last")


def _reordered(before: Sequence[ToolSpec], after: Sequence[ToolSpec], description: str) -> Candidate:
    old, new = ([tool.model_dump(mode="json") for tool in tools] for tools in (before, after))
    edit = Edit(pointer="/tools", before=old, after=new)
    return Candidate(edits=(edit,), description=description, anchor=description)
