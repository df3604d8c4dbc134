"""The user leaves out one of the listed things: the answer keeps the others, and names no new thing."""

from collections.abc import Iterable
from typing import ClassVar

from pydantic import JsonValue

from agentmut.nouns import AgentConfig, Check, Expectation, Family, FollowUp, Pair, Scenario, Source
from agentmut.relations.base import NoArgument, check
from agentmut.relations.invariants import reworded
from agentmut.relations.listing import CHOICE, list_request, speaks_of_choice, things_named, things_of
from agentmut.relations.turns import lack_of_turns
from agentmut.seams import RelationExample, answer, example

_FEWEST = 3
"""Fewer things make no list of which one could be left out."""


class LeftOut(NoArgument):
    """The user asks for the same list without its first thing: the answer names the other things, and nothing new.

    The things are the identifiers that the source run names and the user does not, by the alphabet. An answer may
    name the thing that is left out, since it may say that it leaves it out. Requests for a choice, such as the first
    three or the cheapest, are left alone: another thing may move up.
    """

    id: ClassVar[str] = "perturbation.left_out"
    version: ClassVar[int] = 1
    family: ClassVar[Family] = Family.PERTURBATION
    expectation: ClassVar[Expectation] = Expectation.PREDICATE
    why: ClassVar[str] = (
        "A narrower request brings things that the wider one did not, or loses some that it keeps."
    )

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why nothing can be left out, in a phrase; empty where a run may list things."""
        if why := lack_of_turns(scenario):
            return why
        if list_request(scenario, config) is None:
            return "the request is not one turn that asks for a list"
        return CHOICE if speaks_of_choice(str(scenario.turns[0]), config.prompt) else ""

    def follow_up(self, source: Source) -> FollowUp | None:
        """Return the request without the first thing; None where the run lists fewer than three."""
        turn = list_request(source.scenario, source.config)
        listed = sorted(things_named(source.trace) - things_of(str(source.scenario.turns[0])))
        if turn is None or len(listed) < _FEWEST:
            return None
        dropped, *others = listed
        change = turn.with_sentence(f"Leave out {dropped}.", f"{dropped} left out")
        kept: list[JsonValue] = [*others]
        return reworded(source.scenario, turn, [change]).model_copy(
            update={"expected": {"kept": kept, "dropped": dropped}}
        )

    def holds(self, pair: Pair) -> Check | None:
        """Return whether the answer names what is kept, and nothing new."""
        given = pair.follow_up.expected.get("kept")
        kept = {str(one) for one in given} if isinstance(given, list) else set()
        allowed = (
            kept | things_of(str(pair.scenario.turns[0])) | {str(pair.follow_up.expected.get("dropped"))}
        )
        found = things_named(pair.trace)
        faults = [f"{one} is missing" for one in sorted(kept - found)]
        faults += [f"{one} is new" for one in sorted(found - allowed)]
        said = check(self.id, faults, "the others are named, and no new one")
        return said.model_copy(update={"reason": f"{pair.follow_up.description}: {said.reason}"})

    def examples(self) -> Iterable[RelationExample]:
        """Yield a list of orders without one of them."""
        asked = "Which orders are open?"
        told = answer("Open are A-1001, A-1002 and A-1003.")
        yield example(asked, told, answer("A-1002 and A-1003 are open."), True)
        yield example(asked, told, answer("A-1002 and A-1007 are open."), False)
