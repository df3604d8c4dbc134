"""Choose another number for a number in a text: slightly different, far off, or an older version's value."""

import re
from decimal import ROUND_DOWN, Decimal
from enum import StrEnum

from agentmut.language.quantities.units import MONEY, UNIT_AFTER_FIGURE
from agentmut.language.vocabulary.number_words import value_of, word_of


class Deviation(StrEnum):
    """How the new value differs from the old one."""

    NEAR = "near"
    """One that passes for the right one: 30 becomes 31, 200 becomes 210."""
    FAR = "far"
    """A slipped decimal point, 300 for 30; less where nobody would believe that, as of an age."""
    OLDER = "older"
    """A value of an older version: 30 becomes 25."""


class Measure(StrEnum):
    """What a number measures, where that limits which other numbers are plausible."""

    COUNT = "count"
    """Anything else."""
    MONEY = "money"
    SHARE = "share"
    """A share of a hundred: per cent."""
    TEMPERATURE = "temperature"
    AGE = "age"
    """The age of a person."""
    SCALE = "scale"
    """A rating, the end of its scale, or a number of decimals."""
    PART = "part"
    """Out of a number that follows."""


_PERSON = (
    r"(?:adult|child|kid|infant|person|patient|guest|customer|user|senior|minor|driver|traveller|passenger)s?"
)
_AGE_BEFORE = re.compile(
    r"\b(?:ages?|aged|age\s+of|(?:older|younger)\s+than|"
    rf"(?:{_PERSON}|children|people|anyone|those)\s+(?:over|under|above|below))"
    r"(?:\s+(?:of|over|under|above|below|from|between|at\s+least|the\s+age\s+of))*"
    r"(?:\s+\d+\s+(?:to|and|or))?\s+$",
    re.IGNORECASE,
)
_AGE_AFTER = re.compile(r"[\s-]years?(?:[\s-]olds?\b|\s+of\s+age\b)", re.IGNORECASE)
_NOT_YEARS = re.compile(rf"\s?%|\s?(?!years?\b){UNIT_AFTER_FIGURE}\b", re.IGNORECASE)
_TEMPERATURE_AFTER = re.compile(r"\s?(?:[°º]|[Dd]egrees?\b|[CF]\b(?![+#]))")
_TEMPERATURE_BEFORE = re.compile(r"\b(?:temperatures?|fever)\b[^.;,\d]{0,25}$", re.IGNORECASE)
_SCALE_BEFORE = re.compile(
    r"\b(?:out\s+of|scales?|rat(?:e(?!\s+(?:limits?|of)\b)|ed|ing|ings)|scor(?:e|ed|es))\b[^.;,]{0,30}$",
    re.IGNORECASE,
)
_SCALE_AFTER = re.compile(r"[\s-](?:stars?|decimals?|decimal\s+(?:places|digits))\b", re.IGNORECASE)
_PART_AFTER = re.compile(r"(?:\s+stars?|\s+points?)?\s+out\s+of\s+(?:\d|[a-z]+\b)", re.IGNORECASE)
_MONEY_AFTER = re.compile(rf"\s?{MONEY}")
_MONEY_BEFORE = re.compile(rf"{MONEY}\s?$")
_SHARE_AFTER = re.compile(r"\s?(?:%|per\s?cent\b)", re.IGNORECASE)
_SEEN = 60
"""Characters around a number that are read."""
_BY_WHAT_FOLLOWS = (
    (Measure.MONEY, _MONEY_AFTER),
    (Measure.SHARE, _SHARE_AFTER),
    (Measure.PART, _PART_AFTER),
    (Measure.AGE, _AGE_AFTER),
    (Measure.TEMPERATURE, _TEMPERATURE_AFTER),
    (Measure.SCALE, _SCALE_AFTER),
    (Measure.COUNT, _NOT_YEARS),
)
_BY_WHAT_PRECEDES = (
    (Measure.AGE, _AGE_BEFORE),
    (Measure.TEMPERATURE, _TEMPERATURE_BEFORE),
    (Measure.SCALE, _SCALE_BEFORE),
)

_WHOLE = Decimal(1)
_FURTHER = {Measure.TEMPERATURE: 5, Measure.AGE: 10}
"""Ten times a temperature or an age would be nonsense."""


def measure(text: str, start: int, end: int) -> Measure:
    """Return what the number between `start` and `end` measures, judged by the words around it.

    >>> [measure(said, said.index("6"), said.index("6") + 2) for said in ("older than 65", "$60", "60 days")]
    [<Measure.AGE: 'age'>, <Measure.MONEY: 'money'>, <Measure.COUNT: 'count'>]
    """
    before, after = text[max(0, start - _SEEN) : start], text[end : end + _SEEN]
    if _MONEY_BEFORE.search(before):
        return Measure.MONEY
    found = [of for of, pattern in _BY_WHAT_FOLLOWS if pattern.match(after)]
    found += [of for of, pattern in _BY_WHAT_PRECEDES if pattern.search(before)]
    return found[0] if found else Measure.COUNT


def other_number(text: str, of: Measure, other: Deviation) -> str:
    """Return another number, written the same way as the given one: in digits or in words.

    >>> other_number("1,200.50", Measure.MONEY, Deviation.FAR), other_number("Ten", Measure.COUNT, Deviation.NEAR)
    ('12,005.00', 'Eleven')
    """
    value = value_of(text)
    if value is not None:
        number = Decimal(value)
        if other is Deviation.FAR and of is Measure.COUNT:
            return _in_words(text, max(2 * number, number + 3))
        return _in_words(text, _moved(number, of, other))
    groups = re.search(r",\d{3}(?!\d)", text) is not None
    plain = text.replace(",", "") if groups else text.replace(",", ".")
    written = _written(_moved(Decimal(plain), of, other), len(plain.partition(".")[2]), groups)
    return written if groups or "," not in text else written.replace(".", ",")


def _written(number: Decimal, decimals: int, groups: bool) -> str:
    """Write a number with as many decimals as before, or as it needs, and thousands grouped as before."""
    written = f"{number:,.{decimals}f}" if groups else f"{number:.{decimals}f}"
    return written if Decimal(written.replace(",", "")) == number else f"{number.normalize():f}"


def _in_words(text: str, number: Decimal) -> str:
    words = word_of(int(number)) if number == int(number) else ""
    if not words:
        return f"{number.normalize():f}"
    return words.upper() if text.isupper() else words.capitalize() if text[0].isupper() else words


def _moved(number: Decimal, of: Measure, other: Deviation) -> Decimal:
    if other is Deviation.FAR:
        return _far(number, of)
    if other is Deviation.OLDER:
        step = _chosen_step(number)
        return number - step if number - step >= 2 else number + step
    return _near(number, of)


def _near(number: Decimal, of: Measure) -> Decimal:
    step = _step(number)
    if of is Measure.SHARE:
        step = min(step, _WHOLE)
        less = number <= 100 < number + step
    elif of is Measure.PART:
        less = number > step
    else:
        less = of is not Measure.MONEY and _is_fraction(number) and number + step >= 1
    return number - step if less else number + step


def _far(number: Decimal, of: Measure) -> Decimal:
    believed = of in (Measure.MONEY, Measure.SHARE)
    fraction = _is_fraction(number) and not believed
    if of in _FURTHER and not fraction:  # a temperature below one is a model's
        return number + _FURTHER[of]
    if of is Measure.SHARE and number >= 10:
        return number / 10
    if (fraction and number * 10 > 1) or (of is Measure.PART and number > 1):
        return (number / 2).quantize(_last_place(number), ROUND_DOWN)
    twice = of in (Measure.SCALE, Measure.PART) or (number != int(number) and not fraction and not believed)
    return number * (2 if twice else 10) or Decimal(10)


def _is_fraction(number: Decimal) -> bool:
    """Return whether the number is below one, as the thresholds of scores are."""
    return 0 < number < 1


def _last_place(number: Decimal) -> Decimal:
    return _WHOLE.scaleb(min(int(number.as_tuple().exponent), 0))


def _step(number: Decimal) -> Decimal:
    """Return the step: one; from a hundred on, one in the second place if round; below one, one in the last place."""
    if _is_fraction(number):
        return _last_place(number)
    unit = Decimal(10) ** max(len(str(int(number))) - 2, 0)
    return unit if int(number) % unit == 0 else _WHOLE


def _chosen_step(number: Decimal) -> Decimal:
    """Return the least change that looks like a chosen value: 1 for 14, 5 for 30, 50 for 200."""
    if _is_fraction(number):
        return _last_place(number)
    unit = Decimal(10) ** max(len(str(int(number))) - 2, 0)
    return 5 * unit if number >= 10 and number % (5 * unit) == 0 else unit
