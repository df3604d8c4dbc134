"""A line of a prompt and the roles that it can have."""

from collections.abc import Sequence
from enum import Enum, auto
from typing import NamedTuple

from agentmut.language.prompt.spans import Span


class Kind(Enum):
    """The role of a line."""

    BLANK = auto()
    HEADING = auto()
    ITEM = auto()
    TEXT = auto()
    OPEN_TAG = auto()
    CLOSE_TAG = auto()
    DIVIDER = auto()
    SILENT = auto()
    """Nothing but a comment or a template's statements: the model never reads it as text."""
    PROTECTED = auto()
    """Code, tables, example dialogues: kept as they are and holding no instructions."""


class Line(NamedTuple):
    """A line; `start` to `end` leaves out indentation, marker, trailing blanks and the line break."""

    kind: Kind
    outer_start: int
    start: int
    end: int
    outer_end: int
    indent: int
    marker: str
    label: str
    """The words of a heading, the name of a tag, the speaker of a turn."""
    level: int = 0
    """The level of a heading: 1 to 6 as in Markdown; capital, bold and short lines from 7."""


def is_empty(line: Line) -> bool:
    """Return whether a line has neither text nor a marker."""
    return line.start >= line.end and not line.marker


def first_blanks(text: str, line: Line) -> str:
    """Return the indentation of a line."""
    body = text[line.outer_start : line.outer_end]
    return body[: len(body) - len(body.lstrip())]


def cut(text: str, lines: Sequence[Line], region: range) -> Span:
    """Return the span to cut so that these lines are gone and the rest stays well formed, blank lines included.

    At the end of the text it is the blank lines before them that become superfluous.
    """
    first, last = region.start, region.stop
    while last < len(lines) and is_empty(lines[last]):
        last += 1
    start, end = lines[first].outer_start, lines[last - 1].outer_end
    if last < len(lines):
        apart = first == 0 or is_empty(lines[first - 1])
        return Span(start, end if apart else lines[region.stop - 1].outer_end)
    kept = text[:start].rstrip()
    break_after = len(kept) < start and text.endswith("\n")
    if not kept or not break_after:
        return Span(len(kept), end)
    return Span(text.index("\n", len(kept)) + 1, end)
