"""Literal demands on the form of an answer: limits, openings, endings, phrases, JSON keys."""

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

_QUOTED = r"[\"“«](?P<said>[^\"”»]{1,300})[\"”»]"
_LIMIT = re.compile(
    r"\b(?:under|at most|no more than|not more than|fewer than|less than|below|max(?:imum)?|within|up to"
    r"|not? exceed|limit\w* to|longer than|over)\s+(?:of\s+)?"
    r"(?P<number>\d+)\s+(?P<unit>words?|sentences?|characters?)",
    re.IGNORECASE,
)
_START = re.compile(
    rf"\b(?:start|begin|open|greet)\w*\b[^\"“«.]{{0,200}}?(?:with|by|:)[^\"“«.]{{0,200}}?{_QUOTED}",
    re.IGNORECASE,
)
_END = re.compile(
    rf"\b(?:end|close|finish|conclude|sign off)\w*\b[^\"“«.]{{0,200}}?(?:with|by|:)[^\"“«.]{{0,200}}?{_QUOTED}",
    re.IGNORECASE,
)
_AVOID = re.compile(
    rf"\b(?:never|do not|don['’]t|must not|avoid|cannot|refrain)\b[^\"“«.]{{0,200}}?{_QUOTED}", re.IGNORECASE
)
_INCLUDE = re.compile(
    rf"\b(?:include|contain|use|say|mention|add|write|state|reply with|answer with)\w*\b[^\"“«.]{{0,200}}?{_QUOTED}",
    re.IGNORECASE,
)
_JSON = re.compile(r"\bJSON\b", re.IGNORECASE)
_KEYS = re.compile(r"\b(?:keys?|fields?)\b(?P<keys>[^.;\n]*)", re.IGNORECASE)
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_FILLER_KEYS = {"and", "the", "a", "named", "called"}


class Format(NamedTuple):
    """An instruction's literal demands on the form of an answer."""

    start: str = ""
    end: str = ""
    include: str = ""
    avoid: str = ""
    limit: tuple[int, str] | None = None
    keys: tuple[str, ...] = ()


@lru_cache(maxsize=4_096)
def demands(instruction: str) -> Format | None:
    """Return the literal demands of an instruction; None if it has none.

    >>> demands('Close with "Good night".').end
    'Good night'
    >>> demands("Write at most 40 words.").limit
    (40, 'word')
    >>> demands("Answer as JSON with the keys `lamp` and `price`.").keys
    ('lamp', 'price')
    """
    found = Format(
        start=_captured_text(_START, instruction),
        end=_captured_text(_END, instruction),
        avoid=_captured_text(_AVOID, instruction),
        limit=_limit(instruction),
        keys=_keys(instruction),
    )
    if not (found.start or found.end or found.avoid):
        found = found._replace(include=_captured_text(_INCLUDE, instruction))
    return found if any(found) else None


def fits(sentences: Iterable[str], limit: tuple[int, str]) -> bool:
    """Return whether an answer of these sentences stays within a limit."""
    return measure(" ".join(sentences), limit[1]) <= limit[0]


def measure(answer: str, unit: str) -> int:
    """Return the length of an answer in a limit's unit."""
    if unit == "word":
        return len(answer.split())
    return len(answer) if unit == "character" else len(_SENTENCE.split(answer.strip()))


def cut(answer: str, limit: tuple[int, str]) -> str:
    """Return the beginning of an answer that stays within a limit."""
    number, unit = limit
    if measure(answer, unit) <= number:
        return answer
    if unit == "word":
        return " ".join(answer.split()[:number]).rstrip(",;:")
    return answer[:number] if unit == "character" else " ".join(_SENTENCE.split(answer.strip())[:number])


def as_json(values: object) -> str:
    """Return an answer in JSON."""
    return json.dumps(values, ensure_ascii=False)


def _captured_text(pattern: re.Pattern[str], instruction: str) -> str:
    match = pattern.search(instruction)
    return match["said"].strip() if match else ""


def _limit(instruction: str) -> tuple[int, str] | None:
    match = _LIMIT.search(instruction)
    return (int(match["number"]), match["unit"].lower().rstrip("s")) if match else None


def _keys(instruction: str) -> tuple[str, ...]:
    json = _JSON.search(instruction)
    match = _KEYS.search(instruction, json.end()) if json else None
    found = _KEY.findall(match["keys"]) if match else []
    return tuple(dict.fromkeys(key for key in found if key.lower() not in _FILLER_KEYS))
