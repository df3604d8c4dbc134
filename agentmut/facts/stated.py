"""Figures that a text states, in one form for each."""

import re
from datetime import datetime

from agentmut.text.facts import FactKind, StatedFact, facts
from agentmut.text.number_words import value_of

Figure = tuple[str, str]
"""Kind and value; two are the same figure when both are equal."""
_CURRENCIES = {"$": "usd", "€": "eur", "£": "gbp", "¥": "jpy", "dollar": "usd", "euro": "eur", "pound": "gbp"}
_DAYS = ("%d %B %Y", "%B %d %Y", "%d %b %Y", "%b %d %Y")
_NO_YEAR = ("%d %B", "%B %d", "%d %b", "%b %d")


def stated_figures(text: str) -> dict[Figure, str]:
    """The figures of a text -> how each is written where it comes first.

    >>> stated_figures("Pay $1,200.00 within five days.")
    {('amount', '1200 usd'): '$1,200.00', ('quantity', '5 day'): 'five days'}
    """
    found: dict[Figure, str] = {}
    for fact in facts(text):
        written = text[fact.span.start : fact.span.end]
        found.setdefault((fact.kind.value, _value(fact, written, text)), written)
    return found


def _value(fact: StatedFact, written: str, text: str) -> str:
    value = text[fact.value.start : fact.value.end]
    if fact.kind is FactKind.AMOUNT:
        return f"{_number(value)} {_currency(written.replace(value, '', 1))}"
    if fact.kind is FactKind.QUANTITY:
        unit = " ".join(written.replace(value, "", 1).lower().split())
        return f"{_number(value)} {unit if len(unit) < 4 else unit.removesuffix('s')}"
    if fact.kind is FactKind.DATE:
        return _date(written)
    return written


def _number(value: str) -> str:
    if (words := value_of(value)) is not None:
        return str(words)
    try:
        return f"{float(value.replace(',', '')):.10g}"
    except ValueError:
        return value


def _currency(sign: str) -> str:
    name = sign.strip().lower()
    return _CURRENCIES.get(name.partition(" ")[0].removesuffix("s"), name)


def _date(written: str) -> str:
    """ISO where the day is known, with no year where none is given; otherwise as it is written."""
    plain = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b|[.,]", "", written)
    for form, shown in (*((form, "%Y-%m-%d") for form in _DAYS), *((form, "%m-%d") for form in _NO_YEAR)):
        try:
            # a leap year stands in for a year that is not given, so that 29 February is a day
            day = (
                datetime.strptime(f"{plain} 2000", f"{form} %Y")
                if "%Y" not in form
                else datetime.strptime(plain, form)
            )
        except ValueError:
            continue
        return day.strftime(shown)
    return written.casefold()
