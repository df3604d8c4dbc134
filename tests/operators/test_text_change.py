"""A change of a text is known by what it does, however its edits are written."""

from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut.mutation.text_change import TextChange, text_change
from agentmut.nouns.mutant import Edit

SHORT = st.text("ab", max_size=4)


def edit(text: str, start: int, end: int, after: str) -> Edit:
    return Edit(pointer="/prompt", before=text[start:end], after=after, span=(start, end))


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, list[Edit], str]:
    """A text, edits of it that do not overlap, and what they make of it."""
    text = draw(st.text("ab", max_size=12))
    cuts = sorted(
        draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=4).filter(lambda c: len(c) % 2 == 0))
    )
    edits = [edit(text, a, b, draw(SHORT)) for a, b in zip(cuts[::2], cuts[1::2], strict=True)]
    new, done = "", 0
    for one in edits:
        assert one.span is not None
        new += text[done : one.span[0]] + str(one.after)
        done = one.span[1]
    return text, edits, new + text[done:]


@settings(max_examples=60, deadline=None)
@given(edited())
def test_a_change_is_what_lies_between_the_common_beginning_and_end(
    case: tuple[str, list[Edit], str],
) -> None:
    text, edits, new = case
    found = text_change(text, edits)
    if text == new:
        assert found is None
        return
    start = next(
        (i for i, (a, b) in enumerate(zip(text, new, strict=False)) if a != b), min(len(text), len(new))
    )
    rest, other = text[start:][::-1], new[start:][::-1]
    tail = next(
        (i for i, (a, b) in enumerate(zip(rest, other, strict=False)) if a != b), min(len(rest), len(other))
    )
    assert found == TextChange(start, len(text) - start - tail, new[start : len(new) - tail])


def test_two_ways_to_drop_one_of_two_equal_lines_are_one_change() -> None:
    text = "x\n" + "- same\n" * 40 + "y\n"
    first, last = edit(text, 2, 9, ""), edit(text, 2 + 39 * 7, 2 + 40 * 7, "")
    assert text_change(text, [first]) == text_change(text, [last]) is not None
