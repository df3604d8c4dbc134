"""Whether a value in a call was given, was corrupted on the way, or is of unknown origin."""

import re
from collections.abc import Collection, Iterable, Iterator
from decimal import Decimal
from typing import NamedTuple

from pydantic import JsonValue

from agentmut._base import canonical_json
from agentmut.language import identifiers
from agentmut.relations.oracle.amounts import decimal_of, numbers_of
from agentmut.relations.oracle.like_ids import SHORTEST, LikeIds, number_of

_PLAIN = re.compile(r"[^0-9A-Za-z]+")
_DIGITS = re.compile(r"\d+")
_DAY = re.compile(r"(?:19|20)\d\d-?[01]\d-?[0-3]\d(?:[T ][\d:.Z+-]*)?")
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


class GivenValues(NamedTuple):
    """The ids and numbers of everything an agent could have seen so far; it grows with each result of a tool."""

    ids: dict[str, str]
    """As they are written, by their letters and digits in upper case."""
    numbers: set[Decimal]
    digits: set[str]
    """Runs of digits."""
    hosts: set[str]
    """What stands after the @ of addresses, or anywhere else with a dot."""
    like: LikeIds
    """The ids again, to be found by one that is like them."""

    @classmethod
    def from_texts(cls, seen: Iterable[JsonValue]) -> "GivenValues":
        """Return what the texts and values that were seen hold."""
        text = "\n".join(one if isinstance(one, str) else canonical_json(one) for one in seen)
        # A backslash or a quotation mark of JSON is no part of an id.
        ids = {plain(one): one for one in _ids(text)}
        hosts = {host.lower() for host in re.findall(r"[\w-]+(?:\.[\w-]+)+", text)}
        return cls(ids, set(numbers_of(text)), set(_DIGITS.findall(text)), hosts, LikeIds(list(ids)))

    def add(self, seen: Iterable[JsonValue]) -> None:
        """Add what further texts and values hold. What was seen before is not read again."""
        ids, numbers, digits, hosts, _ = GivenValues.from_texts(seen)
        self.like.order.extend(own for own in ids if own not in self.ids)
        self.ids.update(ids)
        self.numbers.update(numbers)
        self.digits.update(digits)
        self.hosts.update(hosts)

    def has(self, identifier: str) -> bool:
        """Return whether an id was given, in any spelling, or is the number of a given id."""
        own = plain(identifier)
        return own in self.ids or (len(own) >= SHORTEST and _is_number_of(own, self))


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

    def fits(other: str) -> bool:
        follows = number_of(own) == number_of(other) + 1 > 0
        return not follows or not (makes_new or other in used)

    short = (other for other in known.like.short_of(own) if other not in used)
    likes = (next(filter(fits, others), "") for others in (known.like.resembling(own), short))
    return next((known.ids[other] for other in likes if other), "")


def _other_address(own: str, host: str, known: GivenValues) -> str:
    """Return the first given address that an address resembles; the first of all where its host was never seen."""
    alike = (known.ids[other] for other in known.like.resembling(own))
    like = next(filter(_ADDRESS.fullmatch, alike), "")
    return like or ("" if host in known.hosts else next(filter(_ADDRESS.fullmatch, known.ids.values()), ""))


def plain(identifier: str) -> str:
    """Return an id's letters and digits, in upper case."""
    return _PLAIN.sub("", identifier).upper()


def _is_number_of(own: str, known: GivenValues) -> bool:
    """Return whether a value is only the number of an id, or a given number with letters before it."""
    number = own.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    if number == own:
        return number in known.digits
    return number.isdecimal() and Decimal(number) in known.numbers
