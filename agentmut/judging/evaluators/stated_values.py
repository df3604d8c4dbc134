"""Evaluators of the figures or the decision that an answer states, whatever the wording."""

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from agentmut._base import arguments
from agentmut.judging.evaluators.json_values import shown
from agentmut.language import NO, YES, Decisions, stated_figures
from agentmut.nouns import AgentTrace, Check, Scenario


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
    figures = stated_figures(text)
    if not figures:
        raise ValueError(
            f"expects a number, best with its unit, a date, a time or an identifier, got {text!r}"
        )
    yield from figures


class Decides:
    """`decides: yes` or `no`: the final answer grants, affirms or can; or it refuses, denies or cannot.

    Other decisions by their terms: `{terms: {approved: [approve, refund], denied: [reject]}, is: approved}`. Wording
    makes no difference, negation does: `cannot be approved` is a `no`, and with two decisions a negated term of one
    speaks for the other. With one decision, or three and more, it may also be asked for `not approved`. An answer
    that decides both ways, or nothing, fails.
    """

    def __init__(self, argument: JsonValue) -> None:
        self.decisions, names, self.wanted = _decisions_of(argument)
        denied = self.wanted.removeprefix(NOT)
        others = (name for name in names if name != self.wanted)
        self.rivals = {denied} if denied != self.wanted else {NOT + self.wanted, *others}

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Read the decisions of the answer."""
        found = self.decisions.decided_in(trace.output) if isinstance(trace.output, str) else frozenset()
        passed = self.wanted in found and self.rivals.isdisjoint(found)
        said = " and ".join(sorted(found)) or "nothing"
        reason = f"output decides {said}"
        if not passed:
            reason += f", expected {self.wanted}: {shown(trace.text)}"
        return Check(evaluator="decides", passed=passed, reason=reason)


NOT = "not "


def _decisions_of(argument: JsonValue) -> tuple[Decisions, tuple[str, ...], str]:
    """Return how decisions are read, which decisions exist, and which one is asked for."""
    if isinstance(argument, dict):
        given = arguments.mapping(argument, ("terms", "is"))
        if not isinstance(given["terms"], Mapping):
            raise ValueError(
                f"expects terms such as {{approved: [approve], denied: [reject]}}, got {given['terms']!r}"
            )
        decisions, names, asked = Decisions(given["terms"]), tuple(given["terms"]), given["is"]
    else:
        decisions, names, asked = Decisions(), (YES, NO), argument
    if isinstance(asked, bool):  # yes and no without quotes are true and false to some readers of YAML
        asked = YES if asked else NO
    possible = names if len(names) == 2 else (*names, *(NOT + name for name in names))
    if not isinstance(asked, str) or asked not in possible:
        raise ValueError(f"expects one of {', '.join(possible)}, got {asked!r}")
    return decisions, names, asked
