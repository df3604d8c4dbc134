"""Places in a text: where secrets begin and end, and a text read in another spelling that still knows its places."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

Span = tuple[int, int]
"""Where a secret begins and ends, in characters."""
Finder = Callable[[str], Sequence[Span]]
"""Returns the places of the secrets in a text that is neither encoded nor divided."""


def masked_at(text: str, spans: Iterable[Span], mask: str) -> str:
    """Return the text with one mask in the place of each span; spans that overlap or touch get one mask.

    >>> masked_at("a bcd e", [(2, 4), (3, 5)], "*")
    'a * e'
    """
    pieces, end = [], 0
    for begin, until in merged(spans):
        pieces += [text[end:begin], mask]
        end = until
    return "".join((*pieces, text[end:])) if pieces else text


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return the spans in order, with those that overlap or touch made one."""
    found: list[Span] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found


class Piece(NamedTuple):
    """A part of a view: either a copy of the source, or one character that the source spells out."""

    view: int
    source: int
    width: int
    """Characters of the source."""
    is_copy: bool


class View:
    """A text in which some parts of a source are replaced by what they spell. Knows where each character comes from."""

    def __init__(self, source: str, replacements: Iterable[tuple[int, int, str]]) -> None:
        pieces, parts, end, length = [], [], 0, 0
        for begin, until, spelled in replacements:
            if begin > end:
                pieces.append(Piece(length, end, begin - end, is_copy=True))
                parts.append(source[end:begin])
                length += begin - end
            if spelled:
                pieces.append(Piece(length, begin, until - begin, is_copy=False))
                parts.append(spelled)
                length += len(spelled)
            end = until
        pieces.append(Piece(length, end, len(source) - end, is_copy=True))
        self.text = "".join((*parts, source[end:]))
        self._pieces = pieces
        self._starts = [piece.view for piece in pieces]

    def in_source(self, span: Span) -> Span:
        """Return the place in the source of a place in the view. The place is not empty."""
        first, last = self._piece(span[0]), self._piece(span[1] - 1)
        begin = first.source + (span[0] - first.view if first.is_copy else 0)
        end = last.source + (span[1] - last.view if last.is_copy else last.width)
        return begin, end

    def _piece(self, place: int) -> Piece:
        return self._pieces[bisect_right(self._starts, place) - 1]
