"""Where an offset is, as an editor shows it."""

from typing import NamedTuple


class Position(NamedTuple):
    """A place in a text file; both numbers start at 1, columns count characters."""

    line: int
    column: int


def position(text: str, offset: int) -> Position:
    r"""The line and column of the character at `offset`; `len(text)` is the place after the last one.

    >>> position("one\r\ntwo", 5)
    Position(line=2, column=1)

    Raises `ValueError` for an offset outside the text.
    """
    if not 0 <= offset <= len(text):
        raise ValueError(f"offset {offset} is outside a text of {len(text)} characters")
    return Position(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))
