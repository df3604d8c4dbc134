"""The relation of round trips: a text that is translated or converted, and back, is the same."""

from collections.abc import Iterable
from typing import ClassVar

from pydantic import JsonValue

from agentmut._base import arguments, flat
from agentmut.judging import Comparison
from agentmut.nouns import (
    AgentConfig,
    Check,
    Comparer,
    Expectation,
    Family,
    FollowUp,
    FollowUpRun,
    Pair,
    Scenario,
    Source,
)
from agentmut.relations.base import answers_alone, check, run, source, stated, texts, without_text
from agentmut.relations.oracle.transformed_text import text_after
from agentmut.seams import HasExampleArgument, RelationExample


class RoundTrip(HasExampleArgument):
    """`oracle.round_trip: {there: TEXT, back: TEXT}`: a text that is changed and changed back is the first text.

    `there` are the words of a scenario's request that the text follows ("Translate into German:"), and `back` is the
    request that undoes it ("Translate into English:"). The answer is sent back with `back` before it, and what comes
    must state the facts of the text; with `exact: true` it must be the text, but for white space. A text that states
    no facts, such as amounts, dates, ids, can only be compared exactly.
    """

    id = "oracle.round_trip"
    version = 1
    family = Family.ORACLE
    expectation = Expectation.PREDICATE
    why = "Something is lost or added on the way there or back."
    example_argument: ClassVar[JsonValue] = {
        "there": "Translate into German:",
        "back": "Translate into English:",
    }

    def __init__(self, argument: JsonValue = None) -> None:
        given = arguments.mapping(argument, ("there", "back"), ("exact",))
        self.there = arguments.text(given["there"], "there: the words of the request that the text follows")
        self.back = arguments.text(given["back"], "back: the request that undoes it")
        exact = given.get("exact", False)
        if not isinstance(exact, bool):
            raise ValueError(f"exact: expects true or false, got {exact!r}")
        self.exact = exact

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why the relation does not apply: the request has no text after `there`."""
        if lack := without_text(scenario):
            return lack
        if len(scenario.turns) > 1:
            return "it has several turns"
        return "" if self._text(scenario) else f"its request has no text after {self.there!r}"

    def follow_up(self, source: Source) -> FollowUp | None:
        """Return the answer, sent back."""
        answer = source.trace.output
        if not self._text(source.scenario) or not isinstance(answer, str) or not answer.strip():
            return None
        turn = f"{self.back} {answer.strip()}"
        return FollowUp(runs=(FollowUpRun(turns=(turn,)),), description=f"sent back with {self.back!r}")

    def holds(self, pair: Pair) -> Check | None:
        """Return whether the text came back; None if this is unknowable."""
        text = self._text(pair.scenario)
        if not text or not pair.trace.outputs:
            return None
        if flat(text) == flat(pair.trace.text):
            return check(self.id, [], "the text came back as it was")
        if self.exact:
            return check(self.id, [f"what came back is another text: {pair.trace.text!r:.160}"], "")
        begun, ended = stated([text]), answers_alone(pair.trace)
        # What is usual of answers says nothing of the text, and neither does the distance of two texts.
        kinds = (one for one in pair.comparison.extractors if not isinstance(one, Comparer))
        comparison = Comparison(tuple(kinds))
        if not comparison.facts(pair.scenario, begun):
            return None
        return check(self.id, comparison.differences(pair.scenario, begun, ended), "the facts came back")

    def examples(self) -> Iterable[RelationExample]:
        """Yield an amount that comes back, and an amount that does not."""
        asked = source(
            f"{self.there} Pay $120 by 3 May 2026.", answer="Zahlen Sie bis zum 3. Mai 2026 120 Dollar."
        )
        return (
            RelationExample(asked, (run("Pay 120 dollars by 3 May 2026."),), holds=True),
            RelationExample(asked, (run("Pay 112 dollars by 3 May 2026."),), holds=False),
        )

    def _text(self, scenario: Scenario) -> str:
        turns = texts(scenario.turns) or ()
        place = text_after(turns[0], self.there) if len(turns) == 1 else None
        return turns[0][place.start : place.end] if place else ""
