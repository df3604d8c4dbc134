"""Evaluators of how the final output begins and ends."""

from abc import ABC, abstractmethod

from pydantic import JsonValue

from agentmut._base import arguments
from agentmut.judging.evaluators.json_values import shown
from agentmut.nouns import AgentTrace, Check, Scenario

AROUND = " \t\r\n\"'“”„«»‘’*_`#>.,;:!?"
"""Blanks, quotes, marks of emphasis and of the end of a sentence: what may stand around a text at the edge."""


def folded(text: str) -> str:
    """Return a text as edges are compared: without case, runs of blanks as one, without marks around it.

    >>> folded('**Kind  regards!**')
    'kind regards'
    """
    return " ".join(text.casefold().split()).strip(AROUND)


class _Edge(ABC):
    """One text, or several of which one is enough."""

    name: str

    def __init__(self, argument: JsonValue) -> None:
        self.texts = arguments.texts(argument, "a text, or a list of texts of which one is enough")
        for text in self.texts:
            if not folded(text):
                raise ValueError(f"expects a text with a letter or a digit in it, got {text!r}")

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Compare that end of the output."""
        text = self._found(trace.text)
        verb = self.name.replace("_", " ")
        wanted = " or ".join(map(repr, self.texts))
        reason = (
            f"output {verb} {text!r}"
            if text
            else f"expected an output that {verb} {wanted}: {shown(trace.text)}"
        )
        return Check(evaluator=self.name, passed=text is not None, reason=reason)

    def holds(self, output: str) -> bool:
        """Return whether an output passes."""
        return self._found(output) is not None

    def _found(self, output: str) -> str | None:
        edge = folded(output)
        return next((text for text in self.texts if self.is_at(edge, folded(text))), None)

    @abstractmethod
    def is_at(self, output: str, text: str) -> bool:
        """Return whether an output has a text at that edge; both are folded."""


class StartsWith(_Edge):
    """`starts_with: TEXT` or `[TEXT, ...]`: the output begins with one of these texts.

    Upper and lower case, the number of blanks, and quotes, emphasis and punctuation around the text are the same.
    """

    name = "starts_with"

    def is_at(self, output: str, text: str) -> bool:
        """Return whether the output begins so, with a whole word."""
        return output.startswith(text) and not output[len(text) : len(text) + 1].isalnum()


class EndsWith(_Edge):
    """`ends_with: TEXT` or `[TEXT, ...]`: the output ends with one of these texts.

    Upper and lower case, the number of blanks, and quotes, emphasis and punctuation around the text are the same.
    """

    name = "ends_with"

    def is_at(self, output: str, text: str) -> bool:
        """Return whether the output ends so, with a whole word."""
        return output.endswith(text) and not output[: -len(text)][-1:].isalnum()
