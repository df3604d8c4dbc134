"""Half-open ranges of characters."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Span(NamedTuple):
    """Characters `start` up to, but not including, `end`."""

    start: int
    end: int


def merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return the same characters as sorted spans that neither overlap nor are empty.

    >>> merged([Span(4, 6), Span(0, 2), Span(1, 3)])
    (Span(start=0, end=3), Span(start=4, end=6))
    """
    result: list[Span] = []
    for span in sorted(span for span in spans if span.start < span.end):
        if result and span.start < result[-1].end:
            result[-1] = Span(result[-1].start, max(result[-1].end, span.end))
        else:
            result.append(span)
    return tuple(result)


def joined(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return sorted spans, with touching spans made one.

    >>> joined([Span(0, 2), Span(2, 3), Span(4, 5)])
    (Span(start=0, end=3), Span(start=4, end=5))
    """
    result: list[Span] = []
    for span in spans:
        touches = bool(result) and result[-1].end == span.start
        result.append(Span(result.pop().start, span.end) if touches else span)
    return tuple(result)


def overlaps(spans: Sequence[Span], span: Span) -> bool:
    """Return whether `span` shares a character with one of `spans`, which are sorted and disjoint."""
    index = bisect_right(spans, span.start, key=lambda s: s.end)
    return index < len(spans) and spans[index].start < span.end


def splits(spans: Sequence[Span], offset: int) -> bool:
    """Return whether a cut at `offset` falls strictly inside one of `spans`, which are sorted and disjoint."""
    index = bisect_right(spans, offset, key=lambda s: s.end)
    return index < len(spans) and spans[index].start < offset


def inside(spans: Sequence[Span], outer: Span) -> Sequence[Span]:
    """Return the `spans`, sorted and disjoint, that share a character with `outer`."""
    first = bisect_right(spans, outer.start, key=lambda s: s.end)
    last = bisect_left(spans, outer.end, key=lambda s: s.start)
    return spans[first:last]
