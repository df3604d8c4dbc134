"""Operators on the tools as the model is told of them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from agentmut.config import AgentConfig
from agentmut.mutant import Candidate, Edit, Intent, OperatorClass, Reach
from agentmut.operators.describe import quoted
from agentmut.protocols import Example, OperatorOptions
from agentmut.text import stems, words
from agentmut.tools import ToolSpec

_LOOK_UP = ToolSpec(name="look_up_order", description="Look up an order by its number.")
_REFUND = ToolSpec(name="issue_refund", description="Refund an order.")


class Remove:
    """One mutant per tool: it is no longer offered. The prompt still speaks of it."""

    id: ClassVar[str] = "tool.remove"
    version: ClassVar[int] = 1
    operator_class: ClassVar[OperatorClass] = OperatorClass.TOOL
    intent: ClassVar[Intent] = Intent.DEGRADE
    reach: ClassVar[Reach] = Reach.CALLED
    why: ClassVar[str] = "A tool is not registered: a lost import, a feature flag, a server that is down."

    def mutants(self, config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        """In the order of the tools."""
        for index, tool in enumerate(config.tools):
            yield Candidate(
                edits=(Edit(pointer=f"/tools/{index}", before=tool.model_dump(mode="json"), after=None),),
                description=f"remove the tool {tool.name}",
                anchor=tool.name,
                subject=tool.name,
            )

    def examples(self) -> Iterable[Example]:
        """The first tool goes."""
        yield Example(AgentConfig(tools=(_LOOK_UP, _REFUND)), AgentConfig(tools=(_REFUND,)))


class Reorder:
    """Two mutants: the tools in reverse, and with the first one last. For two tools these are the same."""

    id: ClassVar[str] = "tool.reorder"
    version: ClassVar[int] = 1
    operator_class: ClassVar[OperatorClass] = OperatorClass.TOOL
    intent: ClassVar[Intent] = Intent.PRESERVE
    reach: ClassVar[Reach] = Reach.SENT
    why: ClassVar[str] = "Registration order changes with imports, and models favour tools by position."

    def mutants(self, config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        """Reversed first."""
        tools = config.tools
        if len(tools) > 1:
            yield _reordered(tools, tools[::-1], "offer the tools in reverse order")
        if len(tools) > 2:
            yield _reordered(tools, (*tools[1:], tools[0]), "offer the first tool last")

    def examples(self) -> Iterable[Example]:
        """Back to front."""
        yield Example(AgentConfig(tools=(_LOOK_UP, _REFUND)), AgentConfig(tools=(_REFUND, _LOOK_UP)))


def _reordered(before: Sequence[ToolSpec], after: Sequence[ToolSpec], description: str) -> Candidate:
    old, new = ([tool.model_dump(mode="json") for tool in tools] for tools in (before, after))
    edit = Edit(pointer="/tools", before=old, after=new)
    return Candidate(edits=(edit,), description=description, anchor=description)


class MisleadDescription:
    """One mutant per tool: its description is another's, or says that it is out of use.

    The other tool is the one that shares most words with it, a mix-up that reads plausibly.
    """

    id: ClassVar[str] = "tool.mislead_description"
    version: ClassVar[int] = 1
    operator_class: ClassVar[OperatorClass] = OperatorClass.TOOL
    intent: ClassVar[Intent] = Intent.DEGRADE
    reach: ClassVar[Reach] = Reach.SENT
    why: ClassVar[str] = "Descriptions are copied from tool to tool, or stay behind when a tool changes."

    def mutants(self, config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        """In the order of the tools."""
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

    def examples(self) -> Iterable[Example]:
        """Two tools that both work on orders are mixed up."""
        mixed_up = _LOOK_UP.model_copy(update={"description": _REFUND.description})
        yield Example(AgentConfig(tools=(_LOOK_UP, _REFUND)), AgentConfig(tools=(mixed_up, _REFUND)))


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
