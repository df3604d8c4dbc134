"""Values of arguments and fields as facts: what is told by form counts whole, free text by the facts in it."""

import re
from collections.abc import Iterator

from pydantic import JsonValue

from agentmut.facts.fact import IS
from agentmut.facts.figures import figures
from agentmut.text.quantities import quantities

MOST_WORDS = 3
"""A text of more words is free text."""
_EXACT = 2.0**53
"""Below it every whole number is told from the next."""
_BLANKS = re.compile(r"[\s_]+")


def leaves(value: JsonValue, path: str = "") -> Iterator[tuple[str, JsonValue]]:
    """Every plain value with its JSON pointer, in which `*` stands for any place of a list."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from leaves(item, f"{path}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list) and value:
        for item in value:
            yield from leaves(item, f"{path}/*")
    else:
        yield path, value


def stated(place: str, value: JsonValue) -> Iterator[str]:
    """The facts that a value at a named place states.

    A text of up to three words counts as it is, apart from case, blanks and marks; a longer one counts by the
    numbers, dates and ids in it, for its wording says nothing.

    >>> [*stated("order", "a-1042"), *stated("why", "It broke after 2 days of use")]
    ['order = a-1042', 'why = (2 days)']
    """
    if not isinstance(value, str):
        yield f"{place}{IS}{_plain(value)}"
        return
    found = figures(value)
    if len(value.split()) <= MOST_WORDS:
        yield f"{place}{IS}{short(value)}"
        return
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


def short(said: str) -> str:
    """A short text without what does not matter.

    >>> short("42.50"), short("3 March 2026"), short("10 km"), short(" Gold_Card!")
    ('42.5', '2026-03-03', '10 kilometers', 'gold card')
    """
    plain = _BLANKS.sub(" ", said).strip(" .!?\"'").lower()
    found = figures(said.strip())
    days = [day for day in found.dates if day[:1].isdigit() and "-" in day]
    if days and not found.numbers and not found.ids:
        return days[0]
    read = quantities(said.strip())
    if len(read) == 1 and read[0].span == (0, len(said.strip())):
        return str(read[0])
    return plain
