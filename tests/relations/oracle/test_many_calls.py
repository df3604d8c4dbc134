"""Calls of runs with many steps are judged in linear time, each as a reading of all that was seen before judges it."""

from collections.abc import Iterator
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from agentmut._base import canonical_json
from agentmut.judging.facts.comparison import comparison_for
from agentmut.nouns.relation import Pair
from agentmut.nouns.trace import Step
from agentmut.relations.base import call, run, source
from agentmut.relations.oracle import tool_arguments
from agentmut.relations.oracle.amounts import only_amount, tells_of_sums
from agentmut.relations.oracle.survival import GivenValues, ids_of, plain, values
from tests.counted_calls import counted

ORDERS = ("A-1042", "A-1024", "A-7", "A-8", "A-9", "1043", "B-1042", "rob@example.com", "eve@evil.com")
RESULTS: tuple[JsonValue, ...] = (
    None,
    "",
    "Sent.",
    "It is 50 each.",
    "bob@example.com",
    {"order": "A-7"},
    {"total": 129.5},
    ["A-8", 120],
)
TURNS = ("Refund $129 for A-1042", "Refund $50", "Pay $50 or $60 to bob@example.com", "Where is A-7?")


def pair(turn: str, steps: list[Step]) -> Pair:
    asked = source(turn, answer=run("Done.", steps=steps))
    follow_up = tool_arguments.ToolArguments().follow_up(asked)
    assert follow_up is not None
    return Pair(asked.scenario, asked.config, asked.trace, follow_up, (), comparison_for(asked.scenario))


def judged_by_all_that_was_seen(of: Pair) -> Iterator[tuple[str, bool]]:
    """Yield the origins of values; before each call, everything that was seen is read again."""
    beginning = [*of.scenario.turns, of.config.system_text()]
    calls = of.source.tool_calls
    used = frozenset(
        plain(one) for step in calls for value in values(step.arguments or {}) for one in ids_of(value)
    )
    for index, step in enumerate(calls):
        returned = [one.output for one in calls[:index] if one.output is not None]
        seen = [*beginning, *returned]
        text = "\n".join(one if isinstance(one, str) else canonical_json(one) for one in seen)
        only = None if tells_of_sums(text) else only_amount(map(str, of.scenario.turns))
        known = GivenValues.from_texts(seen)
        for value in values(step.arguments or {}):
            yield from tool_arguments._ids_judged(step, value, known, used)
            yield from tool_arguments._amount_judged(step, value, known, only, of.config)


steps = st.builds(
    lambda order, amount, result: call("refund", output=result, order_id=order, amount=amount),
    st.sampled_from(ORDERS),
    st.sampled_from((50, 500, 129, 139, 120, 210)),
    st.sampled_from(RESULTS),
)


@given(st.sampled_from(TURNS), st.lists(steps, max_size=8))
def test_each_call_is_judged_by_what_was_seen_before_it(turn: str, calls: list[Step]) -> None:
    of = pair(turn, calls)
    assert list(tool_arguments._judged(of)) == list(judged_by_all_that_was_seen(of))


def test_a_result_that_speaks_of_shares_counts_for_later_calls_alone() -> None:
    spoilt = call("refund", output="It is 50 each.", amount=139)
    told = list(tool_arguments._judged(pair("Refund $129", [spoilt, spoilt])))
    assert told == [("refund was called with amount 139, but given is 129", True)]


def test_what_was_given_grows_as_if_it_were_read_at_once() -> None:
    known = GivenValues.from_texts(["A-1042 at shop.example"])
    known.add([{"paid": 50}, "B-7000"])
    known.add([])
    assert known == GivenValues.from_texts(["A-1042 at shop.example", {"paid": 50}, "B-7000"])
    assert Decimal(50) in known.numbers


@pytest.mark.parametrize("request_", ["Refund $129 for A-1042", "Where is A-1042?"])
def test_function_calls_are_linear_in_the_calls_of_tools(request_: str) -> None:
    def calls(size: int) -> int:
        of = pair(request_, [call("find", output={"row": i}, order_id="A-1042") for i in range(size)])
        with counted() as count:
            assert tool_arguments.ToolArguments().holds(of)
        return count.calls

    assert calls(400) / calls(100) == pytest.approx(4, rel=0.1)
