"""Find the facts that a text states in figures: amounts, quantities, dates, times, identifiers, with exact spans."""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from agentmut.language.prompt.spans import Span
from agentmut.language.quantities.units import CLOCK_FORMAT, MONEY, MONTH, UNIT_AFTER_FIGURE
from agentmut.language.vocabulary.number_words import NOT_AFTER_LARGER, NUMBER


class FactKind(StrEnum):
    """The kind of a fact."""

    DATE = "date"
    """A day, a month or a year."""
    TIME = "time"
    """A time of day, such as 18:30."""
    AMOUNT = "amount"
    """An amount of money."""
    QUANTITY = "quantity"
    """A number with its unit; "five days" too. Per cent is a unit, and so are degrees."""
    IDENTIFIER = "identifier"
    """Letters and digits that name a thing, such as KB-204."""


class StatedFact(NamedTuple):
    """One fact. Spans count characters of the text that it was found in."""

    kind: FactKind
    span: Span
    """All of it, with unit or currency."""
    value: Span
    """The part that another value would change: the number, the year, the name."""


_FIGURE = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?|\d{1,12}(?:[.,]\d{1,2})?)"
_SIGN = r"[$€£¥]"
_BEFORE = r"(?<![\w.,:/#-])"
_FACT = re.compile(
    rf"""
      {_BEFORE}(?:
        (?P<iso>(?:19|20)\d\d-(?:0\d|1[0-2])-(?:[0-2]\d|3[01]))(?![\w-])
      | (?:\d{{1,2}}(?:st|nd|rd|th)?\s+)?{MONTH}\.?(?:\s+\d{{1,2}}(?:st|nd|rd|th)?,)?\s+(?P<year>(?:19|20)\d\d)\b
      | (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+{MONTH}\b
      | {MONTH}\s+(?P<day_after>\d{{1,2}})\b(?!:)
      | (?:(?<=[Ii]n\s)|(?<=[Ss]ince\s)|(?<=until\s))(?P<bare_year>(?:19|20)\d\d)\b(?!\s*{UNIT_AFTER_FIGURE}\b)
      | (?P<time>(?:[01]?\d|2[0-3]):[0-5]\d)(?![\w:])
      | {_SIGN}\s?(?P<signed>{_FIGURE})(?![\w]|[.,]\d)
      | (?P<amount>{_FIGURE})\s?{MONEY}
      | (?!{CLOCK_FORMAT})(?P<quantity>{_FIGURE})(?:\s?%|\s?°(?:\s?[CF]\b)?|\s?{UNIT_AFTER_FIGURE}\b)
      | {NOT_AFTER_LARGER}(?P<words>(?i:{NUMBER}))\s+{UNIT_AFTER_FIGURE}\b
      | (?P<identifier>[A-Z]{{1,6}}(?:-\d\d|\d{{3}})[\dA-Za-z]*(?:-[\dA-Za-z]+)*)(?![\w-])
      )
    """,
    re.VERBOSE,
)
_KINDS = {
    "iso": FactKind.DATE,
    "year": FactKind.DATE,
    "day": FactKind.DATE,
    "day_after": FactKind.DATE,
    "bare_year": FactKind.DATE,
    "time": FactKind.TIME,
    "signed": FactKind.AMOUNT,
    "amount": FactKind.AMOUNT,
    "quantity": FactKind.QUANTITY,
    "words": FactKind.QUANTITY,
    "identifier": FactKind.IDENTIFIER,
}


def facts(text: str) -> Iterator[StatedFact]:
    """Return the facts of a text, in order and disjoint. A number without a unit is no fact.

    >>> [text[f.span.start:f.span.end] for text in ["Pay 20 euros in 3 days."] for f in facts(text)]
    ['20 euros', '3 days']
    """
    for match in _FACT.finditer(text):
        found = match.lastgroup
        if found is not None:
            yield StatedFact(_KINDS[found], Span(*match.span()), Span(*match.span(found)))
