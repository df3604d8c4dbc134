"""The relation of stricter limits: the answer lists nothing that the wider limit left out."""

import re
from collections.abc import Iterable
from typing import ClassVar, NamedTuple

from pydantic import JsonValue

from agentmut.nouns import AgentConfig, Check, Expectation, Family, FollowUp, Pair, Scenario, Source
from agentmut.relations.base import NoArgument, check
from agentmut.relations.invariants import reworded
from agentmut.relations.listing import (
    CHOICE,
    list_request,
    speaks_of_choice,
    things_affirmed,
    things_named,
    things_of,
)
from agentmut.relations.turns import Change, Turn, lack_of_turns
from agentmut.seams import RelationExample, answer, example

_AT_LEAST = r"over|above|more than|at least|older than|longer than"
_AT_MOST = r"under|below|less than|at most|up to|cheaper than|newer than|shorter than|within"
_UNIT = (
    r"euros?|dollars?|pounds?|EUR|USD|GBP|CHF|percent|%|kg|g|km|miles?|metres?|meters?|litres?|liters?|minutes?"
    r"|hours?|days?|weeks?|months?|years?|stars?"
)
_LIMIT = re.compile(
    rf"\b(?:(?P<least>{_AT_LEAST})|(?P<most>{_AT_MOST})) (?P<sign>[€$£]?)(?P<figure>\d{{1,6}}(?:\.\d{{1,2}})?)"
    rf"(?![\d,.]*\d)(?: ?(?P<unit>{_UNIT})(?!\w))?",
    re.I,
)


class _Limit(NamedTuple):
    start: int
    end: int
    figure: str
    rises: bool
    """Whether a higher figure is stricter."""

    @property
    def stricter(self) -> str:
        """Return the figure doubled or halved, with no more decimals than it needs."""
        value = float(self.figure) * (2 if self.rises else 0.5)
        return f"{value:.0f}" if value.is_integer() else f"{value:.2f}"


class StricterLimit(NoArgument):
    """The user asks with a stricter limit, over or under another figure: the new list is a part of the first list.

    The things are identifiers, and those in sentences with a denial do not count. The figure has a unit or a currency
    sign, so that "at most 3 orders" is no such limit. A shorter list, and an empty one, is no violation.
    """

    id: ClassVar[str] = "perturbation.stricter_limit"
    version: ClassVar[int] = 1
    family: ClassVar[Family] = Family.PERTURBATION
    expectation: ClassVar[Expectation] = Expectation.PREDICATE
    why: ClassVar[str] = "A stricter filter lets in what the wider one kept out: the agent does not filter."

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why no limit can be made stricter, in a phrase; empty where one can."""
        if why := lack_of_turns(scenario):
            return why
        turn = list_request(scenario, config)
        if turn is None or _limit(turn) is None:
            return "the request is not one turn that asks for a list under one limit with a unit"
        return CHOICE if speaks_of_choice(str(scenario.turns[0]), config.prompt) else ""

    def follow_up(self, source: Source) -> FollowUp | None:
        """Return the request with the limit doubled or halved; None where the run names nothing."""
        turn = list_request(source.scenario, source.config)
        found = _limit(turn) if turn else None
        named = things_named(source.trace) - things_of(str(source.scenario.turns[0]))
        if turn is None or found is None or not named:
            return None
        change = Change(found.start, found.end, found.stricter, f"{found.stricter} for {found.figure}")
        listed: list[JsonValue] = [*sorted(named)]
        return reworded(source.scenario, turn, [change]).model_copy(update={"expected": {"listed": listed}})

    def holds(self, pair: Pair) -> Check | None:
        """Return whether the answer affirms nothing that the source run did not name."""
        given = pair.follow_up.expected.get("listed")
        listed = {str(one) for one in given} if isinstance(given, list) else set()
        new = things_affirmed(pair.trace) - listed - things_of(str(pair.scenario.turns[0]))
        said = check(self.id, [f"{one} is new" for one in sorted(new)], "no new thing is named")
        return said.model_copy(update={"reason": f"{pair.follow_up.description}: {said.reason}"})

    def examples(self) -> Iterable[RelationExample]:
        """Yield orders over 50 euros, and then over 100."""
        asked = "Which orders are over 50 euros?"
        told = answer("Over 50 euros are A-1001, A-1002 and A-1003.")
        yield example(asked, told, answer("Only A-1002 is over 100 euros."), True)
        yield example(asked, told, answer("A-1002 and A-1007 are over 100 euros."), False)


def _limit(turn: Turn) -> _Limit | None:
    """Return the only limit with a unit or a currency sign; None where the turn has none, or several."""
    found = [one for one in _LIMIT.finditer(turn.text) if one["unit"] or one["sign"]]
    if len(found) != 1 or float(found[0]["figure"]) == 0:
        return None
    (one,) = found
    return _Limit(one.start("figure"), one.end("figure"), one["figure"], one["least"] is not None)
