"""Other notations of the same date, number, amount or quantity."""

import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from types import MappingProxyType

from agentmut.language import MONTH, NUMBER, UNIT_AFTER_FIGURE, plural_of, splits, value_of, word_of
from agentmut.relations.turns import Change, Turn, said

_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
           "November", "December")  # fmt: skip
_EDGE, _END = r"(?<![\w.,:/#@-])", r"(?![\w/@-]|[.,:]\d)"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY_FIRST = re.compile(rf"{_EDGE}(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?P<month>{MONTH}),? {_YEAR}{_END}")
_MONTH_FIRST = re.compile(rf"{_EDGE}(?P<month>{MONTH}) (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? {_YEAR}{_END}")
_ISO = re.compile(rf"{_EDGE}{_YEAR}-(?P<month>\d\d)-(?P<day>\d\d){_END}")
_GROUPED = re.compile(rf"{_EDGE}[$€£]?(?P<number>\d{{1,3}}(?:,\d{{3}})+)(?P<rest>\.\d\d)?{_END}")
_COUNTED = rf"(?=\s(?:euros?|dollars?|pounds?|{UNIT_AFTER_FIGURE})\b)"
_PLAIN = re.compile(rf"(?<![\w.,:/#@-])(?P<sign>[$€£]?)(?P<number>[1-9]\d{{3,6}})(?P<rest>\.\d\d)?{_END}")
_DIGITS = re.compile(rf"{_EDGE}(?P<number>[2-9]|[1-9]\d){_COUNTED}")
_WORDS = re.compile(rf"(?<![\w-])(?P<number>(?i:{NUMBER})){_COUNTED}")
_BEFORE_WORDS = re.compile(r"(?:hundred|thousand|and|point|one|in|of|out)\s$|-$", re.I)
_SIGNED = re.compile(rf"{_EDGE}(?P<sign>[€£])(?P<number>\d+(?:,\d{{3}})*(?:\.\d\d)?){_END}")
_NAMED = re.compile(
    r"(?<![\w.,:/#@$-])(?P<number>\d+(?:,\d{3})*(?:\.\d\d)?) (?P<name>euros?|EUR|GBP)(?![\w-])"
)
_NAMES = MappingProxyType({"€": ("euros", "EUR"), "£": ("GBP",)})
_TWELVE = re.compile(
    r"(?<![\w:.])(?P<hour>1[0-2]|[1-9])(?::(?P<minute>[0-5]\d))? ?(?:(?P<half>[ap])m\b|(?P<dotted>[ap])\.m\.)",
    re.I,
)
_SENTENCE_AFTER = re.compile(r"\s*$|\s+[A-Z](?:[a-z]|\s)")
_LARGEST = 10
"""So many of a unit are still said in the smaller one: 2 hours, but not 24, are also minutes."""
_MEASURE = re.compile(
    rf"{_EDGE}(?P<number>\d+(?:\.\d+)?) ?"
    r"(?P<unit>km|kilometres?|kilometers?|kg|kilograms?|hours?|weeks?|minutes?)(?![\w-])"
)
_SMALLER = MappingProxyType({
    "km": (1000, " m"), "kilometre": (1000, " metres"), "kilometer": (1000, " meters"), "kg": (1000, " g"),
    "kilogram": (1000, " grams"), "hour": (60, " minutes"), "week": (7, " days"),
})  # fmt: skip
_ONE = rf"(?:\d[\w.,:/]*|(?i:\b{NUMBER}|\b(?:a half|half|a quarter|quarter))\b)"
_JOINS = r"(?:-|–|—|/|\+|(?:to|or|and|until|till|through|x|×|by|times|plus|minus)\b)"
_OF = rf"(?:\s?(?:[ap]\.?m\b\.?|%|[$€£]|{UNIT_AFTER_FIGURE}\b|[A-Za-z]+\b))"
_GOES_ON = re.compile(
    rf"\s?(?:hundred|thousand|million|billion|trillion|bn|dozen|k)\b|(?:{_OF}?\s*{_JOINS}|\s?{UNIT_AFTER_FIGURE}\b,?)?"
    rf"\s*[$€£]?{_ONE}",
    re.I,
)
_WENT_BEFORE = re.compile(rf"{_ONE}(?:{_OF}?\s*{_JOINS}|\s?{UNIT_AFTER_FIGURE}\b,?)?\s*[$€£]?$", re.I)
_SEEN = 40
"""Characters before a figure that may join it to another one."""
_MILE = Decimal("1.609344")
"""Kilometres."""
_EXACT_ENOUGH = Decimal("0.0025")


def dates(turn: Turn) -> Iterator[Change]:
    """Yield other notations of dates: 3 March 2026, March 3, 2026 and 2026-03-03, but not of the unclear 03/04/2026."""
    for pattern in (_DAY_FIRST, _MONTH_FIRST, _ISO):
        for match in pattern.finditer(turn.text):
            day = _day(match)
            if day:
                month = _MONTHS[day.month - 1]
                forms = (
                    f"{day.day} {month} {day.year}",
                    f"{month} {day.day}, {day.year}",
                    day.isoformat(),
                )
                yield from _changes(turn, match.span(), forms)


def _day(match: re.Match[str]) -> date | None:
    named = match["month"]
    month = next((n for n, full in enumerate(_MONTHS, 1) if full[:3] == named[:3]), 0)
    try:
        return date(int(match["year"]), month or int(named), int(match["day"]))
    except ValueError:
        return None


def grouping(turn: Turn) -> Iterator[Change]:
    """Yield numbers with and without a comma: 1,200 and 1200. Without one, only amounts count: 1200 may be a year."""
    for match in _GROUPED.finditer(turn.text):
        yield from _changes(turn, match.span("number"), (match["number"].replace(",", ""),))
    for match in _PLAIN.finditer(turn.text):
        counted = re.match(
            rf"\s?(?:euros?|dollars?|EUR|USD|GBP|{UNIT_AFTER_FIGURE})\b", turn.text[match.end() :]
        )
        if match["sign"] or counted:
            yield from _changes(turn, match.span("number"), (f"{int(match['number']):,}",))


def number_words(turn: Turn) -> Iterator[Change]:
    """Yield numbers in figures and in words: 5 days and five days, from two to ninety-nine, before a counted noun."""
    for match in _DIGITS.finditer(turn.text):
        yield from _changes(turn, match.span(), (word_of(int(match["number"])),))
    for match in _WORDS.finditer(turn.text):
        value = value_of(match["number"])
        if value and value > 1 and not _BEFORE_WORDS.search(turn.text[: match.start()]):
            yield from _changes(turn, match.span(), (str(value),))


def currencies(turn: Turn) -> Iterator[Change]:
    """Yield other notations of a currency: €20, 20 euros and 20 EUR. A dollar sign stays: its currency is unclear."""
    for match in _SIGNED.finditer(turn.text):
        yield from _changes(
            turn, match.span(), [f"{match['number']} {name}" for name in _NAMES[match["sign"]]]
        )
    for match in _NAMED.finditer(turn.text):
        sign = "£" if match["name"] == "GBP" else "€"
        names = () if sign == "£" or match["number"] == "1" else _NAMES[sign]
        others = [f"{match['number']} {name}" for name in names if name != match["name"]]
        yield from _changes(turn, match.span(), [f"{sign}{match['number']}", *others])


def times(turn: Turn) -> Iterator[Change]:
    """Yield 18:30 for 6:30 pm. The reverse is left out, since 7:30 may already mean the evening."""
    for match in _TWELVE.finditer(turn.text):
        half = match["half"] or match["dotted"]
        hour = int(match["hour"]) % 12 + (12 if half.lower() == "p" else 0)
        # A stop that ends the sentence too stays.
        stop = "." if match["dotted"] and _SENTENCE_AFTER.match(turn.text, match.end()) else ""
        yield from _changes(turn, match.span(), (f"{hour:02d}:{match['minute'] or '00'}{stop}",))


def units(turn: Turn) -> Iterator[Change]:
    """Yield other units that convert exactly: 10 km and 10000 m, 2 hours and 120 minutes."""
    for match in _MEASURE.finditer(turn.text):
        factor, smaller = _SMALLER.get(match["unit"].removesuffix("s"), (0, ""))
        number = Decimal(match["number"])
        value = number * factor
        if value > 1 and value == int(value) and number <= (3 if factor == 60 else _LARGEST):
            yield from _changes(turn, match.span(), (f"{int(value)}{smaller}",))


def miles(turn: Turn) -> Iterator[Change]:
    """Yield miles for kilometres, as 6.2 miles for 10 km, if the rounded figure is within a quarter of a per cent."""
    for match in _MEASURE.finditer(turn.text):
        if match["unit"].startswith(("km", "kilom")):
            exact = Decimal(match["number"]) / _MILE
            rounded = round(exact, 1)
            if exact and abs(rounded - exact) <= exact * _EXACT_ENOUGH:
                yield from _changes(turn, match.span(), (f"{rounded.normalize():f} {plural_of('mile')}",))


def _changes(turn: Turn, span: tuple[int, int], forms: list[str] | tuple[str, ...]) -> Iterator[Change]:
    start, end = span
    old = turn.text[start:end]
    quoted = any(splits(turn.document.protected, edge) for edge in span) or turn.document.protects(*span)
    for new in () if quoted or _is_part(turn.text, start, end) else forms:
        if new and new != old:
            yield Change(start, end, new, f"{said(new)} for {said(old)}", ((old, new),))


def _is_part(text: str, start: int, end: int) -> bool:
    """Return whether a figure says something together with another: "2 to 3 weeks", "1 hour 30 minutes",
    "20 million".
    """
    before = text[max(0, start - _SEEN) : start]
    return _GOES_ON.match(text, end) is not None or _WENT_BEFORE.search(before) is not None
