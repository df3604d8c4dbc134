"""What a mutant changes, word by word and in its place."""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from typing import NamedTuple

from agentmut.nouns import MutantRow, SourceText, TextChange
from agentmut.report.paint import clean

_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
_AROUND = 160
"""Characters shown of the line before a change and behind it."""
_WORK = 40_000
"""Pairs of words compared; where there are more, the whole text counts as replaced."""
_LONGEST = 20_000
"""Characters of a text that are compared word by word."""
_PIECES = 120


class Kind(StrEnum):
    """What a piece of a diff is."""

    SAME = "="
    GONE = "-"
    NEW = "+"
    LEFT_OUT = "~"
    """Text in between that is not shown; the piece says how much."""


class Piece(NamedTuple):
    """Some text of a diff."""

    kind: Kind
    text: str


def diff_of(row: MutantRow, sources: Sequence[SourceText], longest: int) -> list[Piece]:
    """Return the change of a mutant, cleaned; in the lines around it where the result has the text.

    No piece has more than `longest` characters.
    """
    if row.changes and all(change.text < len(sources) for change in row.changes):
        pieces = _in_place(row.changes, sources)
    else:
        pieces = word_diff(row.before, row.after)
    return _shortened(pieces, longest)


def word_diff(before: str, after: str) -> Iterator[Piece]:
    """Yield both texts as one, with the words that differ.

    >>> [(piece.kind.value, piece.text) for piece in word_diff("at most 30 days", "at most 60 days")]
    [('=', 'at most '), ('-', '30'), ('+', '60'), ('=', ' days')]
    """
    if max(len(before), len(after)) > _LONGEST:
        yield from _joined([Piece(Kind.GONE, before), Piece(Kind.NEW, after)])
        return
    if not before or not after:  # most mutants drop something or add something
        yield from _joined([Piece(Kind.GONE, before), Piece(Kind.NEW, after)])
        return
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    tail = old[len(old) - end :]
    middle = _middle(old[start : len(old) - end], new[start : len(new) - end])
    yield from _joined((Piece(Kind.SAME, "".join(old[:start])), *middle, Piece(Kind.SAME, "".join(tail))))


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    for i, (a, b) in enumerate(zip(left, right, strict=False)):  # a generator would take twice the time
        if a != b:
            return i
    return min(len(left), len(right))


def _middle(old: Sequence[str], new: Sequence[str]) -> Iterator[Piece]:
    if not old or not new or len(old) * len(new) > _WORK:
        yield from (Piece(Kind.GONE, "".join(old)), Piece(Kind.NEW, "".join(new)))
        return
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield Piece(Kind.SAME, "".join(old[a:b]))
        else:
            yield from (Piece(Kind.GONE, "".join(old[a:b])), Piece(Kind.NEW, "".join(new[c:d])))


def _in_place(changes: Sequence[TextChange], sources: Sequence[SourceText]) -> Iterator[Piece]:
    """Yield the changes with the rest of the lines that they stand in; whole lines with the lines around them."""
    done: dict[int, int] = {}
    for change, following in zip(changes, (*changes[1:], None), strict=True):
        text = sources[change.text].text
        yield from _lead(text, done.get(change.text), change.start)
        yield from word_diff(text[change.start : change.end], change.after)
        done[change.text] = change.end
        if following is None or following.text != change.text:
            yield Piece(Kind.SAME, _tail(text, change))


def _lead(text: str, done: int | None, start: int) -> Iterator[Piece]:
    """Yield the text before a change, from its line's start or from the end of the previous change."""
    line = max(text.rfind("\n", 0, max(0, start - 1)) + 1, start - _AROUND)
    if done is None:
        yield Piece(Kind.SAME, text[line:start])
    elif start - done <= 3 * _AROUND:
        yield Piece(Kind.SAME, text[done:start])
    else:
        yield Piece(Kind.LEFT_OUT, f"{line - done:,} characters")
        yield Piece(Kind.SAME, text[line:start])


def _tail(text: str, change: TextChange) -> str:
    """Return the text after a change: the rest of its line, or the next line."""
    stop = text.find("\n", change.end)
    return text[change.end : min(len(text) if stop < 0 else stop, change.end + _AROUND)].rstrip()


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield neighbours of one kind put together; empty ones left out."""
    last: Piece | None = None
    for piece in pieces:
        if not piece.text:
            continue
        if last and last.kind is piece.kind:
            last = Piece(last.kind, last.text + piece.text)
            continue
        if last:
            yield last
        last = piece
    if last:
        yield last


def _shortened(pieces: Iterable[Piece], longest: int) -> list[Piece]:
    found = list(_joined(pieces))
    shown = [Piece(kind, cut(text, longest)) for kind, text in found[:_PIECES]]
    if len(found) > _PIECES:
        shown.append(Piece(Kind.LEFT_OUT, f"{len(found) - _PIECES:,} further pieces"))
    return shown


def cut(text: str, longest: int) -> str:
    """Return the text cleaned, and cut in its middle to about so many characters.

    >>> cut("abcdefghij", 6)
    'abc [... 4 characters ...] hij'
    """
    if len(text) <= longest:
        return clean(text)
    half = longest // 2
    return f"{clean(text[:half])} [... {len(text) - 2 * half:,} characters ...] {clean(text[-half:])}"
