"""What the model is told that a tool does."""

from collections.abc import Iterator, Sequence

from agentmut.config import AgentConfig
from agentmut.mutant import Candidate, Edit
from agentmut.operator import operator
from agentmut.operators.describe import quoted
from agentmut.protocols import Example, OperatorOptions
from agentmut.text import stems, words
from agentmut.tools import ToolSpec

_LOOK_UP = ToolSpec(name="look_up_order", description="Look up an order by its number.")
_REFUND = ToolSpec(name="issue_refund", description="Refund an order.")
_MIXED_UP = _LOOK_UP.model_copy(update={"description": _REFUND.description})


@operator(
    "tool.mislead_description",
    why="Descriptions are copied from tool to tool, or stay behind when a tool changes.",
    examples=[Example(AgentConfig(tools=(_LOOK_UP, _REFUND)), AgentConfig(tools=(_MIXED_UP, _REFUND)))],
)
def mislead_description(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """One mutant per tool: its description is another's, or says that it is out of use.

    The other tool is the one that shares most words with it, a mix-up that reads plausibly.
    """
    vocabulary = [stems(f"{tool.name} {tool.description}") for tool in config.tools]
    for index, tool in enumerate(config.tools):
        said = _misleading(index, config.tools, vocabulary)
        pointer = f"/tools/{index}/description"
        yield Candidate(
            edits=(Edit(pointer=pointer, before=tool.description, after=said),),
            description=f"describe the tool {tool.name} as {quoted(said)}",
            anchor=tool.name,
            subject=tool.name,
        )


def _misleading(index: int, tools: Sequence[ToolSpec], vocabulary: Sequence[frozenset[str]]) -> str:
    def likeness(other: int) -> tuple[int, str]:
        return -len(vocabulary[index] & vocabulary[other]), tools[other].name

    described = (
        other
        for other, tool in enumerate(tools)
        if tool.description.strip() not in ("", tools[index].description)
    )
    nearest = min(described, key=likeness, default=None)
    return _out_of_use(tools[index].name) if nearest is None else tools[nearest].description


def _out_of_use(name: str) -> str:
    said = " ".join(word.text for word in words(name)) or name
    return f"Deprecated, do not call: {said} is done by the back office now."
