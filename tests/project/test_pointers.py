"""Places in values of JSON's kinds, and what two sequences have in common."""

from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut._base.in_common import ends_in_common
from agentmut._base.pointers import at_path, parts_of, pointer
from agentmut.nouns.mutant import Edit


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text("a/~01", max_size=3), max_size=4).map(tuple))
def test_a_pointer_says_its_path(path: tuple[str, ...]) -> None:
    assert parts_of(pointer(path)) == path


def test_what_is_not_there_is_none() -> None:
    value = {"a": [{"b/c": 1}]}
    assert at_path(value, ("a", "0", "b/c")) == 1
    for path in (("a", "1"), ("a", "x"), ("b",), ("a", "0", "b/c", "d")):
        assert at_path(value, path) is None


@settings(deadline=None, max_examples=60)
@given(st.text("ab", max_size=9), st.text("ab", max_size=9))
def test_common_ends_are_as_long_as_can_be_and_do_not_overlap(one: str, other: str) -> None:
    head, tail = ends_in_common(one, other)
    assert one[:head] == other[:head] and one[len(one) - tail :] == other[len(other) - tail :]
    left, right = one[head : len(one) - tail], other[head : len(other) - tail]
    assert head + tail <= min(len(one), len(other))
    assert not (left and right) or (left[0] != right[0] and left[-1] != right[-1])


def test_an_edit_says_what_it_does() -> None:
    added = Edit(pointer="/tools/2", before=None, after={"name": "a"})
    gone = Edit(pointer="/context/0", before={"name": "a"}, after=None)
    reworded = Edit(pointer="/tools/1/description", before="a", after=None)
    fault = Edit(pointer="/tools/1/fault", before=None, after={"kind": "error"})
    node = Edit(pointer="/orchestration/nodes/2", before=None, after="a")
    assert [
        (e.part, e.index, e.inserts_item, e.removes_item, e.is_fault) for e in (added, gone, reworded)
    ] == [
        ("tools", 2, True, False, False),
        ("context", 0, False, True, False),
        ("tools", 1, False, False, False),
    ]
    assert fault.is_fault and not fault.inserts_item
    assert (node.part, node.index, node.inserts_item) == ("orchestration", None, False)
