"""Find sections: a heading with everything below it, or an element of a tagged prompt."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agentmut.language.prompt.line import Kind, Line, cut, is_empty
from agentmut.language.prompt.spans import Span
from agentmut.language.prompt.templates import statements

_OPENS = re.compile(r"<(?P<name>[A-Za-z][\w.:-]{0,64})(?:\s[^<>]{0,200})?>")
_CLOSES = re.compile(r"</(?P<name>[A-Za-z][\w.:-]{0,64})>$")
_TEMPLATE = "{%"


class Section(NamedTuple):
    """A part of a prompt under one title, as whole lines, from the title to the last thing under it."""

    start: int
    end: int
    title: str
    """The words of the heading, or the name of the tag."""
    depth: int
    """The number of sections around it."""
    removal: Span
    """The span to cut so that the rest stays well formed."""


class _OpenTag(NamedTuple):
    name: str
    """Empty for a heading."""
    level: int
    line: int


class _TitledLines(NamedTuple):
    title: str
    region: range


def read_sections(text: str, lines: Sequence[Line]) -> tuple[Section, ...]:
    """Return every section, outer before inner, in the order of the text."""
    found = sorted(_found(text, lines), key=lambda f: (f.region.start, -f.region.stop))
    ends: list[int] = []
    sections: list[Section] = []
    for title, region in found:
        while ends and ends[-1] <= region.start:
            ends.pop()
        first, last = lines[region.start], lines[region.stop - 1]
        sections.append(Section(first.start, last.end, title, len(ends), cut(text, lines, region)))
        ends.append(region.stop)
    return tuple(sections)


def _found(text: str, lines: Sequence[Line]) -> Iterator[_TitledLines]:
    opened: list[_OpenTag] = []
    count: Counter[str] = Counter()
    for index, line in enumerate(lines):
        if line.kind is Kind.HEADING:
            while opened and not opened[-1].name and opened[-1].level >= line.level:
                yield from _closed(lines, opened.pop(), index)
            opened.append(_OpenTag("", line.level, index))
        for name, opens in _marks(text, line):
            if opens:
                opened.append(_OpenTag(name, 0, index))
                count[name] += 1
            elif count[name]:
                yield from _until(lines, opened, count, name, index)
    while opened:
        yield from _closed(lines, opened.pop(), len(lines))


def _until(
    lines: Sequence[Line], opened: list[_OpenTag], count: Counter[str], name: str, index: int
) -> Iterator[_TitledLines]:
    """Close the tag `name` and everything opened after it. A tag that is never closed makes no section."""
    while True:
        last = opened.pop()
        count[last.name] -= 1
        if last.name == name:
            if name != _TEMPLATE:
                yield _TitledLines(name, range(last.line, index + 1))
            return
        yield from _closed(lines, last, index)


def _closed(lines: Sequence[Line], last: _OpenTag, end: int) -> Iterator[_TitledLines]:
    if last.name:
        return
    while end > last.line + 1 and is_empty(lines[end - 1]):
        end -= 1
    if end > last.line + 1:
        yield _TitledLines(lines[last.line].label.strip("*_ "), range(last.line, end))


def _marks(text: str, line: Line) -> Iterator[tuple[str, bool]]:
    """Yield the tags at both ends of a line, and the template statements, that open or close something."""
    if line.kind is Kind.SILENT:
        for statement in statements(text, line.start, line.end):
            if statement.step:
                yield _TEMPLATE, statement.step > 0
    elif line.kind in (Kind.TEXT, Kind.OPEN_TAG, Kind.CLOSE_TAG):
        opens = _OPENS.match(text, line.start, line.end)
        closes = _CLOSES.search(text, max(line.start, line.end - 70), line.end)
        several = closes and text.count(f"</{closes['name']}>", line.start, line.end) > 1
        if opens and not (several and closes and opens["name"] == closes["name"]):
            yield opens["name"], True
        if closes and not (several and opens and opens["name"] == closes["name"]):
            yield closes["name"], False
