"""The evaluator of what an answer states in figures, whatever the wording."""

from collections.abc import Iterator

from pydantic import JsonValue

from agentmut.evaluators import arguments
from agentmut.evaluators.values import shown
from agentmut.facts.stated import stated_figures
from agentmut.scenario import Scenario
from agentmut.trace import AgentTrace, Check


class States:
    """`states: "30 days"` or `["30 days", "$89.90"]`: the final answer states each of these figures.

    Amounts of money, quantities, dates, times and identifiers. How they are written makes no difference:
    `$1,200.00` is `1200 dollars`, `five days` is `5 days`, and `31 May` is stated where a year is given too.
    """

    def __init__(self, argument: JsonValue) -> None:
        texts = arguments.texts(argument, "a figure such as '30 days', or a list of them")
        self.wanted = {figure: text for text in texts for figure in _figures(text)}

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Read the figures of the answer."""
        found = stated_figures(trace.text)
        missing = [text for figure, text in self.wanted.items() if figure not in found]
        reason = f"output states {', '.join(self.wanted.values())}"
        if missing:
            said = ", ".join(found.values()) or "no figure"
            reason = f"output does not state {', '.join(missing)}; it states {said}: {shown(trace.text)}"
        return Check(evaluator="states", passed=not missing, reason=reason)


def _figures(text: str) -> Iterator[tuple[str, str]]:
    found = stated_figures(text)
    if not found:
        raise ValueError(
            f"expects a number, best with its unit, a date, a time or an identifier, got {text!r}"
        )
    yield from found
