"""Whether the amount in a call was given, may be computed, or was corrupted on the way."""

import re
from collections.abc import Iterable, Iterator, Set
from decimal import Decimal, InvalidOperation
from itertools import combinations, permutations
from types import MappingProxyType

from agentmut._base import ends_in_common
from agentmut.language import NUMBER, FactKind, facts, value_of

_NUMBER = re.compile(
    r"(?<![\w.])(?<!\w-)\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\w)|(?<![\w.,])(?<!\w-)\d+(?:\.\d+)?(?!\w|-\w|[.,]\d)"
)
_IN_WORDS = re.compile(rf"\b(?:{NUMBER})\b", re.IGNORECASE)
_SHARES = MappingProxyType({
    "half": "0.5", "quarter": "0.25", "tenth": "0.1", "double": "2", "twice": "2", "triple": "3", "dozen": "12",
})  # fmt: skip
_SHARE = re.compile(rf"\b(?:{'|'.join(_SHARES)})\b", re.IGNORECASE)
_CALCULATES = re.compile(
    r"\b(?:each|per|both|third|split|shar(?:e|es|ed|ing)|tax|vat|tips?|gratuity|discount\w*|convert\w*|rates?|rest"
    r"|remain\w*|deduct\w*|surcharges?|partial\w*|instal\w+|another|more|less|extra|cheaper|round\w*|approximately)\b",
    re.IGNORECASE,
)
"""Words by which an amount may be another one than that of the request, though no number says so."""
_MOST_NUMBERS = 120
"""With more numbers, nearly everything is the sum or the share of some two."""
_FEW_NUMBERS = 8
"""With at most so many numbers, the sums of any of them are looked at."""
_SURE = 3
"""Significant digits of an amount that is told by itself: where prices are listed, 29 and 290 are both likely."""


def numbers_of(text: str) -> Iterator[Decimal]:
    """Yield the numbers of a text, in digits and in words; "half" is one too."""
    yield from (found for match in _NUMBER.finditer(text) if (found := decimal_of(match.group())) is not None)
    spoken = (value_of(match.group()) for match in _IN_WORDS.finditer(text))
    yield from (Decimal(value) for value in spoken if value is not None)
    yield from (Decimal(_SHARES[match.group().lower()]) for match in _SHARE.finditer(text))


def decimal_of(text: str) -> Decimal | None:
    """Return the number that a text consists of, with or without a currency sign."""
    try:
        number = Decimal(text.strip().lstrip("$€£").replace(",", ""))
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) < 30 else None


def only_amount(texts: Iterable[str]) -> Decimal | None:
    """Return the only amount of money in the requests; None if they state several."""
    found = {
        decimal_of(text[fact.value.start : fact.value.end])
        for text in texts
        for fact in facts(text)
        if fact.kind is FactKind.AMOUNT
    }
    return found.pop() if len(found) == 1 else None


def tells_of_sums(seen: str) -> bool:
    """Return whether a text speaks of sums, shares or rates, so that an amount may be worked out."""
    return _CALCULATES.search(seen) is not None


def spoilt_amount(
    amount: Decimal, numbers: Set[Decimal], only: Decimal | None = None, hundredfold: bool = False
) -> Decimal | None:
    """Return the given number that `amount` is a slip of; None if `amount` is given, unlike all, or computed.

    Of any number with three significant digits, a moved decimal point and two neighbouring digits that have changed
    places are slips; of the only amount that was stated, so is one digit that is another, is missing or is added. What
    a sum, difference, product, quotient or percentage of given numbers gives is none. Nor is a hundred times an
    amount, which may be in cents, save where `hundredfold` says that the argument is in whole units.
    """
    if amount <= 0 or amount in numbers or len(numbers) > _MOST_NUMBERS:
        return None
    like = [number for number in sorted(numbers) if number > 0 and _is_sure_slip(amount, number)]
    if only and only in numbers and len(numbers) <= _FEW_NUMBERS and _is_slip(amount, only):
        like.append(only)
    likely = [number for number in like if hundredfold or amount != number * 100]
    return likely[0] if likely and len(likely) == len(like) and not _is_worked_out(amount, numbers) else None


def _is_worked_out(amount: Decimal, numbers: Set[Decimal]) -> bool:
    """Return whether a calculation with two of the numbers, or a sum of a few, gives the number."""
    if any(amount in _results(one, other) for one, other in permutations(numbers, 2)):
        return True
    sizes = range(3, len(numbers) + 1) if len(numbers) <= _FEW_NUMBERS else range(3, 3)
    return any(sum(some) == amount for size in sizes for some in combinations(numbers, size))


def _results(amount: Decimal, other: Decimal) -> Iterator[Decimal]:
    part = amount * other / 100
    yield from (amount + other, amount - other, amount * other, part, amount - part, amount + part)
    if other:
        yield from (amount / other, round(amount / other, 2))


def _is_sure_slip(amount: Decimal, number: Decimal) -> bool:
    one, other = _significant(amount), _significant(number)
    return len(other) >= _SURE and (one == other or (len(one) == len(other) and _are_swapped(one, other)))


def _is_slip(amount: Decimal, number: Decimal) -> bool:
    if _significant(amount) == _significant(number):
        return True
    whole = amount == int(amount) and number == int(number)
    one, other = (f"{value:.{0 if whole else 2}f}" for value in (amount, number))
    start, end = ends_in_common(one, other)
    left, right = one[start : len(one) - end], other[start : len(other) - end]
    return max(len(left), len(right)) <= 1 or _are_swapped(one, other)


def _are_swapped(text: str, other: str) -> bool:
    start, end = ends_in_common(text, other)
    left, right = text[start : len(text) - end], other[start : len(other) - end]
    return len(left) == len(right) == 2 and left == right[::-1]


def _significant(number: Decimal) -> str:
    """Return the digits of a number without zeros at its ends."""
    return format(number, "f").replace(".", "").strip("0")
