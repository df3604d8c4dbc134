"""The change of a text as hunks, which are found where the text was rendered, re-indented or cut up."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from agentmut.in_common import ends_in_common
from agentmut.wire.rewriting.patterns import PLACEHOLDER, Pattern, Place, filled, placeholders

NEAR = 40
"""Characters on each side by which a change inside a line is found."""
LEAST = 12
"""Characters that have to be found: fewer stand in many texts."""


class Replacement(NamedTuple):
    """Text for the characters from `start` to `end`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Hunk:
    """One place of a text `base` that reads otherwise: `after` for the characters from `start` to `end`."""

    base: str
    start: int
    end: int
    after: str

    def found(self, text: str) -> Replacement | None:
        """Where and how a text is changed; None where the place is not found, or not told from another one."""
        for pattern in self._patterns:
            place = pattern.only_place(text)
            if place:
                after = self._after(text, place)
                return None if after is None else Replacement(place.start, place.end, after)
        return None

    @cached_property
    def _patterns(self) -> tuple[Pattern, ...]:
        sides = list(dict.fromkeys(self._windows()))
        found = (
            Pattern(
                self.base[left : self.start],
                self.base[self.start : self.end],
                self.base[self.end : right],
                loose,
            )
            for loose in (False, True)
            for left, right in sides
        )
        whole = len("".join(self.base.split()))
        return tuple(pattern for pattern in found if pattern.weight >= min(LEAST, whole) > 0)

    def _windows(self) -> Iterator[tuple[int, int]]:
        """From little to much around the place, on both sides or on one."""
        left = [_line_start(self.base, self.start, lines) for lines in (0, 1, 3)]
        right = [_line_end(self.base, self.end, lines) for lines in (0, 1, 3)]
        yield max(left[0], self.start - NEAR), min(right[0], self.end + NEAR)
        yield left[0], right[0]
        for more in (1, 2):
            yield left[more], right[more]
            yield left[more], right[0]
            yield left[0], right[more]
        yield max(left[0], self.start - NEAR), self.end
        yield self.start, min(right[0], self.end + NEAR)

    def _after(self, text: str, place: Place) -> str | None:
        """The new text, with placeholders as they are filled in this text."""
        values = dict(place.values)
        for name in placeholders(self.after) - values.keys():
            value = _filling(self.base, name, text)
            if value is not None:
                values[name] = value
        return filled(self.after, values)


def hunks(before: str, after: str) -> tuple[Hunk, ...]:
    """What differs between two texts, by lines; inside a changed line, from the first word to the last."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    head, tail = ends_in_common(old, new)
    middle = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    starts, news = ([0, *accumulate(map(len, lines))] for lines in (old, new))
    return tuple(
        _trimmed(before, starts[head + i], starts[head + j], after[news[head + k] : news[head + m]])
        for kind, i, j, k, m in middle.get_opcodes()
        if kind != "equal"
    )


def applied(text: str, replacements: Sequence[Replacement]) -> str:
    """The text with all replacements that do not overlap earlier ones."""
    parts, last = [], 0
    for start, end, after in sorted(replacements):
        if start >= last:
            parts += [text[last:start], after]
            last = end
    return "".join([*parts, text[last:]])


def _trimmed(base: str, start: int, end: int, after: str) -> Hunk:
    """The hunk without what both sides have in common, as far as whole words and placeholders go."""
    head, tail = ends_in_common(base[start:end], after)
    first, last = start + head, end - tail
    if first < last and head + tail < len(after):
        first, last = _whole_words(base, first, last)
        first, last = max(first, start), min(last, end)
    tail = end - last
    return Hunk(base, first, last, after[first - start : len(after) - tail])


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    while start > 0 and not text[start - 1].isspace():
        start -= 1
    while end < len(text) and not text[end].isspace():
        end += 1
    for found in PLACEHOLDER.finditer(text):
        if found.start() < start < found.end():
            start = found.start()
        if found.start() < end < found.end():
            end = found.end()
    return start, end


def _filling(base: str, name: str, text: str) -> str | None:
    """What stands for a placeholder in a text, by the lines of the base that have it."""
    if name in text:  # not filled in at all
        return name
    at = base.find(name)
    while at >= 0:
        for more in (0, 1):
            start, end = _line_start(base, at, more), _line_end(base, at + len(name), more)
            pattern = Pattern(base[start:at], name, base[at + len(name) : end], loose=True)
            place = next(pattern.places(text), None)
            if place and name in place.values:
                return place.values[name]
        at = base.find(name, at + 1)
    return None


def _line_start(text: str, offset: int, lines: int) -> int:
    """Where the line of `offset` begins, or that of some lines before that hold something."""
    start = text.rfind("\n", 0, offset) + 1
    while lines and start:
        earlier = text.rfind("\n", 0, start - 1) + 1
        lines -= bool(text[earlier:start].strip())
        start = earlier
    return start


def _line_end(text: str, offset: int, lines: int) -> int:
    """Where the line of `offset` ends, or that of some lines after that hold something."""
    inside = offset == 0 or text[offset - 1] != "\n"
    end = _after_line(text, offset) if inside else offset
    while lines and end < len(text):
        later = _after_line(text, end)
        lines -= bool(text[end:later].strip())
        end = later
    return end


def _after_line(text: str, offset: int) -> int:
    found = text.find("\n", offset)
    return len(text) if found < 0 else found + 1
