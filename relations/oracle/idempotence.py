"""The relation of idempotence: a transformed text stays the same the second time, A(A(x)) = A(x)."""

from collections.abc import Iterable

from pydantic import JsonValue

from agentmut._base import arguments, flat
from agentmut.language import Span
from agentmut.nouns import (
    AgentConfig,
    Check,
    Expectation,
    Family,
    FollowUp,
    FollowUpRun,
    Pair,
    Scenario,
    Source,
)
from agentmut.relations.base import answers_alone, check, run, source, texts, without_text
from agentmut.relations.oracle.transformed_text import text_after, transformed_text
from agentmut.seams import RelationExample, same_facts


class Idempotence:
    """`oracle.idempotence`: a text that the agent has transformed once stays as it is the second time.

    For requests to format, clean, correct, sort or summarise a text that stands in them: the answer is put in its
    place, and the new answer must state the same. `{after: TEXT}` says what the text follows in the request, for
    requests in other words.
    """

    id = "oracle.idempotence"
    version = 1
    family = Family.ORACLE
    expectation = Expectation.INVARIANT
    why = "A text that was transformed already is changed again: the first time was not finished, or loses something."

    def __init__(self, argument: JsonValue = None) -> None:
        self.after = ""
        if argument is not None:
            given = arguments.mapping(argument, ("after",))
            self.after = arguments.text(given["after"], "the words of the request that the text follows")

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why the relation does not fit: the request has no text to transform."""
        if lack := without_text(scenario):
            return lack
        if len(scenario.turns) > 1:
            return "it has several turns"
        if self._place(scenario) is not None:
            return ""
        return (
            f"its request has no text after {self.after!r}"
            if self.after
            else "its request does not have a text transformed"
        )

    def follow_up(self, source: Source) -> FollowUp | None:
        """Return the request with the answer in the place of the text."""
        place, answer = self._place(source.scenario), source.trace.output
        if place is None or not isinstance(answer, str) or not answer.strip():
            return None
        (turn,) = texts(source.scenario.turns) or ("",)
        turn = f"{turn[: place.start]}{answer.strip()}{turn[place.end :]}"
        return FollowUp(runs=(FollowUpRun(turns=(turn,)),), description="the answer in the place of the text")

    def holds(self, pair: Pair) -> Check | None:
        """Return whether both answers state the same."""
        if not pair.source.outputs or not pair.trace.outputs:
            return None
        if flat(pair.source.text) == flat(pair.trace.text):
            return check(self.id, [], "both answers are the same text")
        # The calls of tools may carry the text, which has changed.
        alone = pair._replace(
            source=answers_alone(pair.source), traces=tuple(map(answers_alone, pair.traces))
        )
        return same_facts(self.id, alone)

    def examples(self) -> Iterable[RelationExample]:
        """Yield a note that stays the same, and a note that loses its date."""
        asked = source(
            "Clean up this note: met on  3 May 2026, paid $20", answer="Met on 3 May 2026; paid $20."
        )
        return (
            RelationExample(asked, (run("Met on 3 May 2026. Paid $20."),), holds=True),
            RelationExample(asked, (run("Paid $20."),), holds=False),
        )

    def _place(self, scenario: Scenario) -> Span | None:
        turns = texts(scenario.turns) or ()
        if len(turns) != 1:
            return None
        return text_after(turns[0], self.after) if self.after else transformed_text(turns[0])
