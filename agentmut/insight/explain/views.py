"""A run as proposals of assertions see it: its trace is read once and queried often."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from pydantic import JsonValue

from agentmut.insight.word_groups import whole_phrases
from agentmut.judging import structured, written_json
from agentmut.language import Figure, decisions, stated_figures
from agentmut.nouns import AgentTrace

ArgumentValue = tuple[str, str, str]
"""A tool, the name of an argument, and its value as JSON."""


@dataclass(frozen=True)
class View:
    """One trace."""

    trace: AgentTrace

    @cached_property
    def tools(self) -> tuple[str, ...]:
        """Return tools called, in order."""
        return self.trace.tools_called

    @cached_property
    def counts(self) -> Counter[str]:
        """Return how often each tool is called."""
        return Counter(self.tools)

    @cached_property
    def text(self) -> str:
        """Return the final answer."""
        return self.trace.text

    @cached_property
    def folded(self) -> str:
        """Return the answer in the form that `contains` compares."""
        return self.text.casefold()

    @cached_property
    def words(self) -> int:
        """Return the number of words of the answer."""
        return len(self.text.split())

    @cached_property
    def phrases(self) -> frozenset[str]:
        """Return the phrases of the answer that are cut within no group of words."""
        return whole_phrases(self.text)

    @cached_property
    def figures(self) -> Mapping[Figure, str]:
        """Return what the answer states in figures."""
        return stated_figures(self.text)

    @cached_property
    def decisions(self) -> frozenset[str]:
        """Return what the answer decides: `yes`, `no`, both or nothing."""
        output = self.trace.output
        return decisions(output) if isinstance(output, str) else frozenset()

    @cached_property
    def structured(self) -> JsonValue:
        """Return the answer as JSON; None if it is not JSON."""
        try:
            return structured(self.trace)
        except ValueError:
            return None

    @cached_property
    def fields(self) -> Mapping[str, JsonValue]:
        """Return the fields of an answer that is a mapping."""
        return self.structured if isinstance(self.structured, dict) else {}

    @cached_property
    def calls(self) -> tuple[tuple[str, Mapping[str, JsonValue]], ...]:
        """Return each call with its arguments."""
        return tuple((step.tool or "", step.arguments or {}) for step in self.trace.tool_calls)

    @cached_property
    def values(self) -> frozenset[ArgumentValue]:
        """Return the arguments of all calls."""
        return frozenset(
            (tool, name, written_json(value)) for tool, made in self.calls for name, value in made.items()
        )
