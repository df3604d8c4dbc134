"""Anchors: text around a change that all requests of the original share, since neighbouring text may move."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from agentmut._base import WINDOW, Passage, flat, passage_at, shown
from agentmut.nouns import RequestShape

LEAST = 12
"""Characters of the changed text by which it is recognised: fewer stand in many texts."""
LEAST_AFTER = 16
"""Characters that the new text needs with its surroundings, to be told from other texts."""
_CLOCK = re.compile(r"(?<!\S)(?=\S*\d[-/.:]\d)\S+")
"""What a clock writes, such as `2026-11-27` or `06:51`: it may stand still for a while, and then does not."""


class Place(NamedTuple):
    """A stretch of a text."""

    text: str
    start: int
    end: int

    def passage(self, left: int = WINDOW, right: int = WINDOW) -> Passage:
        """Return the stretch with so many characters on each side."""
        return passage_at(self.text, self.start, self.end, left, right)

    def core(self) -> Passage:
        """Return the stretch with as little context as it needs to be recognised."""
        widths = (width for width in range(WINDOW) if len(flat(self._around(width))) >= LEAST)
        width = next(widths, WINDOW)
        return self.passage(width, width)

    @property
    def is_steady(self) -> bool:
        """Return whether no clock writes any of the surroundings."""
        return not _CLOCK.search(self._around(WINDOW))

    def _around(self, width: int) -> str:
        return self.text[max(0, self.start - width) : self.end + width]


def shared_passages(
    before: Place, after: Place, originals: Sequence[RequestShape]
) -> tuple[Passage, Passage] | None:
    """Return how a change is recognised by what the original's requests with the changed text have in common.

    None where the passages with all of their surroundings are as good, or where too little is left to prove anything:
    the new text has to be one that no request of the original shows.
    """
    if before.is_steady and all(shown(before.passage(), shape.text) for shape in originals):
        return None
    core = before.core()
    with_it = [shape.text for shape in originals if shown(core, shape.text)]
    if not with_it:
        return None
    left = _widest([before.passage(width, 0) for width in range(WINDOW + 1)], with_it)
    right = _widest([before.passage(0, width) for width in range(WINDOW + 1)], with_it)
    head = before.text[max(0, before.start - left) : before.start]
    tail = before.text[before.end : before.end + right]
    left, right = _steady_end(head, left), _steady_start(tail, right)
    if left == right == WINDOW:
        return None
    new = after.passage(left, right)
    if len("".join(new)) < LEAST_AFTER or any(shown(new, shape.text) for shape in originals):
        return None
    return before.passage(left, right), new


def _widest(passages: Sequence[Passage], texts: Sequence[str]) -> int:
    """Return the largest width at which all texts contain the passage; no wider passage is in more texts."""
    low, high = 0, len(passages) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if all(shown(passages[middle], text) for text in texts):
            low = middle
        else:
            high = middle - 1
    return low


def _steady_end(head: str, width: int) -> int:
    """Return how many characters at the end of `head` are whole words that no clock writes."""
    clocks = [found.end() for found in _CLOCK.finditer(head)]
    cut = clocks[-1] if clocks else 0
    if not clocks and width < WINDOW:
        cut = next((n for n, letter in enumerate(head) if letter.isspace()), len(head))
    return width if cut == 0 else len(head) - cut


def _steady_start(tail: str, width: int) -> int:
    """Return how many characters at the start of `tail` are whole words that no clock writes."""
    clock = _CLOCK.search(tail)
    cut = clock.start() if clock else len(tail)
    if not clock and width < WINDOW:
        cut = max((n for n, letter in enumerate(tail) if letter.isspace()), default=0)
    return width if cut == len(tail) else cut
