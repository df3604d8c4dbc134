"""A day that the user names is moved: calls must move with it."""

import re
from collections.abc import Iterable
from datetime import date, timedelta
from typing import ClassVar

from pydantic import JsonValue

from agentmut._base import canonical_json
from agentmut.language import days
from agentmut.nouns import (
    Action,
    AgentConfig,
    AgentTrace,
    Check,
    Expectation,
    Family,
    FollowUp,
    Pair,
    Scenario,
    Source,
    ToolSpec,
)
from agentmut.relations.base import NoArgument
from agentmut.relations.invariants import reworded
from agentmut.relations.turns import Change, Turn, lack_of_turns, turns_of
from agentmut.seams import RelationExample, answer, example

_WHOLE_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_WEEKS = (1, 2, 3)
"""The day of the week stays, so that what is open on one day is open on the other."""


class TimeShift(NoArgument):
    """The only day that the user names is moved by whole weeks: a call that had the day must have the later day.

    Calls with neither day say nothing: the later day may be taken, and an agent may ask first.
    """

    id: ClassVar[str] = "perturbation.time_shift"
    version: ClassVar[int] = 1
    family: ClassVar[Family] = Family.PERTURBATION
    expectation: ClassVar[Expectation] = Expectation.PREDICATE
    why: ClassVar[str] = (
        "The agent acts for a day that the user did not name: the day is fixed, or remembered."
    )

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why no day can be moved, in a phrase; empty where one can."""
        if why := lack_of_turns(scenario):
            return why
        if not config.tools:
            return "the agent has no tools"
        return "" if _dated(scenario, config) else "the user does not name exactly one day with its year"

    def follow_up(self, source: Source) -> FollowUp | None:
        """Return the day moved by one to three weeks; None where no call of the run has it."""
        found = _dated(source.scenario, source.config)
        if not found:
            return None
        turn, day, start, end = found
        if day.isoformat() not in _days_of_calls(source.trace):
            return None
        later = day + timedelta(weeks=source.rng.choice(_WEEKS))
        written = (
            later.isoformat() if turn.text[start].isdigit() and "-" in turn.text[start:end] else _long(later)
        )
        change = Change(start, end, written, f"{written} for {turn.text[start:end]}")
        days_: dict[str, JsonValue] = {"before": day.isoformat(), "after": later.isoformat()}
        return reworded(source.scenario, turn, [change]).model_copy(update={"expected": days_})

    def holds(self, pair: Pair) -> Check | None:
        """Return whether calls have the later day; None where they have neither."""
        before, after = (str(pair.follow_up.expected.get(key)) for key in ("before", "after"))
        called = _days_of_calls(pair.trace)
        if before not in called and after not in called:
            return None
        passed = after in called
        what = f"a call has {after}" if passed else f"a call still has {before}, and none has {after}"
        return Check(evaluator=self.id, passed=passed, reason=f"{pair.follow_up.description}: {what}")

    def examples(self) -> Iterable[RelationExample]:
        """Yield a table that is booked for the later day, and one that is not."""
        config = AgentConfig(tools=(ToolSpec(name="book_table"),))
        asked = "Please book a table for 3 March 2026."
        told = answer("Your table is booked.", ("book_table", {"day": "2026-03-03"}))
        # The first example's chance moves the day by one week.
        later = answer("Your table is booked.", ("book_table", {"day": "2026-03-10"}))
        yield example(asked, told, later, True, config)
        yield example(asked, told, told, False, config)


def _long(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def _dated(scenario: Scenario, config: AgentConfig) -> tuple[Turn, date, int, int] | None:
    """Return the only day that the turns name, and where it stands; None where there are none or several."""
    if not all(isinstance(said, str) for said in scenario.turns):
        return None
    named = [day for said in scenario.turns for day in days(str(said))]
    if len(named) != 1 or not _WHOLE_DAY.fullmatch(named[0].value):
        return None
    for turn in turns_of(scenario, config):
        for found in days(turn.text):
            return turn, date.fromisoformat(found.value), found.span.start, found.span.end
    return None


def _days_of_calls(trace: AgentTrace) -> frozenset[str]:
    """Return the days in the arguments of a run's calls, as ISO dates."""
    calls = (canonical_json(step.arguments) for step in trace.steps if step.action is Action.CALL_TOOL)
    return frozenset(day.value for text in calls for day in days(text))
