"""The diff of a long text, from the lines that edits touch: a prompt has thousands of mutants."""

import difflib
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from agentmut.nouns import Edit

_AROUND = 3
"""Lines compared above and below an edit: with one of context, hunks that meet are in one piece."""


class Replacement(NamedTuple):
    """Put `after` in the place of the characters `start` to `end`."""

    start: int
    end: int
    after: str


class _Window(NamedTuple):
    """Lines `first` to `last` (not included) of a text, and what is replaced in them."""

    first: int
    last: int
    replaced: tuple[Replacement, ...]


def edited_diff(text: str, replaced: Iterable[Replacement]) -> Iterator[str]:
    """Yield the unified diff of a text and what replacements in it make of it, with one line of context."""
    lines, starts = _lines(text)
    moved = 0
    for window in _windows(starts, sorted(replaced)):
        there = "".join(lines[window.first : window.last])
        old = there.splitlines()
        new = _replaced(there, starts[window.first], window.replaced).splitlines()
        yield from text_diff(old, new, window.first, moved)
        moved += len(new) - len(old)


def text_diff(before: Sequence[str], after: Sequence[str], above: int = 0, moved: int = 0) -> Iterator[str]:
    """Return what `difflib.unified_diff` returns, without comparing the common first and last lines.

    It is slow on long texts. `above` is how many lines stand before these, `moved` how many more in the new text.
    """
    if before == after:
        return
    start = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b),
        min(map(len, (before, after))),
    )
    most = min(len(before), len(after)) - start
    same = (a == b for a, b in zip(reversed(before), reversed(after), strict=False))
    end = min(most, next((i for i, equal in enumerate(same) if not equal), most))
    first = max(0, start - 1)
    old, new = (lines[first : len(lines) - max(0, end - 1)] for lines in (before, after))
    rows = list(difflib.unified_diff(old, new, lineterm="", n=1))[2:]
    yield from (renumbered(row, first + above, first + above + moved) for row in rows)


def replacement(edit: Edit, offset: int = 0) -> Replacement:
    """Return what an edit with a span replaces, in a text that begins `offset` characters before."""
    start, end = edit.span or (0, 0)
    return Replacement(start + offset, end + offset, str(edit.after))


def renumbered(row: str, old: int, new: int) -> str:
    """Return the row of a diff; a hunk's header with so many lines more above it in the old and in the new text."""
    if not row.startswith("@@"):
        return row
    more = {"-": old, "+": new}
    return re.sub(r"([-+])(\d+)", lambda number: f"{number[1]}{int(number[2]) + more[number[1]]}", row)


@lru_cache(maxsize=8)
def _lines(text: str) -> tuple[list[str], list[int]]:
    """Return the text's lines with their breaks, and where each begins; not to be changed."""
    lines = text.splitlines(keepends=True)
    starts, at = [], 0
    for line in lines:
        starts.append(at)
        at += len(line)
    return lines, starts or [0]


def _windows(starts: Sequence[int], replaced: Iterable[Replacement]) -> Iterator[_Window]:
    open_: _Window | None = None
    for one in replaced:
        first = max(0, bisect_right(starts, one.start) - 1 - _AROUND)
        last = bisect_right(starts, one.end) + _AROUND
        if open_ and first <= open_.last:
            open_ = _Window(open_.first, max(last, open_.last), (*open_.replaced, one))
            continue
        if open_:
            yield open_
        open_ = _Window(first, last, (one,))
    if open_:
        yield open_


def _replaced(text: str, offset: int, replaced: Iterable[Replacement]) -> str:
    pieces: list[str] = []
    done = 0
    for start, end, after in replaced:
        pieces += text[done : start - offset], after
        done = end - offset
    return "".join((*pieces, text[done:]))
