"""Numbers that are written out: seven, twenty-five, one hundred and twenty."""

import re

_BELOW_TWENTY = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen
"""
_FROM_TWENTY = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL, _TENS = _BELOW_TWENTY.split(), _FROM_TWENTY.split()
_VALUES = {word: value for value, word in enumerate(_SMALL)} | {
    word: 10 * value for value, word in enumerate(_TENS, start=2)
}
_HUNDRED, _LARGEST = 100, 999

NUMBER_WORDS = frozenset(_SMALL[1:]) | frozenset(_TENS) | {"hundred", "thousand"}
"""The single words that numbers are written with."""

NUMBER = (
    rf"(?:(?:{'|'.join(_TENS)})(?:[-\s](?:{'|'.join(_SMALL[1:10])})\b)?"
    rf"|{'|'.join(sorted(_SMALL[1:], key=len, reverse=True))})"
)
"""A pattern for the numbers from one to ninety-nine; it has no groups, and no word boundary around it."""

NOT_AFTER_LARGER = r"(?<!hundred\s)(?<!hundred\sand\s)(?<!thousand\s)(?<!thousand\sand\s)"
"""A pattern for the place before a number that is not the end of another, as in "two hundred and ten"."""


def word_of(value: int) -> str:
    """Return a number up to 999 in words; empty for any other number.

    >>> [word_of(value) for value in (7, 25, 120, 1000)]
    ['seven', 'twenty-five', 'one hundred and twenty', '']
    """
    if not 0 <= value <= _LARGEST:
        return ""
    hundreds, rest = divmod(value, _HUNDRED)
    if not hundreds:
        return _below_hundred(rest)
    said = f"{_SMALL[hundreds]} hundred"
    return f"{said} and {_below_hundred(rest)}" if rest else said


def _below_hundred(value: int) -> str:
    if value < len(_SMALL):
        return _SMALL[value]
    tens, ones = divmod(value, 10)
    return f"{_TENS[tens - 2]}-{_SMALL[ones]}" if ones else _TENS[tens - 2]


def value_of(text: str) -> int | None:
    """Return the value of a number word up to ninety-nine, in any case; None for anything else.

    >>> [value_of(said) for said in ("Seven", "twenty-five", "twenty five", "often")]
    [7, 25, 25, None]
    """
    tens, *ones = re.split(r"[\s-]", text.lower())
    if not ones:
        return _VALUES.get(tens)
    if len(ones) > 1 or tens not in _TENS or ones[0] not in _SMALL[1:10]:
        return None
    return _VALUES[tens] + _VALUES[ones[0]]


_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_ANY = "|".join(sorted([*_VALUES, *_SCALES], key=len, reverse=True))
_AND = "|".join(rf"(?<={scale})\s+and\s+" for scale in _SCALES)
_JOINED = rf"(?:-|\s+|{_AND})"
LARGE_NUMBER = rf"\b(?:an?\s+(?=(?:hundred|thousand|million)\b))?(?:{_ANY})\b(?:{_JOINED}(?:{_ANY})\b)*"
"""A pattern for numbers of any size in words; it has no groups, and is meant for any case."""


def large_value_of(text: str) -> int | None:
    """Return the value of a number of any size in words; None for anything else.

    >>> [large_value_of(said) for said in ("one hundred and twenty", "two thousand five", "a hundred", "often")]
    [120, 2005, 100, None]
    """
    total = part = 0
    for word in re.split(r"[\s-]+", text.lower()):
        if word in _VALUES:
            part += _VALUES[word]
        elif word == "hundred":
            part = (part or 1) * _SCALES[word]
        elif word in _SCALES:
            total, part = total + (part or 1) * _SCALES[word], 0
        elif word not in ("a", "an", "and"):
            return None
    return total + part
