"""Secrets of a known form that stand on two lines, or in two strings that a program joins."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from agentmut.recording.random_text import CHANGES, CHANGES_OF_TWO_KINDS, kind_of
from agentmut.recording.secret_forms import Form, places_of
from agentmut.recording.spans import Span, View

_SEAM = (
    r"(?:[ \t]?\\*+(?:(?:(?<=\\)r|\r)(?:\\++n|\n)|(?<=\\)n|\n|\r)(?:[ \t>|#*]|\\++t){0,40}"
    r"|\\*+[\"'][ \t]?\+?[ \t]?\\*+[\"'])"
)
"""The end of a line with how the next line begins, or the seam of two strings: `"ab" + "cd"`."""
_DIVISION = re.compile(rf"(?<=[A-Za-z0-9+/_-]){_SEAM}(?=[A-Za-z0-9+/_-])")
_RUN_TO_SEAM = re.compile(rf"[A-Za-z0-9+/_.-]{{2,300}}?{_SEAM}[A-Za-z0-9+/_-]")
_QUOTES = re.compile(r"[\\\"' \t+]*")
"""Seams of strings alone: nobody writes them between two words."""
LEAST = 6
"""Characters of a further part of a secret."""
REACH, REACH_BEFORE = 400, 80
"""Characters behind and before the mark of a form in which a token is looked for."""


def divided_spans(text: str, forms: Sequence[Form]) -> list[Span]:
    """Return the places of tokens that have one of the forms once the seams of lines and strings are gone."""
    return [span for form in forms for place in _places(text, form) for span in _at(text, place, form)]


def _places(text: str, form: Form) -> Iterator[int]:
    """Yield where a token may begin that a seam divides: the marks of the form near which there is one."""
    places = sorted({at for mark in form.marks for at in places_of(mark, text)})
    yield from (at for at in places if _RUN_TO_SEAM.match(text, at))


def _at(text: str, place: int, form: Form) -> Iterator[Span]:
    begin = max(0, place - REACH_BEFORE)
    part = text[begin : place + REACH]
    view = View(part, ((*found.span(), "") for found in _DIVISION.finditer(part)))
    for found in form.found_in(view.text):
        first, last = view.in_source(found.span())
        if first + begin <= place < last + begin and (end := _end_of_parts(part, first, last)):
            yield first + begin, end + begin


def _end_of_parts(text: str, first: int, last: int) -> int:
    """Return where the last part of a token ends: the next line may be a word. 0 if no part is behind a seam."""
    seams = [*_DIVISION.finditer(text, first, last)]
    if seams and _QUOTES.fullmatch("".join(seam[0] for seam in seams)):
        return last
    ends = [*(seam.start() for seam in seams[1:]), last]
    parts = ((end, text[seam.end() : end]) for seam, end in zip(seams, ends, strict=False))
    return max((end for end, _ in takewhile(lambda part: _is_part(part[1]), parts)), default=0)


def further_spans(text: str, mask: str) -> list[Span]:
    """Return the places of random parts that stand directly behind a mask and a seam, each alone in its line."""
    pattern = re.compile(
        rf"{re.escape(mask)}(?P<seam>{_SEAM})([A-Za-z0-9+/_-]{{{LEAST},}}={{0,2}})(?=\\|[\"'\s,;.)]|$)"
    )
    return list(_further(text, mask, pattern))


def _further(text: str, mask: str, pattern: re.Pattern[str]) -> Iterator[Span]:
    place = text.find(mask)
    while place >= 0:
        found = pattern.match(text, place)
        if found is not None and ("+" in found["seam"] or _is_part(found[2])):
            yield found.span(2)
        place = text.find(mask, place + 1)


def _is_part(text: str) -> bool:
    """Return whether a text looks like a part of a random string: no word, no number, no name of a thing."""
    text = text.rstrip("=")
    kinds = [kind_of(character) for character in text]
    present = set(kinds)
    if len(text) < LEAST or "digit" not in present or len(present) < 2:
        return False
    share = sum(a != b for a, b in pairwise(kinds)) / (len(kinds) - 1)
    if {"digit", "small", "capital"} <= present:
        return share >= CHANGES
    return "sign" not in present and len(text) >= 2 * LEAST and share >= CHANGES_OF_TWO_KINDS
