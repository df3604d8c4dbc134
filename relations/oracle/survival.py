"""Whether a value of a call is one that was given, or one that was spoilt on the way."""

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from pydantic import JsonValue

from agentmut.frozen import canonical_json
from agentmut.in_common import ends_in_common
from agentmut.text.things import things

_PLAIN = re.compile(r"[^0-9A-Za-z]+")
_DIGITS = re.compile(r"\d+")
_NUMBER = re.compile(
    r"(?<![\w.])(?<!\w-)\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\w)|(?<![\w.,])(?<!\w-)\d+(?:\.\d+)?(?!\w|-\w|[.,]\d)"
)
_DAY = re.compile(r"(?:19|20)\d\d-?[01]\d-?[0-3]\d(?:[T ][\d:.Z+-]*)?")
_PREFIX = re.compile(r"[A-Za-z]{2,}")
_NAMES_AMOUNT = re.compile(
    r"amount|price|total|cost|fee|sum|paid|payment|balance|value|refund|budget|salary|deposit", re.IGNORECASE
)
_SHORTEST = 4
"""Letters and digits of an id that can be told from another by one of them."""


class Given(NamedTuple):
    """The ids and numbers of everything an agent could have seen."""

    ids: dict[str, str]
    """As they are written, by their letters and digits in upper case."""
    numbers: frozenset[Decimal]
    digits: frozenset[str]
    """Runs of digits."""

    @classmethod
    def of(cls, seen: Iterable[JsonValue]) -> "Given":
        """What the texts and values that were seen hold."""
        text = "\n".join(one if isinstance(one, str) else canonical_json(one) for one in seen)
        numbers = (
            decimal for match in _NUMBER.finditer(text) if (decimal := _decimal(match.group())) is not None
        )
        # A backslash or a quotation mark of JSON is no part of an id.
        ids = {plain(thing.value): thing.value for thing in things(text)}
        return cls(ids, frozenset(numbers), frozenset(_DIGITS.findall(text)))

    def __bool__(self) -> bool:
        return bool(self.ids or self.numbers)


class Value(NamedTuple):
    """A text or a number somewhere in the arguments of a call, under the name of its argument."""

    name: str
    value: str | int | float


def values(arguments: JsonValue, name: str = "") -> Iterator[Value]:
    """All texts and numbers of a call's arguments, at any depth."""
    if isinstance(arguments, dict):
        for key, item in arguments.items():
            yield from values(item, key)
    elif isinstance(arguments, list):
        for item in arguments:
            yield from values(item, name)
    elif isinstance(arguments, str | int | float) and not isinstance(arguments, bool):
        yield Value(name, arguments)


def ids_of(value: Value) -> tuple[str, ...]:
    """The ids in a value. Days are none: they are worked out."""
    text = str(value.value) if isinstance(value.value, str | int) else ""
    if _DAY.fullmatch(text.strip()) or _NAMES_AMOUNT.search(value.name):
        return ()
    return tuple(thing.value for thing in things(text))


def amount_of(value: Value) -> Decimal | None:
    """The number in a value whose name says that it is an amount; None for any other."""
    return _decimal(str(value.value)) if _NAMES_AMOUNT.search(value.name) else None


def spoilt_id(said: str, given: Given) -> str:
    """The id that was given and that `said` resembles but is not; empty where it is one, or resembles none.

    An id resembles another when one letter or digit is another, is missing or is added, or when two neighbours have
    changed places; and when both begin with the same two or more letters and have as many digits.

    >>> spoilt_id("ORD-1024", Given.of(["Refund ORD-1042, please"])), spoilt_id("ord 1042", Given.of(["ORD-1042"]))
    ('ORD-1042', '')
    """
    own = plain(said)
    if own in given.ids or len(own) < _SHORTEST or _is_number_of(own, given):
        return ""
    return next((written for other, written in given.ids.items() if _resembles(own, other)), "")


def spoilt_amount(said: Decimal, given: Given, counts_cents: bool = False) -> Decimal | None:
    """The number that was given and that `said` is with its decimal point moved or two neighbouring digits swapped.

    None where it was given, or is like none: sums and shares are worked out, and say nothing. Where an argument counts
    cents, a hundred times an amount is that amount.
    """
    if said in given.numbers or (counts_cents and said / 100 in given.numbers):
        return None
    return next((number for number in sorted(given.numbers) if number and _is_slip(said, number)), None)


def plain(identifier: str) -> str:
    """An id's letters and digits, in upper case."""
    return _PLAIN.sub("", identifier).upper()


def _is_number_of(own: str, given: Given) -> bool:
    """Whether it is the number of an id alone, or a number that was given, with letters before it."""
    number = own.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    if number == own:
        return number in given.digits
    return number.isdecimal() and Decimal(number) in given.numbers


def _resembles(one: str, other: str) -> bool:
    if len(other) < _SHORTEST:
        return False
    start, end = ends_in_common(one, other)
    left, right = one[start : len(one) - end], other[start : len(other) - end]
    if len(left) <= 1 and len(right) <= 1:
        return True
    if len(left) == len(right) == 2 and left == right[::-1]:
        return True
    mine, others = _PREFIX.match(one), _PREFIX.match(other)
    same_prefix = mine is not None and others is not None and mine.group() == others.group()
    return same_prefix and re.sub(r"\d", "9", one) == re.sub(r"\d", "9", other)


def _is_slip(said: Decimal, number: Decimal) -> bool:
    if said <= 0 or number <= 0:
        return False
    one, other = _significant(said), _significant(number)
    if len(other) < 2:  # 5, 50 and 500 are too common to be told from a slip
        return False
    if one == other:
        return True
    start, end = ends_in_common(one, other)
    left, right = one[start : len(one) - end], other[start : len(other) - end]
    return len(one) == len(other) >= 3 and len(left) == 2 and left == right[::-1]


def _significant(number: Decimal) -> str:
    """The digits of a number without zeros at its ends."""
    return format(number, "f").replace(".", "").strip("0")


def _decimal(text: str) -> Decimal | None:
    try:
        number = Decimal(text.strip().lstrip("$€£").replace(",", ""))
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) < 30 else None
