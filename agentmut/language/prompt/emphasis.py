"""Emphasis in an instruction: bold, capitals, warning labels and exclamation marks in a row."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_LABEL = re.compile(
    r"(?P<open>\*\*|__|\*|_)?(?:very |extremely )?"
    r"(?:important|critical|crucial|attention|warning|caution)(?: (?:rule|note|warning))?\s?"
    r"(?:[:!]++(?P<mark>\*\*|__|\*|_)?|(?P<mark2>\*\*|__|\*|_)\s?[:!])[:!]*\s+(?P<next>\w)?",
    re.IGNORECASE,
)
_BOLD = re.compile(
    r"(?P<mark>\*\*\*|\*\*|(?<!\w)__)(?=[^\s*_])(?P<said>[^*\n]{1,300}?)(?<=[^\s*_])(?P=mark)(?!\w)"
)
_CAPITALS = re.compile(
    r"\b(?:NEVER|ALWAYS|MUST|NOT|DO|DON'T|DON’T|ONLY|EVERY|ALL|ANY|NO|EXACTLY|STRICTLY|IMMEDIATELY|CANNOT"
    r"|SHOULD|SHALL|WITHOUT|BEFORE|AFTER|FIRST|UNDER|CIRCUMSTANCES|EVER|VERY|REQUIRED|FORBIDDEN|UNLESS"
    r"|IMPORTANT|CRITICAL|ONCE|NOTHING|REALLY|PLEASE|EXCEPT|ALONE|AND|OR|ABSOLUTELY|MANDATORY|AT|MOST|LEAST)\b"
)
_SHOUTING = re.compile(r"!{2,}")


class Emphasis(NamedTuple):
    """Characters `start` to `end` of a text, which without emphasis read `plain`."""

    start: int
    end: int
    plain: str


def emphases(text: str) -> tuple[Emphasis, ...]:
    """Return every emphasis of one instruction, in order and disjoint; none for a text all in capitals.

    >>> [(e.start, e.plain) for e in emphases("IMPORTANT: **Never** guess, NOT even once!!!")]
    [(0, ''), (11, ''), (18, ''), (28, 'not'), (41, '.')]
    """
    every = (*_labels(text), *_bold(text), *_shouted(text))
    found = sorted(every, key=lambda one: (one.start, -one.end))
    kept: list[Emphasis] = []
    for one in found:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return tuple(kept)


def _labels(text: str) -> Iterator[Emphasis]:
    label = _LABEL.match(text)
    if not label or (label["open"] or None) != (label["mark"] or label["mark2"] or None):
        return
    first = label["next"] or ""
    yield (
        Emphasis(0, label.end(), first.upper())
        if first.islower()
        else Emphasis(0, label.end() - len(first), "")
    )


def _bold(text: str) -> Iterator[Emphasis]:
    for bold in _BOLD.finditer(text):
        if _is_name(text, bold):
            continue
        size = len(bold["mark"])
        yield Emphasis(bold.start(), bold.start() + size, "")
        yield Emphasis(bold.end() - size, bold.end(), "")


def _is_name(text: str, bold: re.Match[str]) -> bool:
    """Return whether bold type marks a name, as in "You are **Ava**", or a label, as in "**Tone:** be kind"."""
    said = bold["said"]
    if bold.start() == 0:
        return said.endswith(":") or text.startswith(":", bold.end())
    return said.istitle() and " " not in said and not _CAPITALS.fullmatch(said.upper())


def _shouted(text: str) -> Iterator[Emphasis]:
    for marks in _SHOUTING.finditer(text):
        yield Emphasis(*marks.span(), ".")
    if not any(map(str.islower, text)):
        return
    label = _LABEL.match(text)  # it goes, and what it stood before begins the sentence
    begins = label.start("next") if label and label["next"] else 0
    first = next(at for at, character in enumerate(text) if at >= begins and character.isalnum())
    for word in _CAPITALS.finditer(text):
        said = word.group()
        yield Emphasis(*word.span(), said.capitalize() if word.start() == first else said.lower())
