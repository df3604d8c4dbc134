"""The change of a text as hunks, which are found even where the text was rendered, re-indented or divided."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from agentmut._base import PLACEHOLDER, ends_in_common
from agentmut.wire.rewriting.patterns import SEAM, Pattern, Place, filled, placeholders

NEAR = 40
"""Characters on each side by which a change inside a line is found."""
LEAST = 6
"""Characters that have to be found: fewer stand in many texts."""

LONGEST_HUNK = 50_000
"""Characters of a place that is looked for; bounds the time of a search."""
MOST_PARTS = 500
"""Lines of a stretch that are looked for one by one; bounds the time of a search."""
LEAST_ONE_SIDED = 16
"""The same, where only a part of the line tells the place."""


class Replacement(NamedTuple):
    """Text for the characters from `start` to `end`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Hunk:
    """One changed place of a text `base`: `after` replaces the characters from `start` to `end`."""

    base: str
    start: int
    end: int
    after: str

    def found(self, text: str, least: int = LEAST) -> list[Replacement]:
        """Return the replacements in a text; none if the place is not found, or is not unique.

        Of lines that do not stand together, each is looked for by itself. It takes `least` characters to be found,
        or the whole base.
        """
        whole = len("".join(self.base.split()))
        for pattern in self._patterns:
            place = pattern.only_place(text) if pattern.weight >= min(least, whole) else None
            if place:
                after = self._after(text, place)
                return [] if after is None else [Replacement(place.start, place.end, after)]
        return [place for part in self._parts for place in part.found(text, least)]

    @cached_property
    def _parts(self) -> tuple["Hunk", ...]:
        """Pair the removed lines with the text that replaces them; the first line takes all of it."""
        lines = self.base[self.start : self.end].splitlines(keepends=True)
        ends = [self.start, *accumulate(map(len, lines), initial=self.start)][1:]
        spans = [(a, b) for a, b in pairwise(ends) if self.base[a:b].strip()]
        if not 2 <= len(spans) <= MOST_PARTS:
            return ()
        afters = [self.after, *[""] * (len(spans) - 1)]
        return tuple(Hunk(self.base, a, b, after) for (a, b), after in zip(spans, afters, strict=True))

    @cached_property
    def _patterns(self) -> tuple[Pattern, ...]:
        """Return the patterns to search, in order: with little context, with more context, with context on one side."""
        wide, narrow = (tuple(dict.fromkeys(windows)) for windows in self._windows())
        found = [*self._looked_for(wide, loose=False), *self._looked_for(wide, loose=True)]
        one_sided = (*self._looked_for(narrow, loose=False), *self._looked_for(narrow, loose=True))
        return tuple(p for p in found if p.weight) + tuple(
            p for p in one_sided if p.weight >= LEAST_ONE_SIDED
        )

    def _looked_for(self, windows: Iterable[tuple[int, int]], *, loose: bool) -> Iterator[Pattern]:
        base, start, end = self.base, self.start, self.end
        return (Pattern(base[left:start], base[start:end], base[end:right], loose) for left, right in windows)

    def _windows(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """List windows of the base around the change, and windows on one side of it, which are the last resort."""
        left = [_line_start(self.base, self.start, lines) for lines in (0, 1, 3)]
        right = [_line_end(self.base, self.end, lines) for lines in (0, 1, 3)]
        near = _words_before(self.base, left[0], self.start), _words_after(self.base, self.end, right[0])
        wide = [near, (left[0], right[0])]
        for more in (1, 2):
            wide += [(left[more], right[more]), (left[more], right[0]), (left[0], right[more])]
        return wide, [(near[0], self.end), (self.start, near[1])]

    def _after(self, text: str, place: Place) -> str | None:
        """Return the new text, with the values that this text has for placeholders."""
        values = dict(place.values)
        for name in placeholders(self.after) - values.keys():
            value = _filling(self.base, name, text)
            if value is not None:
                values[name] = value
        after = filled(self.after, values)
        return after and self._broken_off(text, place) + after

    def _broken_off(self, text: str, place: Place) -> str:
        """Return the line break before the new text in the base, if this place has lost it."""
        had = self.start > 0 and self.base[self.start - 1] == "\n"
        has = place.start == 0 or text[place.start - 1].isspace() or text[place.start - 1] == SEAM
        return "\n" if had and not has else ""


@lru_cache(maxsize=64)  # each trial of a mutant has a rewriter of its own
def hunks(before: str, after: str) -> tuple[Hunk, ...]:
    """Return what differs between two texts, by lines; inside a changed line, from the first word to the last.

    None where one of them is too long to be looked for: a change is made as a whole, or not at all.
    """
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    starts, news = ([0, *accumulate(map(len, lines))] for lines in (old, new))
    found = [
        _trimmed(before, starts[i], starts[j], after[news[k] : news[m]])
        for i, j, k, m in changed_lines(old, new)
    ]
    return () if any(hunk.end - hunk.start > LONGEST_HUNK for hunk in found) else tuple(found)


def applied(text: str, replacements: Sequence[Replacement]) -> str:
    """Return the text with all replacements that do not overlap earlier ones."""
    parts, last = [], 0
    for start, end, after in sorted(replacements):
        if start >= last:
            parts += [text[last:start], after]
            last = end
    return "".join([*parts, text[last:]])


def _trimmed(base: str, start: int, end: int, after: str) -> Hunk:
    """Return the hunk without what both sides have in common, as far as whole words and placeholders go."""
    head, tail = _ends_in_common(base[start:end], after)
    first, last = start + head, end - tail
    if first < last and head + tail < len(after):
        first, last = _whole_words(base, first, last)
        first, last = max(first, start), min(last, end)
    tail = end - last
    return Hunk(base, first, last, after[first - start : len(after) - tail])


def _ends_in_common(left: str, right: str) -> tuple[int, int]:
    """Return characters that both begin and end with, placeholders as wholes."""
    units, others = list(_units(left)), list(_units(right))
    head, tail = ends_in_common(units, others)
    return sum(map(len, units[:head])), sum(map(len, units[len(units) - tail :]))


def _units(text: str) -> Iterator[str]:
    last = 0
    for found in PLACEHOLDER.finditer(text):
        yield from text[last : found.start()]
        yield found[0]
        last = found.end()
    yield from text[last:]


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
    """Return the value of a placeholder in a text, from the lines of the base that contain the placeholder."""
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


def _words_before(text: str, start: int, end: int) -> int:
    """Return where the last whole words before `end` begin, `NEAR` characters at most."""
    near = max(start, end - NEAR)
    while start < near < end and not text[near - 1].isspace():
        near += 1
    return near


def _words_after(text: str, start: int, end: int) -> int:
    """Return where the first whole words after `start` end, `NEAR` characters at most."""
    near = min(end, start + NEAR)
    while start < near < end and not text[near].isspace():
        near -= 1
    return near


def _line_start(text: str, offset: int, lines: int) -> int:
    """Return the start of the line of `offset`, or of the `lines`-th line with text before it."""
    start = text.rfind("\n", 0, offset) + 1
    while lines and start:
        earlier = text.rfind("\n", 0, start - 1) + 1
        lines -= bool(text[earlier:start].strip())
        start = earlier
    return start


def _line_end(text: str, offset: int, lines: int) -> int:
    """Return the end of the line of `offset`, or of the `lines`-th line with text after it."""
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


MOST_PAIRS = 5_000
"""Pairs of equal lines that are weighed against each other; blank lines make many of them."""
DEEPEST = 3
"""How often what is between lines that stand once is looked at again."""


class ChangedLines(NamedTuple):
    """Lines `start` to `end` of the old text, which lines `new_start` to `new_end` of the new text replace."""

    start: int
    end: int
    new_start: int
    new_end: int


def changed_lines(old: Sequence[str], new: Sequence[str], depth: int = 0) -> Iterator[ChangedLines]:
    """Yield what differs, from the first line to the last."""
    head, tail = ends_in_common(old, new)
    one, other = old[head : len(old) - tail], new[head : len(new) - tail]
    for change in _differences(one, other, depth):
        yield ChangedLines(*(place + head for place in change))


def _differences(old: Sequence[str], new: Sequence[str], depth: int) -> Iterator[ChangedLines]:
    counts = Counter(old), Counter(new)
    if sum(count * counts[1][line] for line, count in counts[0].items()) <= MOST_PAIRS:
        yield from _weighed(old, new)
        return
    anchors = _anchors(old, new, *counts) if depth < DEEPEST else []
    if not anchors:
        yield ChangedLines(0, len(old), 0, len(new))
        return
    for (i, k), (j, m) in pairwise([(-1, -1), *anchors, (len(old), len(new))]):
        for found in changed_lines(old[i + 1 : j], new[k + 1 : m], depth + 1):
            yield ChangedLines(found[0] + i + 1, found[1] + i + 1, found[2] + k + 1, found[3] + k + 1)


def _weighed(old: Sequence[str], new: Sequence[str]) -> Iterator[ChangedLines]:
    opcodes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return (ChangedLines(*ends) for kind, *ends in opcodes if kind != "equal")


def _anchors(
    old: Sequence[str], new: Sequence[str], counts: Counter[str], new_counts: Counter[str]
) -> list[tuple[int, int]]:
    """Return pairs of lines that occur once in each text: the longest chain in which no pair crosses another."""
    places = {line: place for place, line in enumerate(new) if new_counts[line] == 1}
    pairs = [(i, places[line]) for i, line in enumerate(old) if counts[line] == 1 and line in places]
    lowest: list[int] = []  # by length of a rising row: the lowest place that such a row ends with
    ends: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(lowest, place)
        before.append(ends[length - 1] if length else -1)
        lowest[length : length + 1] = [place]
        ends[length : length + 1] = [index]
    return _row(pairs, before, ends[-1] if ends else -1)


def _row(pairs: Sequence[tuple[int, int]], before: Sequence[int], last: int) -> list[tuple[int, int]]:
    row = []
    while last >= 0:
        row.append(pairs[last])
        last = before[last]
    return row[::-1]
