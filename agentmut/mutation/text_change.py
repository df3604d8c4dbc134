"""Comparison of edits of a long text by their effects, without the new text."""

from collections.abc import Iterable
from typing import NamedTuple

from agentmut._base import beginning_in_common, ends_in_common
from agentmut.nouns import Edit, misfit


class TextChange(NamedTuple):
    """The change between two texts: two changes are equal exactly if they turn the same text into the same text."""

    start: int
    """How many characters both begin with."""
    removed: int
    inserted: str


def text_change(text: str, edits: Iterable[Edit]) -> TextChange | None:
    """Return the joint change of a text's edits; None if they change nothing.

    The work goes with the length of the edits, not of the text. Raises `MutationError` when they do not fit.
    """
    start, end, new = _joined(text, edits)
    old = text[start:end]
    if old == new:
        return None
    head, tail = ends_in_common(old, new)
    result = _Result(text, start, end, new)
    if head == min(len(old), len(new)):
        head += _repeated(result, head)
    place, length = start + head, len(text) + len(new) - len(old)
    # All behind the edits is the same in both texts. But the tail must not reach into the head: of a repetition
    # that goes on behind the edits, the head has had its share, and the shorter text has only so much left.
    tail = min(len(text) - end + tail, min(len(text), length) - place)
    return TextChange(place, len(text) - place - tail, result.piece(head, length - start - tail))


class _Result(NamedTuple):
    """A text whose characters `start` to `end` are replaced, without the text itself."""

    text: str
    start: int
    end: int
    new: str

    def piece(self, first: int, last: int) -> str:
        """Return the text between two places, counted from `start`."""
        past = len(self.new)
        behind = self.text[self.end + max(0, first - past) : self.end + max(0, last - past)]
        return self.new[first:last] + behind


def _repeated(result: _Result, head: int) -> int:
    """Return how much more the texts share after `head`, where a repetition continues after the edits."""
    found, size = 0, 64
    while True:
        at = head + found
        before = result.text[result.start + at : result.start + at + size]
        more = beginning_in_common(before, result.piece(at, at + size))
        found += more
        if more < size:
            return found
        size *= 2


def _joined(text: str, edits: Iterable[Edit]) -> tuple[int, int, str]:
    """Join the edits into one: the span from the first to the last, and its new text."""
    placed = [(edit.span or (0, len(text)), str(edit.after), edit) for edit in edits]
    spans = sorted(placed, key=lambda one: one[0])
    pieces: list[str] = []
    done = first = spans[0][0][0]
    for (start, end), after, edit in spans:
        if start < done or text[start:end] != edit.before:
            raise misfit(edit, text[start:end])
        pieces += text[done:start], after
        done = end
    return first, done, "".join(pieces)
