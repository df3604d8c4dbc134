"""What moves in a text from run to run, such as a date or a user's name: placeholders stand for it in a template."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate
from typing import NamedTuple

from agentmut.wire import changed_lines

Span = tuple[int, int]
"""Characters of the first text, from the start to before the end; empty where only another text has something."""


class MovingPart(NamedTuple):
    """A part of a text that is another one in other runs."""

    name: str
    value: str
    """What stood there in the first run."""


class Template(NamedTuple):
    """A text with a placeholder, such as `{date}`, for each part that moves."""

    text: str
    parts: tuple[MovingPart, ...]


MOST_PAIRS = 4_000_000
"""Pairs of words that are compared; what is longer moves as a whole."""
MOST_OF_A_STRETCH = 0.5
"""Where more than this share of neighbouring lines differs, they are other lines, and move as a whole."""
SHORT_WORD = 4
"""Letters of a word, such as `at`, that belongs to what moves on both sides of it."""
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_LINKS = "-:/.+_@"
"""Signs inside of dates, times, addresses and numbers."""
_OF_A_TIME = re.compile(
    r"[ \t]?(?:[AaPp][Mm]\b|[AaPp]\.[Mm]\.|(?:UTC|GMT|Z\b)(?:[+-]\d\d:?\d\d)?|[+-]\d\d:?\d\d)"
)
_CLOCK = re.compile(r"\d{1,2}:\d\d")
_DAY = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\b(?:19|20)\d\d\b|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
)
_LABEL = re.compile(r"[^\W\d_]+")
_SAYS_NOTHING = frozenset(
    (
        *("is", "are", "was", "be", "the", "a", "an", "it", "its"),
        *("at", "on", "in", "of", "for", "to", "by", "named", "called", "with", "and", "from", "s"),
    )
)


def template_of(text: str, others: Sequence[str]) -> Template:
    """Return `text` as a template of itself and the `others`, which the same agent sent in other runs.

    Unchanged where all are alike.

    >>> template_of("Today is 2026-11-27. Be kind.", ["Today is 2028-01-04. Be kind."])
    Template(text='Today is {date}. Be kind.', parts=(MovingPart(name='date', value='2026-11-27'),))
    """
    spans = moving_spans(text, others)
    pieces: list[str] = []
    parts: list[MovingPart] = []
    taken = set(re.findall(r"\{(\w+)\}", text))
    last = 0
    for start, end in spans:
        name = _unused(_name(text, start, end), taken)
        parts.append(MovingPart(name, text[start:end]))
        pieces += [text[last:start], f"{{{name}}}"]
        last = end
    return Template("".join([*pieces, text[last:]]), tuple(parts))


def moving_spans(text: str, others: Sequence[str]) -> list[Span]:
    """Return where `text` differs from any of the `others`: sorted, disjoint, as whole words."""
    found = [span for other in dict.fromkeys(others) if other != text for span in _differing(text, other)]
    return _joined(text, sorted(_whole_span(text, *span) for span in found))


def _differing(text: str, other: str) -> Iterator[Span]:
    old, new = text.splitlines(keepends=True), other.splitlines(keepends=True)
    starts, news = ([0, *accumulate(map(len, lines))] for lines in (old, new))
    for i, j, k, m in changed_lines(old, new):
        yield from _in_stretch(starts[i], text[starts[i] : starts[j]], other[news[k] : news[m]])


def _in_stretch(offset: int, old: str, new: str) -> Iterator[Span]:
    """Yield what differs in neighbouring lines, which begin at `offset`."""
    ours, theirs = _TOKEN.findall(old), _TOKEN.findall(new)
    whole = (offset + len(old) - len(old.lstrip()), offset + len(old.rstrip()))
    if not old.strip() or len(ours) * len(theirs) > MOST_PAIRS:
        yield whole if old.strip() else (offset, offset)
        return
    ends = [0, *accumulate(map(len, ours))]
    codes = SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
    spans = [(offset + ends[i], offset + ends[j]) for kind, i, j, _, _ in codes if kind != "equal"]
    moved = sum(end - start for start, end in spans)
    yield from [whole] if moved > MOST_OF_A_STRETCH * len(old.strip()) else spans


def _whole_span(text: str, start: int, end: int) -> Span:
    """Return the span without white space at its ends, as a whole word, date or address."""
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    while start > 0 and _goes_on(text, start - 1, -1):
        start -= 1
    while end < len(text) and _goes_on(text, end, 1):
        end += 1
    if _CLOCK.search(text, start, end) or _DAY.search(text, start, end):
        more = _OF_A_TIME.match(text, end)
        end = more.end() if more else end
    return start, end


def _goes_on(text: str, at: int, step: int) -> bool:
    """Return whether a character belongs to the word that it follows, or comes before, by `step`."""
    near = text[at - step : at - step + 1]
    if text[at].isalnum():
        return near.isalnum() or near in _LINKS
    beyond = text[at + step : at + step + 1] if at + step >= 0 else ""
    return text[at] in _LINKS and near.isalnum() and beyond.isalnum()


def _joined(text: str, spans: Sequence[Span]) -> list[Span]:
    """Return the spans, those as one between which nothing but blanks, signs or a short word stands."""
    found: list[Span] = []
    for start, end in spans:
        if found and _belongs(text[found[-1][1] : start]):
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _belongs(between: str) -> bool:
    words = between.split()
    letters = sum(map(str.isalnum, between))
    if "\n" in between:
        return not words
    return letters <= SHORT_WORD and len(words) <= 2 and not re.search(r"[()|;]", between)


def _name(text: str, start: int, end: int) -> str:
    """Return a word for what moves: by what it looks like, or by what stands before it."""
    value = text[start:end]
    if "\n" not in value and (_CLOCK.search(value) or _DAY.search(value)):
        return (
            "now"
            if _CLOCK.search(value) and _DAY.search(value)
            else "time"
            if _CLOCK.search(value)
            else "date"
        )
    line = text.rfind("\n", 0, start) + 1
    before = text[line:start] if text[line:start].strip() else text[:line].rstrip().rpartition("\n")[2]
    labels = [word.lower() for word in _LABEL.findall(before)[-4:]]
    return next((word for word in reversed(labels) if word.isascii() and word not in _SAYS_NOTHING), "text")


def _unused(name: str, taken: set[str]) -> str:
    """Return the name, or with a number the first that is not `taken`, and take it."""
    tries = (name if number == 1 else f"{name}_{number}" for number in range(1, len(taken) + 2))
    free = next(found for found in tries if found not in taken)
    taken.add(free)
    return free
