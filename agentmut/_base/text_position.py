"""The position of an offset in the form that an editor shows."""

import re
from bisect import bisect_right
from functools import lru_cache
from typing import NamedTuple

_LINE_BREAK = re.compile("\n")


class Position(NamedTuple):
    """A place in a text file; both numbers start at 1, columns count characters."""

    line: int
    column: int


def position(text: str, offset: int) -> Position:
    r"""Return the line and column of the character at `offset`; `len(text)` is the place after the last one.

    >>> position("one\r\ntwo", 5)
    Position(line=2, column=1)

    Raises `ValueError` for an offset outside the text.
    """
    if not 0 <= offset <= len(text):
        raise ValueError(f"offset {offset} is outside a text of {len(text)} characters")
    starts = line_starts(text)
    line = bisect_right(starts, offset)
    return Position(line, offset - starts[line - 1] + 1)


@lru_cache(maxsize=64)  # thousands of mutants are placed in the same few texts
def line_starts(text: str) -> tuple[int, ...]:
    r"""Return the offset at which each line begins.

    >>> line_starts("one\ntwo")
    (0, 4)
    """
    return (0, *(found.end() for found in _LINE_BREAK.finditer(text)))
