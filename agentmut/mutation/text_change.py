"""What edits make of a long text, told apart without writing the new text out."""

from collections.abc import Iterable
from typing import NamedTuple

from agentmut.errors import MutationError
from agentmut.mutant import Edit


class TextChange(NamedTuple):
    """The change between two texts: equal exactly where the same text becomes the same other text."""

    start: int
    """How many characters both begin with."""
    removed: int
    inserted: str


def text_change(text: str, edits: Iterable[Edit]) -> TextChange | None:
    """What edits of a text change in all; None when they leave it as it is.

    The work goes with the length of the edits, not of the text. Raises `MutationError` when they do not fit.
    """
    start, end, new = _one(text, edits)
    old = text[start:end]
    if old == new:
        return None

    def piece(first: int, last: int) -> str:
        """A stretch of the new text, counted from `start`."""
        behind = text[end + max(0, first - len(new)) : end + max(0, last - len(new))]
        return new[first:last] + behind

    head = _shared(old, new)
    size = 64
    while head >= min(len(old), len(new)):  # a repetition may go on behind the edit
        more = _shared(text[start + head : start + head + size], piece(head, head + size))
        head += more
        if more < size:
            break
        size *= 2
    place, longer = start + head, len(new) - len(old)
    rest = len(text) - end
    room = min(len(text) - place, len(text) + longer - place)
    tail = room if room <= rest else rest + _shared(old[head:][::-1], new[head:][::-1])
    length = len(text) + longer - place - tail
    return TextChange(place, len(text) - place - tail, piece(head, head + length))


def _one(text: str, edits: Iterable[Edit]) -> tuple[int, int, str]:
    """All edits as one: the stretch from the first to the last, and what stands there afterwards."""
    placed = [(edit.span or (0, len(text)), str(edit.after), edit) for edit in edits]
    spans = sorted(placed, key=lambda one: one[0])
    pieces: list[str] = []
    done = first = spans[0][0][0]
    for (start, end), after, edit in spans:
        if start < done or text[start:end] != edit.before:
            raise MutationError(
                f"edit of {edit.pointer} does not fit this config: expected {edit.before!r}, found "
                f"{text[start:end]!r}. The mutant was made from another version of the agent."
            )
        pieces += text[done:start], after
        done = end
    return first, done, "".join(pieces)


def _shared(one: str, other: str) -> int:
    """How many characters both begin with."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
