"""Read numbers with their units, whatever the notation."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from agentmut.language.prompt.spans import Span
from agentmut.language.quantities.units import ANY_UNIT, SHORT_UNIT, unit_of, units_said
from agentmut.language.vocabulary.number_words import LARGE_NUMBER, large_value_of

_FIGURE = (
    r"\d{1,3}(?:\.\d{3})+,\d{1,2}(?!\d)|\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\d+,\d{1,2}(?![\d,])|\d+(?:\.\d+)?"
)
_NUMBER = re.compile(
    rf"""
    (?P<sign>(?<![^\s(])[-−](?=[\d$€£¥]))?
    (?P<currency>(?:US\$|[$€£¥]|\b(?:USD|EUR|GBP|CHF|JPY)\s)\s?)?
    (?:(?<![\w.,:/#-])|(?<=[$€£¥-])|(?<=\d[-–]))(?P<figure>{_FIGURE})(?!\w*[:/]\d|st\b|nd\b|rd\b|th\b)
    (?P<scale>\s?(?i:thousand|million|billion|bn)\b|[kK]\b)?
    (?P<unit>[-\s]?(?i:{ANY_UNIT})(?![\w°])|\s?(?!in\s+[a-z]){SHORT_UNIT}(?![\w'’]))?
  | (?P<words>(?i:{LARGE_NUMBER}))(?:(?:-|\s+)(?P<counted>(?i:{ANY_UNIT}))(?!\w))?
    """,
    re.VERBOSE,
)
_ENUMERATOR = re.compile(r"(?m)^[ \t]*(?:\(?\d{1,2}[.)])(?=\s)")
_SCALES = {"k": 1_000, "thousand": 1_000, "million": 1_000_000, "billion": 10**9, "bn": 10**9}
_RANGE = re.compile(r"\s*(?:-|–|—|to|or|and)\s*", re.IGNORECASE)
_LONGEST = 24
_COINS = {"dollar": "cent", "euro": "cent", "pound": "penny"}
_COUNTED = re.compile(r"\s+(?!of\b)(?:[a-z-]+\s+)?[a-z]{3,}(?<![su])s\b", re.IGNORECASE)
"""A noun in the plural that a number stands before."""


class Quantity(NamedTuple):
    """A number, what it counts or measures (empty if unknown), and its place in the text."""

    value: Decimal
    unit: str
    span: Span
    counts: bool = True
    """Whether it counts or measures something; "two" does in "two open orders", not in "one of two"."""

    def __str__(self) -> str:
        value, unit = _in_coins(self.value, self.unit)
        number = f"{value.normalize():f}"
        return f"{number} {unit if value == 1 else units_said(unit)}" if unit else number


def _in_coins(value: Decimal, unit: str) -> tuple[Decimal, str]:
    """Write an amount below 1 in coins: $0.50 is 50 cents."""
    if unit in _COINS and 0 < abs(value) < 1:
        return value * 100, _COINS[unit]
    return value, unit


def quantities(text: str) -> tuple[Quantity, ...]:
    """Return the quantities of a text in order. Blank out dates, times and identifiers before.

    Numbers in words count where a unit or a noun in the plural follows them; a range states both its ends in its unit.

    >>> [str(quantity) for quantity in quantities("Pay $1,200.00 in three to five days, or 10%.")]
    ['1200 dollars', '3 days', '5 days', '10 percent']
    """
    plain = _ENUMERATOR.sub(lambda found: " " * len(found.group()), text)
    found = list(_found(plain))
    for index, (left, right) in enumerate(pairwise(tuple(found))):
        if _RANGE.fullmatch(plain, left.span.end, right.span.start):
            found[index] = found[index]._replace(unit=found[index].unit or right.unit)
            found[index + 1] = right._replace(unit=right.unit or left.unit)
    return tuple(quantity for quantity in found if quantity.unit or quantity.counts)


def _found(text: str) -> Iterator[Quantity]:
    for match in _NUMBER.finditer(text):
        span = Span(*match.span())
        if match["words"]:
            value = large_value_of(match["words"])
            if value is not None:
                counts = value > 1 and _COUNTED.match(text, span.end) is not None
                yield Quantity(Decimal(value), unit_of(match["counted"] or ""), span, counts)
        elif len(match["figure"]) <= _LONGEST:
            said = match["currency"] or match["unit"] or ""
            yield Quantity(_value(match), unit_of(said.strip(" -\n\t")), span)


def _value(match: re.Match[str]) -> Decimal:
    figure = match["figure"]
    scale = _SCALES[match["scale"].strip().lower()] if match["scale"] else 1
    value = Decimal(_plain(figure)) * scale
    return -value if match["sign"] else value


def _plain(figure: str) -> str:
    """Return a number without marks of thousands, and with a full stop before the decimals."""
    european = re.fullmatch(r"\d{1,3}(?:\.\d{3})+,\d{1,2}|\d+,\d{1,2}", figure)
    return figure.replace(".", "").replace(",", ".") if european else figure.replace(",", "")


def blanked(text: str, spans: Sequence[Span]) -> str:
    """Return the text with these spans blanked out, so that they are not read again; each character keeps its place.

    The spans come in the order of their beginnings; one may stand within another, as a time within a date.

    >>> blanked("at 2026-05-15T15:00, room 2", [Span(3, 19), Span(14, 19)])
    'at                 , room 2'
    """
    kept, start = [], 0
    for span in spans:
        if span.start < start:
            continue
        kept += [text[start : span.start], " " * (span.end - span.start)]
        start = span.end
    return "".join((*kept, text[start:]))
