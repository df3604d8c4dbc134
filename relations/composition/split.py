"""The relations of a message with several requests and one message for each request."""

from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from agentmut._base import arguments
from agentmut.nouns import (
    AgentConfig,
    AgentTrace,
    Check,
    Expectation,
    Family,
    FollowUp,
    FollowUpRun,
    Pair,
    Scenario,
    Source,
)
from agentmut.relations.base import NoArgument, in_one_answer, run, source, texts, without_text
from agentmut.relations.composition.requests import asks, independent_requests, lean_on_each_other
from agentmut.seams import RelationExample, same_facts


class SplitRequest:
    """`composition.split_request`: a message with independent requests does what one message for each does.

    The facts and tool calls of the runs with one request each, taken together, must be those of the source run.
    Requests are found in the message; `{scenario: NAME, parts: [TEXT, ...]}` says them for one scenario.
    """

    id = "composition.split_request"
    version = 1
    family = Family.COMPOSITION
    expectation = Expectation.INVARIANT
    why = "Of several requests in one message, some are answered otherwise than alone, or not at all."

    def __init__(self, argument: JsonValue = None) -> None:
        self.scenario = ""
        self.parts: tuple[str, ...] = ()
        if argument is not None:
            given = arguments.mapping(argument, ("scenario", "parts"))
            self.scenario = arguments.text(given["scenario"], "the name of a scenario")
            self.parts = arguments.texts(given["parts"], "the requests, each as a text")
            if len(self.parts) < 2:
                raise ValueError(f"parts: expects at least two requests, got {given['parts']!r}")

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why the relation does not apply: the scenario is not one message with independent requests."""
        if self.scenario:
            return "" if scenario.name == self.scenario else f"the parts are those of {self.scenario!r}"
        if lack := without_text(scenario):
            return lack
        if len(scenario.turns) > 1:
            return "it has several turns"
        return (
            "" if self._requests(scenario) else "its message has no independent requests that could be split"
        )

    def follow_up(self, source: Source) -> FollowUp | None:
        """Return one run for each request."""
        requests = self._requests(source.scenario)
        runs = tuple(FollowUpRun(turns=(request,)) for request in requests)
        return (
            FollowUp(runs=runs, description=f"each of the {len(runs)} requests in a run of its own")
            if runs
            else None
        )

    def holds(self, pair: Pair) -> Check | None:
        """Return whether the runs together show the facts of the source run."""
        return _same_together(self.id, pair, [pair.source], pair.traces)

    def examples(self) -> Iterable[RelationExample]:
        """Return both answered, and one forgotten where both were asked."""
        turn = "What does shipping cost? How many days does delivery take?"
        alone = (run("Shipping costs $5."), run("Delivery takes 3 days."))
        whole = source(turn, answer="Delivery takes 3 days, and shipping is $5.")
        return (
            RelationExample(whole, alone, holds=True),
            RelationExample(source(turn, answer="Shipping costs $5."), alone, holds=False),
        )

    def _requests(self, scenario: Scenario) -> tuple[str, ...]:
        if self.parts:
            return self.parts
        turns = texts(scenario.turns) or ()
        found = independent_requests(turns[0]) if len(turns) == 1 else None
        return tuple(found.alone(number) for number in range(len(found.asked))) if found else ()


class MergeTurns(NoArgument):
    """`composition.merge_turns`: several independent turns do what one message with all of them does.

    The facts and tool calls of the conversation, taken together, must be those of the run with one message.
    """

    id = "composition.merge_turns"
    version = 1
    family = Family.COMPOSITION
    expectation = Expectation.INVARIANT
    why = "Requests that are put in one message are answered otherwise than one after the other."

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why the relation does not fit: the scenario has no independent turns."""
        if lack := without_text(scenario):
            return lack
        turns = texts(scenario.turns) or ()
        if len(turns) == 1:
            return "it has one turn"
        if lean_on_each_other(turns):
            return "its turns speak of what was said before"
        return "" if all(map(asks, turns)) else "not every turn of it asks something"

    def follow_up(self, source: Source) -> FollowUp | None:
        """Return one run with one turn."""
        merged = "\n\n".join(texts(source.scenario.turns) or ())
        return FollowUp(
            runs=(FollowUpRun(turns=(merged,)),),
            description=f"all {len(source.scenario.turns)} turns in one message",
        )

    def holds(self, pair: Pair) -> Check | None:
        """Return whether both sides show the same facts."""
        return _same_together(self.id, pair, [pair.source], pair.traces)

    def examples(self) -> Iterable[RelationExample]:
        """Return both answered in one, and one forgotten."""
        said = run("Shipping costs $5.", "Delivery takes 3 days.")
        asked = source("What does shipping cost?", "How many days does delivery take?", answer=said)
        return (
            RelationExample(asked, (run("It is $5, and takes 3 days."),), holds=True),
            RelationExample(asked, (run("Shipping is $5."),), holds=False),
        )


def _same_together(
    relation: str, pair: Pair, before: Sequence[AgentTrace], after: Sequence[AgentTrace]
) -> Check | None:
    """Return whether both sides, each joined into one run with one answer, show the same facts."""
    if not all(trace.outputs for trace in (*before, *after)):
        return None
    together = pair._replace(source=in_one_answer(before), traces=(in_one_answer(after),))
    return same_facts(relation, together)
