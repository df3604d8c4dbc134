"""Which lines differ between two texts, in bounded time however long they are."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from agentmut._base import ends_in_common

MOST_PAIRS = 5_000
"""Pairs of equal lines that are weighed against each other; blank lines make many of them."""
DEEPEST = 3
"""How often what is between lines that stand once is looked at again."""


class Changed(NamedTuple):
    """Lines `start` to `end` of the old text, in the place of which come `new_start` to `new_end` of the new one."""

    start: int
    end: int
    new_start: int
    new_end: int


def changed_lines(old: Sequence[str], new: Sequence[str], depth: int = 0) -> Iterator[Changed]:
    """What differs, from the first line to the last."""
    head, tail = ends_in_common(old, new)
    one, other = old[head : len(old) - tail], new[head : len(new) - tail]
    for change in _differences(one, other, depth):
        yield Changed(*(place + head for place in change))


def _differences(old: Sequence[str], new: Sequence[str], depth: int) -> Iterator[Changed]:
    counts = Counter(old), Counter(new)
    if sum(count * counts[1][line] for line, count in counts[0].items()) <= MOST_PAIRS:
        yield from _weighed(old, new)
        return
    anchors = _anchors(old, new, *counts) if depth < DEEPEST else []
    if not anchors:
        yield Changed(0, len(old), 0, len(new))
        return
    for (i, k), (j, m) in pairwise([(-1, -1), *anchors, (len(old), len(new))]):
        for found in changed_lines(old[i + 1 : j], new[k + 1 : m], depth + 1):
            yield Changed(found[0] + i + 1, found[1] + i + 1, found[2] + k + 1, found[3] + k + 1)


def _weighed(old: Sequence[str], new: Sequence[str]) -> Iterator[Changed]:
    opcodes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return (Changed(*ends) for kind, *ends in opcodes if kind != "equal")


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
