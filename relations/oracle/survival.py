"""Whether a value in a call was given, was corrupted on the way, or is of unknown origin."""

import re
from collections.abc import Collection, Iterable, Iterator
from decimal import Decimal
from typing import NamedTuple

from pydantic import JsonValue

from agentmut._base import canonical_json, ends_in_common
from agentmut.language import identifiers
from agentmut.relations.oracle.amounts import decimal_of, numbers_of

_PLAIN = re.compile(r"[^0-9A-Za-z]+")
_DIGITS = re.compile(r"\d+")
_DAY = re.compile(r"(?:19|20)\d\d-?[01]\d-?[0-3]\d(?:[T ][\d:.Z+-]*)?")
_PREFIX = re.compile(r"[A-Za-z]{2,}")
_FORM = re.compile(r"(?P<letters>[A-Z]*)(?P<digits>\d+)")
_ADDRESS = re.compile(r"[\w.+-]+@(?P<host>[\w-]+(?:\.[\w-]+)+)")
_NAMES_AMOUNT = re.compile(
    r"amount|price|total|cost|fee|sum|paid|payment|balance|value|refund|budget|salary|deposit", re.IGNORECASE
)
_NAMES_ID = re.compile(
    r"(?:^|_)(?:ids?|order|number|num|no|nr|ref|reference|code|ticket|account|customer|sku|invoice|booking|reservation"
    r"|case|key|card|loan|tracking|iban)s?(?:$|_)",
    re.IGNORECASE,
)
_SEARCHES = re.compile(r"(?:^|_)(?:q|query|search|keywords?|terms?|pattern)(?:$|_)", re.IGNORECASE)
_SHORTEST = 4
"""Letters and digits of an id that can be told from another by one of them."""


class GivenValues(NamedTuple):
    """The ids and numbers of everything an agent could have seen so far; it grows with each result of a tool."""

    ids: dict[str, str]
    """As they are written, by their letters and digits in upper case."""
    numbers: set[Decimal]
    digits: set[str]
    """Runs of digits."""
    hosts: set[str]
    """What stands after the @ of addresses, or anywhere else with a dot."""

    @classmethod
    def from_texts(cls, seen: Iterable[JsonValue]) -> "GivenValues":
        """Return what the texts and values that were seen hold."""
        text = "\n".join(one if isinstance(one, str) else canonical_json(one) for one in seen)
        # A backslash or a quotation mark of JSON is no part of an id.
        ids = {plain(one): one for one in _ids(text)}
        hosts = {host.lower() for host in re.findall(r"[\w-]+(?:\.[\w-]+)+", text)}
        return cls(ids, set(numbers_of(text)), set(_DIGITS.findall(text)), hosts)

    def add(self, seen: Iterable[JsonValue]) -> None:
        """Add what further texts and values hold. What was seen before is not read again."""
        ids, numbers, digits, hosts = GivenValues.from_texts(seen)
        self.ids.update(ids)
        self.numbers.update(numbers)
        self.digits.update(digits)
        self.hosts.update(hosts)

    def has(self, identifier: str) -> bool:
        """Return whether an id was given, in any spelling, or is the number of a given id."""
        own = plain(identifier)
        return own in self.ids or (len(own) >= _SHORTEST and _is_number_of(own, self))


class Value(NamedTuple):
    """A text or a number in the arguments of a call, with the name of its argument."""

    name: str
    value: str | int | float


def values(arguments: JsonValue, name: str = "") -> Iterator[Value]:
    """Yield all texts and numbers of a call's arguments, at any depth."""
    if isinstance(arguments, dict):
        for key, item in arguments.items():
            yield from values(item, key)
    elif isinstance(arguments, list):
        for item in arguments:
            yield from values(item, name)
    elif isinstance(arguments, str | int | float) and not isinstance(arguments, bool):
        yield Value(name, arguments)


def ids_of(value: Value) -> tuple[str, ...]:
    """Return the ids in a value.

    Days are none: they are worked out. Nor are amounts, page numbers and words to search.
    """
    text = str(value.value) if isinstance(value.value, str | int) else ""
    name = _snake(value.name)
    if _SEARCHES.search(name) or (amount_of(value) is not None and not _NAMES_ID.search(name)):
        return ()
    plain_numbers = _NAMES_ID.search(name) is not None
    found = tuple(one for one in _ids(text) if plain_numbers or not one.isdecimal())
    # "A-8" is none where nothing says so: it may be a size.
    short = text.strip().upper()
    return found or ((short,) if plain_numbers and re.fullmatch(r"[A-Z]{1,3}-?\d{1,3}", short) else ())


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)


def _ids(text: str) -> Iterator[str]:
    return (thing.value for thing in identifiers(text) if not _DAY.fullmatch(thing.value))


def amount_of(value: Value) -> Decimal | None:
    """Return the number in a value whose name marks it as an amount; None for any other value."""
    named = _NAMES_AMOUNT.search(value.name) and not _NAMES_ID.search(_snake(value.name))
    return decimal_of(str(value.value)) if named else None


def spoilt_id(text: str, known: GivenValues, used: Collection[str] = (), makes_new: bool = False) -> str:
    """Return the given id that `text` is a slip of; empty if `text` is a given id, or nobody can tell.

    An id resembles another when one letter or digit is another, is missing or is added, or when two neighbours have
    changed places; and when both begin with the same two or more letters and have as many digits. Short ids, numbers
    without the letters of their id, and numbers that follow a given one are told only where no other call has the given
    one (`used`); and what follows is no slip where the call makes something new. An address whose host was never seen
    resembles any other.

    >>> spoilt_id("ORD-1024", GivenValues.from_texts(["Refund ORD-1042, please"]))
    'ORD-1042'
    >>> spoilt_id("ord 1042", GivenValues.from_texts(["ORD-1042"]))
    ''
    """
    own = plain(text)
    if known.has(text):
        return ""
    if address := _ADDRESS.fullmatch(text):
        return _other_address(own, address["host"].lower(), known)
    unused = [other for other in known.ids if other not in used]
    follow = {other for other in known.ids if _number(own) == _number(other) + 1 > 0}
    left_alone = follow if makes_new else follow & set(used)
    likes = (
        next((other for other in known.ids if _resembles(own, other) and other not in left_alone), ""),
        next((other for other in unused if _is_short_of(own, other, known) and other not in left_alone), ""),
    )
    return next((known.ids[other] for other in likes if other), "")


def _other_address(own: str, host: str, known: GivenValues) -> str:
    addresses = {other: written for other, written in known.ids.items() if _ADDRESS.fullmatch(written)}
    like = next((written for other, written in addresses.items() if _resembles(own, other)), "")
    return like or ("" if host in known.hosts else next(iter(addresses.values()), ""))


def plain(identifier: str) -> str:
    """Return an id's letters and digits, in upper case."""
    return _PLAIN.sub("", identifier).upper()


def _is_number_of(own: str, known: GivenValues) -> bool:
    """Return whether a value is only the number of an id, or a given number with letters before it."""
    number = own.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    if number == own:
        return number in known.digits
    return number.isdecimal() and Decimal(number) in known.numbers


def _number(own: str) -> int:
    match = _FORM.fullmatch(own)
    return int(match["digits"]) if match else -1


def _is_short_of(own: str, other: str, known: GivenValues) -> bool:
    """Return whether an id resembles the number of another, as 1043 and A-1042; or the only short id of its form."""
    if own.isdecimal():
        number = _FORM.fullmatch(other)
        return number is not None and _resembles(own, number["digits"])
    return _is_the_other(own, other, known)


def _resembles(identifier: str, other: str) -> bool:
    if min(len(identifier), len(other)) < _SHORTEST:
        return False
    start, end = ends_in_common(identifier, other)
    left, right = identifier[start : len(identifier) - end], other[start : len(other) - end]
    swapped = len(left) == len(right) == 2 and left == right[::-1]
    if swapped or (len(left) <= 1 and len(right) <= 1):
        return True
    mine, others = _PREFIX.match(identifier), _PREFIX.match(other)
    same_prefix = mine is not None and others is not None and mine.group() == others.group()
    return same_prefix and re.sub(r"\d", "9", identifier) == re.sub(r"\d", "9", other)


def _is_the_other(own: str, other: str, known: GivenValues) -> bool:
    """Return whether a short id differs by one digit from the only one of its form, as A-8 from A-7."""
    mine, others = _FORM.fullmatch(own), _FORM.fullmatch(other)
    if not mine or not others or not mine["letters"] or len(mine["digits"]) != len(others["digits"]):
        return False
    if len(own) != len(other) or sum(a != b for a, b in zip(own, other, strict=True)) != 1:
        return False
    forms = ((one, _FORM.fullmatch(one)) for one in known.ids)
    return [one for one, form in forms if form and form["letters"] == mine["letters"]] == [other]
