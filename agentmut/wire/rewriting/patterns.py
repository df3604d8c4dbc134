"""A part of a template, found in a text that has values for the template's placeholders."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

from agentmut._base import PLACEHOLDER

LONGEST_FILLING = 20_000
"""Characters that a placeholder may stand for; bounds the time of a search."""
MOST_SIGNS = 6
"""Words that a text must hold before it is searched; looking for a word is quick."""
SEAM = "\x00"
"""Joins texts that are searched together: nothing that is found reaches across."""
_SILENT = ("{%", "{#")


class Place(NamedTuple):
    """A place where a pattern was found, and the values of the placeholders in it and around it."""

    start: int
    end: int
    values: Mapping[str, str]


class _Piece(NamedTuple):
    text: str
    is_open: bool
    """Whether it is a placeholder, which stands for any text."""


_Spans = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Pattern:
    """The text between `before` and `after`, all with placeholders; `loose` about white space."""

    before: str
    inner: str
    after: str
    loose: bool = False

    def places(self, text: str) -> Iterator[Place]:
        """Yield every place of the pattern in the text, from left to right."""
        if not self._signs or not all(sign in text for sign in self._signs):
            return
        first, *rest = self._runs
        following = list(zip(self._gaps, rest, strict=True))
        for match in first.finditer(text):
            spans = _chain(text, match, following)
            place = self._place(text, spans) if spans else None
            if place:
                yield place

    def only_place(self, text: str) -> Place | None:
        """Return the only place of the pattern; None if there is none, or more than one."""
        found = self.places(text)
        place = next(found, None)
        return place if place and next(found, None) is None else None

    @cached_property
    def weight(self) -> int:
        """Return how many characters, white space aside, have to be found."""
        return sum(len("".join(piece.text.split())) for piece in self._pieces if not piece.is_open)

    @cached_property
    def _sides(self) -> tuple[list[_Piece], list[_Piece], list[_Piece]]:
        before, inner, after = (list(_pieces(text)) for text in (self.before, self.inner, self.after))
        return before, inner, after

    @cached_property
    def _bounds(self) -> tuple[int, int]:
        """Return which pieces are searched: none with an open end."""
        pieces = [piece for side in self._sides for piece in side]
        closed = [index for index, piece in enumerate(pieces) if not piece.is_open]
        return (closed[0], closed[-1] + 1) if closed else (0, 0)

    @cached_property
    def _pieces(self) -> list[_Piece]:
        start, end = self._bounds
        return [piece for side in self._sides for piece in side][start:end]

    @cached_property
    def _literals(self) -> list[list[_Piece]]:
        """Return the literal text between placeholders; pieces of two sides may meet in it."""
        return [list(run) for is_open, run in groupby(self._pieces, lambda p: p.is_open) if not is_open]

    @cached_property
    def _gaps(self) -> list[str]:
        """Return the placeholders between the literals."""
        gaps = (run for is_open, run in groupby(self._pieces, lambda p: p.is_open) if is_open)
        return ["".join(piece.text for piece in gap) for gap in gaps]

    @cached_property
    def _runs(self) -> list[re.Pattern[str]]:
        """Return the literals as regular expressions with one group for each piece."""
        last = len(self._literals) - 1
        runs = enumerate(self._literals)
        return [_loose(run, is_last=n == last) if self.loose else _exact(run) for n, run in runs]

    @cached_property
    def _signs(self) -> list[str]:
        """Return what a text must contain to be searched: the literals, or the longest words of loose literals."""
        if not self.loose:
            return ["".join(piece.text for piece in run) for run in self._literals]
        words = {word for run in self._literals for piece in run for word in piece.text.split()}
        return sorted(words, key=len, reverse=True)[:MOST_SIGNS]

    def _place(self, text: str, closed: _Spans) -> Place | None:
        spans = _with_open(self._pieces, closed)
        before, inner, _ = self._sides
        at = len(before) - self._bounds[0]
        start, end = self._edge(spans, at, True), self._edge(spans, at + len(inner), False)
        first, last = spans[0][0], spans[-1][1]
        if (
            start is None
            or end is None
            or SEAM in text[first:last]
            or in_word(text, first)
            or in_word(text, last)
        ):
            return None
        pairs = zip(self._pieces, spans, strict=True)
        return Place(start, max(start, end), {p.text: text[a:b].strip() for p, (a, b) in pairs if p.is_open})

    def _edge(self, spans: _Spans, index: int, starting: bool) -> int | None:
        """Return where the piece at `index` begins and the one before it ends, if a literal piece shows it."""
        has_inner = bool(self._sides[1])
        sides = ((index, 0), (index - 1, 1)) if starting and has_inner else ((index - 1, 1), (index, 0))
        for at, side in sides:
            if 0 <= at < len(spans) and not self._pieces[at].is_open:
                return spans[at][side]
        return None


def in_word(text: str, at: int) -> bool:
    """Return whether a place of a text is in the middle of a word."""
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


def filled(text: str, values: Mapping[str, str]) -> str | None:
    """Return a template's text with the values of its placeholders; None if a value is unknown."""
    parts = []
    for piece in _pieces(text):
        known = values.get(piece.text, "" if piece.text.startswith(_SILENT) else None)
        part = known if piece.is_open else piece.text
        if part is None:
            return None
        parts.append(part)
    return "".join(parts)


def placeholders(text: str) -> frozenset[str]:
    """Return the placeholders of a text that get a value when the text is sent."""
    return frozenset(p.text for p in _pieces(text) if p.is_open and not p.text.startswith(_SILENT))


def _pieces(text: str) -> Iterator[_Piece]:
    last = 0
    for found in PLACEHOLDER.finditer(text):
        if found.start() > last:
            yield _Piece(text[last : found.start()], False)
        yield _Piece(found[0], True)
        last = found.end()
    if last < len(text):
        yield _Piece(text[last:], False)


def _chain(
    text: str, match: re.Match[str], following: Sequence[tuple[str, re.Pattern[str]]]
) -> list[tuple[int, int]] | None:
    """Return the spans of all literal pieces, each run at its first place after the run before it.

    A placeholder that stands in the text as it is, in a template that is not filled in, stands for itself.
    """
    spans = list(_groups(match))
    for gap, run in following:
        start = match.end()
        itself = run.match(text, start + len(gap)) if text.startswith(gap, start) else None
        found = itself or run.search(text, start, start + LONGEST_FILLING)
        if found is None:
            return None
        match = found
        spans += _groups(match)
    return spans


def _groups(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    return (match.span(group) for group in range(1, len(match.groups()) + 1))


def _with_open(pieces: Sequence[_Piece], closed: _Spans) -> list[tuple[int, int]]:
    """Return the spans of all pieces; of two consecutive placeholders, the first gets the text between."""
    waiting, last = list(closed[::-1]), 0
    spans = []
    for piece in pieces:
        span = (last, waiting[-1][0]) if piece.is_open else waiting.pop()
        spans.append(span)
        last = span[1]
    return spans


def _exact(run: Sequence[_Piece]) -> re.Pattern[str]:
    return re.compile("".join(f"({re.escape(piece.text)})" for piece in run))


def _loose(run: Sequence[_Piece], *, is_last: bool) -> re.Pattern[str]:
    """Return a pattern that takes any white space for white space. It begins with none, so a search is linear."""
    groups, spaced = [], True
    for index, piece in enumerate(run):
        words = r"\s+".join(map(re.escape, piece.text.split()))
        head = r"\s+" if piece.text[0].isspace() and words and not spaced else ""
        ends_spaced = piece.text[-1].isspace() and bool(words or not spaced)
        tail = (
            _space_after(piece.text, ends_run=index == len(run) - 1, is_last=is_last) if ends_spaced else ""
        )
        groups.append(f"({head}{words}{tail})")
        spaced = ends_spaced or (spaced and not words)
    pattern = "".join(groups)
    return re.compile(
        pattern if any(piece.text.strip() for piece in run) else r"(\s+)" + "()" * (len(run) - 1)
    )


def _space_after(text: str, *, ends_run: bool, is_last: bool) -> str:
    """Return a pattern for the white space that ends a piece; a line break has to match before a placeholder."""
    if not ends_run:
        return r"\s+"
    if is_last:
        return r"[ \t]*\n?"
    return r"[ \t]*\n\s*" if "\n" in text[len(text.rstrip()) :] else r"\s*"
