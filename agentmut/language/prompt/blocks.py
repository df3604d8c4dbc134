"""Join lines to blocks: each list item and each paragraph is one block of running text."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agentmut.language.prompt.line import Kind, Line


class Block(NamedTuple):
    """Running text between two structural breaks; `outer` includes marker, indentation and line break."""

    start: int
    end: int
    outer_start: int
    outer_end: int
    indent: int
    marker: str
    heading: str | None
    group: int
    """Items of one list share it; each paragraph has its own."""
    isolated: bool
    """Blank lines, or the ends of the text, stand on both sides of it."""

    @property
    def depth(self) -> int:
        """Return the indentation of the block. A paragraph counts as above every list that follows it."""
        return self.indent if self.marker else -1


class _Section(NamedTuple):
    heading: str | None
    outer: "_Section | None" = None
    """The section to return to when the open tag closes."""


def read_blocks(text: str, lines: Sequence[Line]) -> tuple[Block, ...]:
    """Return every block of running text, with the heading above it."""
    section = _Section(None)
    found: list[Block] = []
    lists: list[tuple[int, int]] = []
    for run in _runs(text, lines):
        first = lines[run[0]]
        section = _entered(section, first)
        if first.kind in (Kind.TEXT, Kind.ITEM):
            group, lists = _group(lists, first, len(found))
            found.append(_block(lines, run, section.heading, group))
        elif first.kind in (Kind.HEADING, Kind.OPEN_TAG, Kind.CLOSE_TAG):
            lists = []
    return tuple(found)


def _runs(text: str, lines: Sequence[Line]) -> Iterator[range]:
    """Yield the indexes of the lines of each block. Any other line is a run by itself."""
    start = 0
    for index in range(1, len(lines) + 1):
        if index == len(lines) or not _continues(text, lines, start, index):
            yield range(start, index)
            start = index


def _continues(text: str, lines: Sequence[Line], start: int, index: int) -> bool:
    first, line = lines[start], lines[index]
    if line.kind is not Kind.TEXT or first.kind not in (Kind.TEXT, Kind.ITEM):
        return False
    quoted = ">" in text[line.outer_start : line.start]
    if first.kind is Kind.TEXT and not quoted:
        return True
    return line.indent > first.indent or text[line.start : line.end][:1].islower()


def _entered(section: _Section, line: Line) -> _Section:
    if line.kind is Kind.HEADING:
        return section._replace(heading=line.label or None)
    if line.kind is Kind.OPEN_TAG:
        return _Section(line.label, section)
    if line.kind is Kind.CLOSE_TAG and section.outer:
        return section.outer
    return section


def _group(lists: list[tuple[int, int]], line: Line, new: int) -> tuple[int, list[tuple[int, int]]]:
    """Return the group of a block, which is `new` unless it goes on with a list, and the lists that are open after it.

    An open list is its indentation and its group.
    """
    if line.kind is Kind.TEXT:
        return new, [entry for entry in lists if entry[0] < line.indent]
    outer = [entry for entry in lists if entry[0] <= line.indent]
    if outer and outer[-1][0] == line.indent:
        return outer[-1][1], outer
    return new, [*outer, (line.indent, new)]


def _block(lines: Sequence[Line], run: range, heading: str | None, group: int) -> Block:
    first, last = lines[run[0]], lines[run[-1]]
    blank_before = run[0] == 0 or lines[run[0] - 1].kind is Kind.BLANK
    blank_after = run[-1] + 1 == len(lines) or lines[run[-1] + 1].kind is Kind.BLANK
    return Block(
        first.start, last.end, first.outer_start, last.outer_end, first.indent, first.marker, heading, group,
        isolated=blank_before and blank_after and first.kind is Kind.TEXT,
    )  # fmt: skip
