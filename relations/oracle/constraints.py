"""The relation of limits: an answer keeps the limits in its request."""

from collections.abc import Iterable

from pydantic import JsonValue

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
from agentmut.relations.base import check, source, without_text
from agentmut.relations.oracle.answer_limits import Limits, given_limits, stated_limits
from agentmut.seams import RelationExample

_NONE = Limits()


class ConstraintPreservation:
    """`oracle.constraints`: an answer keeps the limits that its request states.

    Read are the most words, sentences and characters, words and topics that are not to be mentioned, phrases that must
    be said, and the language. Without an argument only the source run is looked at, at no cost. With one, such as
    `{max_words: 50, forbidden: [price], required: ["Kind regards"], language: German}` (also `max_sentences` and
    `max_characters`), the demands are added to the last request in a further run, and that run's last answer must keep
    them.
    """

    id = "oracle.constraints"
    version = 2
    family = Family.ORACLE
    expectation = Expectation.PREDICATE
    why = "A limit that the user states for the answer is not kept."

    def __init__(self, argument: JsonValue = None) -> None:
        self.given = None if argument is None else given_limits(argument)

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why the relation does not apply: no request states a limit, or none can be repeated."""
        if self.given is not None:
            return without_text(scenario)
        return (
            ""
            if _stated(scenario)
            else "no request states a limit, a forbidden topic, a phrase or a language"
        )

    def follow_up(self, source: Source) -> FollowUp | None:
        """Return nothing, or the last request with the demands added."""
        if self.given is None:
            return FollowUp(description="the limits that requests state")
        *earlier, last = source.scenario.turns
        said = self.given.instruction()
        return FollowUp(
            runs=(FollowUpRun(turns=(*earlier, f"{last}\n{said}")),), description=f"added: {said}"
        )

    def holds(self, pair: Pair) -> Check | None:
        """Return whether the answers keep the demands; None without an answer in words."""
        outputs = pair.trace.outputs
        last = len(pair.scenario.turns) - 1
        demands = _stated(pair.scenario) if self.given is None else {last: self.given}
        judged = {
            limits: said
            for turn, limits in demands.items()
            if isinstance(said := _answer(outputs, turn), str)
        }
        if not judged:
            return None
        return check(
            self.id,
            [fault for limits, said in judged.items() for fault in limits.faults(said)],
            "all limits are kept",
        )

    def examples(self) -> Iterable[RelationExample]:
        """Return a limit of words, kept and not."""
        turn = "What is the plan? Answer in at most 5 words."
        return (
            RelationExample(source(turn, answer="It is the Plus plan."), (), holds=True),
            RelationExample(source(turn, answer="It is the plan that we call Plus."), (), holds=False),
        )


def _answer(outputs: tuple[JsonValue, ...], turn: int) -> JsonValue:
    return outputs[turn] if turn < len(outputs) else None


def _stated(scenario: Scenario) -> dict[int, Limits]:
    """Return the demands of each turn that states some."""
    read = {
        number: stated_limits(turn) for number, turn in enumerate(scenario.turns) if isinstance(turn, str)
    }
    return {number: limits for number, limits in read.items() if limits != _NONE}
