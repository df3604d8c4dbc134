"""Read which of a list of named options an answer mentions."""

import re
from collections.abc import Iterator
from typing import ClassVar

from pydantic import JsonValue

from agentmut._base import arguments
from agentmut.language.vocabulary.polarity import NEGATORS, clauses
from agentmut.nouns import AgentTrace, Fact, Scenario

_DENIED_AFTER = re.compile(
    r"^[^\w]*(?:\w+\s+){0,3}?(?:is|are|was|were|be|does|do|has|have|can|will)\s+(?:currently\s+|also\s+)?not\b|"
    r"^\W*(?:\w+\s+){0,3}?(?:is|are)\s+(?:un|im)\w+able\b",
    re.IGNORECASE,
)


class Options:
    """`options: [gold, silver]`: the options that an answer names, as whole words in any case.

    A negated mention is another fact: `not express`.
    """

    name: ClassVar[str] = "options"

    def __init__(self, argument: JsonValue = None) -> None:
        self.options = arguments.texts(argument, "a list of options, such as [gold, silver]")

    def facts(self, scenario: Scenario, trace: AgentTrace) -> frozenset[Fact]:
        """Return the options named in any answer."""
        texts = [output for output in trace.outputs if isinstance(output, str)]
        return frozenset(Fact(self.name, value) for text in texts for value in self._named(text))

    def _named(self, text: str) -> Iterator[str]:
        for clause in clauses(text):
            for option in self.options:
                whole = rf"(?<![\w-]){re.escape(option)}(?![\w-])"
                for match in re.finditer(whole, clause.text, re.IGNORECASE):
                    negated = _negated(clause.text[: match.start()], clause.text[match.end() :])
                    yield f"not {option.lower()}" if negated else option.lower()


def _negated(before: str, after: str) -> bool:
    near = [word.lower() for word in re.findall(r"\w+", before)]
    return sum(word in NEGATORS for word in near) % 2 == 1 or _DENIED_AFTER.match(after) is not None
