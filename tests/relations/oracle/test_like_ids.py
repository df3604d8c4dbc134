"""Given ids that are like another are those that a look at each of them finds, and are found without that look."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentmut.relations.base import call
from agentmut.relations.oracle.like_ids import LONGEST, LikeIds, number_of, resembles
from agentmut.relations.oracle.survival import GivenValues, spoilt_id
from agentmut.relations.oracle.tool_arguments import ToolArguments
from tests.counted_calls import counted
from tests.relations.oracle.test_many_calls import pair

short = st.from_regex(r"(A|B|AB|ORD|A1B)?[01]{1,5}", fullmatch=True)
long = st.builds(
    lambda size, tail: "A1" * size + tail, st.integers(LONGEST // 2 - 2, LONGEST // 2 + 1), short
)
ids = st.one_of(short, long)


@given(st.lists(ids, unique=True, max_size=30), ids, st.integers(0, 30))
def test_no_id_that_is_resembled_is_missed(given_ids: list[str], own: str, at: int) -> None:
    assume(own not in given_ids)
    like = LikeIds(given_ids[:at])
    assert list(like.resembling(own)) == [one for one in given_ids[:at] if resembles(own, one)]
    like.order.extend(given_ids[at:])
    assert list(like.resembling(own)) == [one for one in given_ids if resembles(own, one)]


@given(st.lists(short, unique=True, max_size=30), st.from_regex("[01]{3,5}", fullmatch=True))
def test_no_number_that_is_resembled_is_missed(given_ids: list[str], own: str) -> None:
    numbered = [(one, str(one).lstrip("ABORD")) for one in given_ids if number_of(one) >= 0]
    assert list(LikeIds(given_ids).short_of(own)) == [
        one for one, digits in numbered if resembles(own, digits)
    ]


def test_a_short_id_is_like_the_only_one_of_its_form() -> None:
    assert list(LikeIds(["B7", "A7", "AB7"]).short_of("A8")) == ["A7"]
    assert list(LikeIds(["A7", "A9"]).short_of("A8")) == []
    assert list(LikeIds(["A17"]).short_of("A8")) == []


def test_the_id_that_was_given_first_is_meant() -> None:
    known = GivenValues.from_texts(["ORD-1043, ORD-2000 and ORD-1034"])
    assert spoilt_id("ORD-1033", known) == "ORD-1043"
    known.add(["ORD-1032"])
    assert spoilt_id("ORD-1033", known) == "ORD-1043"
    assert spoilt_id("ORD-1044", known) == "ORD-1043"
    assert spoilt_id("ORD-1044", known, makes_new=True) == "ORD-2000"


@pytest.mark.parametrize("letters", ["W", "ORD-", "X-A-"])
def test_function_calls_are_linear_in_unknown_ids(letters: str) -> None:
    def calls(size: int) -> int:
        steps = [
            call("find", output={"next": f"{letters}{10_000 + 21 * i}"}, order=f"{letters}{90_000 - 13 * i}")
            for i in range(size)
        ]
        with counted() as count:
            ToolArguments().holds(pair("Where are my orders?", steps))
        return count.calls

    assert calls(200) / calls(50) == pytest.approx(4, rel=0.15)
