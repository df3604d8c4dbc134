"""Read from a run which tools it called, and with which arguments."""

from collections.abc import Iterator
from typing import ClassVar

from pydantic import JsonValue

from agentmut._base import arguments
from agentmut.language.extractors.leaves import leaves
from agentmut.language.extractors.value_facts import stated, together
from agentmut.nouns import AgentTrace, Fact, Scenario, Step


class _Calls:
    name: ClassVar[str]

    def __init__(self, argument: JsonValue = None) -> None:
        self.only = (
            None
            if argument is None
            else frozenset(arguments.texts(argument, "a tool's name, or a list of names"))
        )

    def facts(self, scenario: Scenario, trace: AgentTrace) -> frozenset[Fact]:
        """Return the calls of the run. Neither order nor repetition makes a difference."""
        steps = [step for step in trace.tool_calls if step.tool and self._counts(step.tool)]
        return frozenset(Fact(self.name, value) for step in steps for value in self._values(step))

    def _counts(self, tool: str) -> bool:
        return self.only is None or tool in self.only

    def _values(self, step: Step) -> Iterator[str]:
        yield step.tool or ""


class Tools(_Calls):
    """`tools`: the names of the tools that were called. The argument lists the only tools that count."""

    name: ClassVar[str] = "tools"


class ToolCalls(_Calls):
    """`tool_calls`: the tools that were called, each argument of a call, and the arguments of a call together.

    Numbers, dates, ids and short texts count by value; text of more than three words (reasons, messages) only by
    the numbers, dates and ids in it. Argument: the only tools that count.
    """

    name: ClassVar[str] = "tool_calls"

    def _values(self, step: Step) -> Iterator[str]:
        yield step.tool or ""
        found = [*_arguments(step)]
        yield from (f"{step.tool} {value}" for value in found)
        if len(found) > 1:
            yield f"{step.tool}({', '.join(sorted(found))})"


def _arguments(step: Step) -> Iterator[str]:
    for pointer, value in leaves(step.arguments or {}):
        if value is not None and pointer:  # an optional argument that is left out is often sent as null
            yield from stated(pointer.removeprefix("/"), value)
    for name, given in (step.arguments or {}).items():
        yield from together(name, given)
