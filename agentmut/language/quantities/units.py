"""The units that numbers count, and the months of dates."""

import re
from collections.abc import Mapping
from types import MappingProxyType

_REGULAR = """
second minute hour day night week weekend month quarter year item piece unit point mile guest user seat room
ticket order attempt time word sentence paragraph line character bullet page step question option example message
kilometre kilometer metre meter centimetre centimeter kilogram gram kilo litre liter degree star hr min
euro dollar pound
"""
_IRREGULAR = {"copy": "copies", "try": "tries", "person": "people"}
_PLURALS: Mapping[str, str] = MappingProxyType(
    {**{unit: f"{unit}s" for unit in _REGULAR.split()}, **_IRREGULAR}
)
_SYMBOLS = "kg g km m cm mm l ml kB MB GB TB ms kWh percent"
_NO_UNIT_OF_FACTS = frozenset({"euro", "dollar"})
"""Units of money."""


def _either(words: list[str]) -> str:
    return f"(?:{'|'.join(sorted(words, key=lambda word: (-len(word), word)))})"


UNIT = _either([*_PLURALS])
"""A pattern for what is counted, in the singular."""
UNIT_AFTER_FIGURE = (
    rf"(?:(?:working|business|calendar)\s+days?|per\s+cent|persons|"
    rf"{_either([*(_PLURALS.keys() - _NO_UNIT_OF_FACTS), *_PLURALS.values(), *_SYMBOLS.split()])})"
)
"""A pattern for what is measured or counted, in both numbers, with symbols."""
MONEY = r"(?:[$€£¥]|(?:euros?|dollars?|pounds?\s+sterling|cents?|pence|EUR|USD|GBP|CHF)\b)"
"""A pattern for a currency."""
MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
"""A pattern for a month, in full or shortened."""
CLOCK_FORMAT = (
    r"(?i:(?:12|24)(?:/7\b|[\s-]?hours?\s+(?:a|per|every)\s+day\b|[\s-]?h\s+(?:clock|format|time|notation)\b"
    r"|[\s-]?hour\b(?!\s+(?:[\w-]+\s+)?(?:window|notice|limit|period|deadline|hold|wait|delay|cut-?off|rule)\b)))"
)
"""A pattern for a number that names a clock or says "always": 24-hour format, 24 hours a day, 24/7."""


def is_unit(noun: str) -> bool:
    """Return whether a noun is a unit in the singular, or a currency's name."""
    return noun.lower() in _PLURALS or noun == "cent"


def plural_of(noun: str) -> str:
    """Return the plural of a unit or another noun.

    >>> [plural_of(noun) for noun in ("day", "try", "query", "box", "Person")]
    ['days', 'tries', 'queries', 'boxes', 'People']
    """
    plural = _PLURALS.get(noun.lower()) or _regular_plural(noun.lower())
    return plural.capitalize() if noun[:1].isupper() else plural


def _regular_plural(noun: str) -> str:
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "z", "ch", "sh")) else f"{noun}s"


_SAID_OTHERWISE = {
    "second": "s, sec", "minute": "min", "hour": "h, hr", "day": "d", "week": "wk", "month": "mo", "year": "yr",
    "business day": "working day", "calendar day": "", "percent": "%, pct, per cent", "millisecond": "ms",
    "kilometer": "km, kilometre", "meter": "m, metre", "centimeter": "cm, centimetre", "millimeter": "mm, millimetre",
    "kilogram": "kg, kilo", "gram": "g", "milligram": "mg", "liter": "l, litre", "milliliter": "ml, millilitre",
    "mile": "mi", "foot": "ft", "inch": "in", "yard": "yd", "ounce": "oz", "lb": "lbs",
    "kilobyte": "kB, KB", "megabyte": "MB", "gigabyte": "GB", "terabyte": "TB", "kilowatt hour": "kWh",
    "degree celsius": "°C, ° C, degree C", "degree fahrenheit": "°F, ° F, degree F", "degree": "°",
    "dollar": "$, USD, US$, US dollar, buck", "euro": "€, EUR", "pound": "£, GBP, pound sterling",
    "yen": "¥, JPY", "franc": "CHF, Swiss franc", "cent": "¢", "penny": "", "point": "pt", "kelvin": "K",
}  # fmt: skip
_ODD_PLURALS = {
    "foot": "feet", "inch": "inches", "penny": "pence", "percent": "percent", "degree celsius": "degrees celsius",
    "degree fahrenheit": "degrees fahrenheit", "yen": "yen", "kelvin": "kelvin", "lb": "lb",
}  # fmt: skip
_SYMBOLS_ONLY_SO = frozenset(["m", "g", "l", "in", "K", "s", "h", "d", "mi"])
"""Too short to be read in any other case, or apart from a figure."""


def _spellings() -> Mapping[str, str]:
    found = {unit: unit for unit in (*_PLURALS, *_SAID_OTHERWISE)}
    found |= {units_said(unit): unit for unit in tuple(found)}
    for unit, others in _SAID_OTHERWISE.items():
        for other in others.replace("_", " ").split(", ") if others else ():
            found |= {other: unit} if other in _SYMBOLS_ONLY_SO else {other: unit, units_said(other): unit}
    return MappingProxyType(found | {"people": "person", "persons": "person"})


def units_said(unit: str) -> str:
    """Return the plural of a unit of any kind, symbols aside.

    >>> units_said("day"), units_said("foot"), units_said("business day")
    ('days', 'feet', 'business days')
    """
    if unit in _ODD_PLURALS:
        return _ODD_PLURALS[unit]
    *first, last = unit.split()
    return " ".join([*first, plural_of(last)]) if last.isalpha() and (last.islower()) else unit


_SPELLINGS = _spellings()
ANY_UNIT = _either([re.escape(said) for said in _SPELLINGS if said not in _SYMBOLS_ONLY_SO])
"""A pattern for a unit in any spelling, for any case."""
SHORT_UNIT = _either(sorted(_SYMBOLS_ONLY_SO))
"""A pattern for the symbols of one or two letters, in their own case."""


def unit_of(text: str) -> str:
    """Return the one name of a unit, in the singular; empty for anything else.

    >>> unit_of("hrs"), unit_of("US$"), unit_of("Kilometres"), unit_of("working days"), unit_of("refunds")
    ('hour', 'dollar', 'kilometer', 'business day', '')
    """
    plain = " ".join(text.split())
    return _SPELLINGS.get(plain) or _SPELLINGS.get(plain.lower(), "")
