"""Values of arguments and fields as facts: a formal value counts whole, free text counts by the facts in it."""

import re
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from agentmut.language.extractors.figures import figures
from agentmut.language.extractors.leaves import leaves, objects
from agentmut.language.quantities.calendar_days import Day, days
from agentmut.language.quantities.quantities import quantities
from agentmut.nouns import IS

MOST_WORDS = 3
"""A text of more words is free text."""
_EXACT = 2.0**53
"""Below it every whole number is told from the next."""
_BLANKS = re.compile(r"[\s_]+")
_LONGEST_DAY = 60
"""Characters: "Wednesday, the 3rd of September, 2026, at 10:00 a.m."."""
_PADDED = re.compile(r"0\d")
"""The beginning of a code that is no number: 0042."""
_BESIDE_DAYS = re.compile(
    r",|\b(?:on|at|the|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?)\b", re.IGNORECASE
)


def stated(place: str, value: JsonValue) -> Iterator[str]:
    """Return the facts that a value at a named place states.

    A text of up to three words counts as it is, apart from case, blanks and marks; a longer one counts by the
    numbers, dates and ids in it, for its wording says nothing.

    >>> [*stated("order", "a-1042"), *stated("why", "It broke after 2 days of use")]
    ['order = a-1042', 'why = (2 days)']
    """
    if not isinstance(value, str):
        yield f"{place}{IS}{_plain(value)}"
        return
    if not is_free(value):
        yield f"{place}{IS}{short(value)}"
        return
    found = figures(value)
    for figure in sorted(found.numbers | found.dates | found.ids):
        yield f"{place}{IS}({figure})"


def _plain(value: JsonValue) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float) and not (value.is_integer() and abs(value) < _EXACT):
        return f"{value:.10g}"
    if isinstance(value, int | float):
        return str(int(value))
    return "{}" if isinstance(value, dict) else "[]"


def together(place: str, value: JsonValue) -> Iterator[str]:
    """Yield one fact for each object in a list: its values together, without free text.

    >>> [*together("", [{"id": 1, "n": 2}, {"id": 2}])]
    ['/*(/id = 1, /n = 2)']
    """
    for pointer, item in objects(value):
        told = [(name, leaf) for name, leaf in leaves(item) if not is_free(leaf)]
        found = sorted(fact for name, leaf in told for fact in stated(name, leaf))
        if len(found) > 1:
            yield f"{place}{pointer}({', '.join(found)})"


def is_free(value: JsonValue) -> bool:
    """Return whether a text has more than three words and is more than a date and a time."""
    if not isinstance(value, str) or len(value.split()) <= MOST_WORDS:
        return False
    return len(value) > _LONGEST_DAY or not all(word[0].isdigit() for word in short(value).split())


def short(text: str) -> str:
    """Return a short text without the parts that make no difference.

    >>> short("42.50"), short("3 March 2026, 10:00"), short("before March 3rd"), short("10 km"), short(" Gold_Card!")
    ('42.5', '2026-03-03 10:00', 'before 3 march', '10 kilometers', 'gold card')
    >>> short("0042"), short("2026-03-03T10:00"), short("Tue, 3 March 2026")
    ('0042', '2026-03-03 10:00', '2026-03-03')
    """
    plain = text.strip()
    found = tuple(days(plain))
    if found:
        return _dated(plain, found)
    read = quantities(plain)
    if len(read) == 1 and read[0].span == (0, len(plain)) and not _PADDED.match(plain):
        return str(read[0])
    return _bare(plain)


def _dated(text: str, found: Sequence[Day]) -> str:
    """Return the text with its dates and times in one notation."""
    kept, end = list[str](), 0
    for day in found:
        kept += [text[end : day.span.start], " ", day.value]
        end = max(end, day.span.end)
    rest = _BESIDE_DAYS.sub(" ", "".join((*kept, text[end:])))
    return _bare(rest)


def _bare(text: str) -> str:
    return _BLANKS.sub(" ", text).strip(" .,!?\"'").lower()
