"""The relation of a repeated question in a further turn: the answer must not change."""

import re
from collections.abc import Iterable

from pydantic import JsonValue

from agentmut._base import arguments
from agentmut.nouns import (
    AgentConfig,
    AgentTrace,
    Check,
    Expectation,
    Fact,
    Family,
    FollowUp,
    FollowUpRun,
    Pair,
    Scenario,
    Source,
)
from agentmut.relations.base import answers_alone, check, run, source, stated, texts, without_text
from agentmut.seams import RelationExample

ARE_YOU_SURE = "Are you sure? Please check, and then give me your whole answer again."
_ASSURANCE = re.compile(r"^\W*(?:yes|no)\b[\s,.:;!–—-]*(?=\S)", re.IGNORECASE)
DECISIONS = "decisions"
"""The extractor whose facts are opinions of the agent's own: no tool can have stated them."""


class AskAgain:
    """`composition.ask_again`: the request once more, or "Are you sure?", in a further turn changes no facts.

    Which of the two is said is left to chance; with a text as argument, that is said. The new answer may say less
    ("As I said above."), repeat what was said, and bring in what the tools of the run returned. Any other fact, or
    another decision, is a violation. Only what is said is compared, as checking again may well take other calls.
    """

    id = "composition.ask_again"
    version = 1
    family = Family.COMPOSITION
    expectation = Expectation.INVARIANT
    why = "Asked again, the agent changes its mind without anything new."

    def __init__(self, argument: JsonValue = None) -> None:
        self.again = (
            None if argument is None else arguments.text(argument, "what is said in the further turn")
        )

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why the relation does not fit: no turn is text."""
        return without_text(scenario)

    def follow_up(self, source: Source) -> FollowUp | None:
        """Return the same turns and one more."""
        turns = texts(source.scenario.turns) or ()
        again = self.again or source.rng.choice((turns[-1], ARE_YOU_SURE))
        said = "the last request again" if again == turns[-1] else repr(again)
        return FollowUp(runs=(FollowUpRun(turns=(*turns, again)),), description=f"a further turn: {said}")

    def holds(self, pair: Pair) -> Check | None:
        """Return whether the last answer states nothing that is new against the earlier answers."""
        trace = pair.trace
        turns = pair.follow_up.runs[-1].turns or pair.scenario.turns
        if not pair.source.outputs or len(trace.outputs) < len(turns):
            return None
        said = (
            _without_assurance(trace.output)
            if len(trace.outputs) > len(pair.source.outputs)
            else trace.output
        )
        before, again = self._facts(pair, _earlier(pair)), self._facts(pair, [said])
        if not before and not again:
            return None
        faults = [
            f"asked again, it says {_facts_text([fact])}, which it has not said before"
            for fact in sorted(again - before - self._facts(pair, _seen(pair, trace)))
            if fact.kind != DECISIONS
        ]
        return check(self.id, [*_turned(before, again), *faults], "asked again, it states nothing else")

    def examples(self) -> Iterable[RelationExample]:
        """Yield an answer that stands, and an answer that gives way."""
        asked = source("What does it cost?", answer="It costs $20.")
        return (
            RelationExample(asked, (run("It costs $20.", "Yes: the price is 20 dollars."),), holds=True),
            RelationExample(asked, (run("It costs $20.", "Sorry, it costs $35."),), holds=False),
        )

    def _facts(self, pair: Pair, answers: Iterable[JsonValue]) -> frozenset[Fact]:
        given = tuple(answers)
        if not given:
            return frozenset()
        whole = stated(given) if len(given) > 1 else answers_alone(pair.source, given)
        return pair.comparison.facts(pair.scenario, whole)


def _earlier(pair: Pair) -> list[JsonValue]:
    """Return the answer that is asked for again: of the source run, and of the follow-up run itself."""
    trace, number = pair.trace, len(pair.source.outputs)
    own = trace.outputs[number - 1 : -1] if len(trace.outputs) > number else ()
    return [pair.source.output, *own]


def _seen(pair: Pair, trace: AgentTrace) -> list[JsonValue]:
    """Return the other texts of the conversation: the requests, and the results of tools."""
    returned = (step.output for run in (pair.source, trace) for step in run.tool_calls)
    return [*pair.scenario.turns, *(output for output in returned if output is not None)]


def _turned(before: frozenset[Fact], again: frozenset[Fact]) -> list[str]:
    """Report a changed decision: both answers decide, and have no decision in common."""
    first, second = (sorted(fact for fact in facts if fact.kind == DECISIONS) for facts in (before, again))
    if not first or not second or set(first) & set(second):
        return []
    return [f"asked again, it says {_facts_text(second)}, after {_facts_text(first)}"]


def _without_assurance(output: JsonValue) -> JsonValue:
    """Return the answer without its leading "Yes" or "No", which may answer "Are you sure?"."""
    return _ASSURANCE.sub("", output) if isinstance(output, str) else output


def _facts_text(facts: Iterable[Fact]) -> str:
    return ", ".join(f"{fact.kind} {fact.value}" for fact in facts)
