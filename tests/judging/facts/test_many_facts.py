"""The difference between runs with thousands of facts is told in time that is linear in their number."""

import pytest

from agentmut.judging.facts.phrases import phrases
from agentmut.nouns import Fact
from tests.counted_calls import counted


@pytest.mark.parametrize("value", ["/{} = {}", "look_up_{}(row={})", "look_up_{} {}"])
def test_the_difference_of_many_facts(value: str) -> None:
    kind = "json" if "=" in value and "(" not in value else "tool_calls"

    def calls(size: int) -> int:
        left, right = (frozenset(Fact(kind, value.format(i, said)) for i in range(size)) for said in "12")
        with counted() as count:
            assert len(phrases(left, right)) == 13
        return count.calls

    assert calls(800) / calls(200) == pytest.approx(4, rel=0.1)


def test_many_fields_that_became_others_are_told_and_counted() -> None:
    left, right = (frozenset(Fact("json", f"/{i:03} = {said}") for i in range(100)) for said in "ab")
    first, *_, last = phrases(left, right)
    assert (first, last) == ("field /000: a became b", "and 88 more")
