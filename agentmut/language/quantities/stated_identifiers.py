"""Read the identifiers in an answer: order numbers, article codes, addresses of mail and web."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from agentmut.language.prompt.spans import Span
from agentmut.language.quantities.units import ANY_UNIT

_IDENTIFIERS = re.compile(
    r"""
      (?P<address>https?://[^\s<>"')\]]{1,2000}[\w/]|(?<![\w.+-])[\w.+-]{1,64}+@[\w.-]{1,253}\.[A-Za-z]{2,24})(?!\w)
    | (?<![\w.@/-])(?P<uuid>[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})(?![\w-])
    | (?<![\w.,$€£-])(?P<version>v?(?!\d{1,3}(?:\.\d{3})+(?![\w.]))\d{1,6}(?:\.\d{1,6}){2,9}(?:-[a-z]+[\w.]*\w)?)
        (?![\w-]|[.,]\d)
    | (?<![\w&])\#(?P<marked>[A-Za-z0-9][\w-]*\d[\w-]*|\d+)
    | (?<![\w.@/$€£-])(?P<code>[A-Za-z][A-Za-z0-9]*+(?:[-_][A-Za-z0-9]++)*+)(?![\w@-])
    | (?<![\w.@/$€£-])(?P<mixed>\d[0-9]*+[A-Za-z]++\d[0-9A-Za-z]*+(?:-[0-9A-Za-z]++)*+)(?![\w-])
    | (?<![\w.@/$€£,:+-])(?P<digits>\d{4,24}(?:-\d{2,12})*)(?![\w%°@/:-]|[.,]\d)
    """,
    re.VERBOSE,
)
_CURRENCY = re.compile(r"(?:USD|EUR|GBP|CHF|JPY|US)\d", re.IGNORECASE)
_COUNTED = re.compile(rf"\s?-?(?:{ANY_UNIT})(?!\w)", re.IGNORECASE)
_MONEY_BEFORE = re.compile(r"(?:USD|EUR|GBP|CHF|JPY)\s$")
_YEAR = re.compile(r"(?:19|20)\d\d")


class Identifier(NamedTuple):
    """An identifier in its one spelling, and where it stands."""

    value: str
    span: Span


def identifiers(text: str) -> Iterator[Identifier]:
    """Yield the identifiers of a text, in order.

    Whole numbers of four and more digits without a unit are identifiers; years are none.

    >>> [found.value for found in identifiers("Order #1042 (SKU kb-204): ask Help@shop.example in 1000 days")]
    ['1042', 'KB-204', 'help@shop.example']
    """
    for match in _IDENTIFIERS.finditer(text):
        value = _value(match)
        if value:
            yield Identifier(value, Span(*match.span()))


def _value(match: re.Match[str]) -> str:
    found, said = match.lastgroup or "", match[match.lastgroup or 0]
    if found == "code":  # nearly every word
        return str(said).upper() if _is_code(said) else ""
    if found == "address":
        return str(said).lower()
    if found == "version":
        return str(said).lower().removeprefix("v")
    if found == "digits" and not _is_number_of(match):
        return ""
    return str(said).upper()


@lru_cache(maxsize=4096)  # the words of answers are mostly the same few
def _is_code(text: str) -> bool:
    """Return whether letters and digits form a name: KB-204, ord-1042, sku_7; not top-10, Q3 or USD100."""
    digits = sum(map(str.isdigit, text))
    if not digits or _CURRENCY.match(text):
        return False
    return (
        digits >= 3 or "_" in text or (text[0].isupper() and digits >= 2) or (text.isupper() and "-" in text)
    )


def _is_number_of(match: re.Match[str]) -> bool:
    text, said = match.string, match["digits"]
    if _YEAR.fullmatch(said) or _COUNTED.match(text, match.end()):
        return False
    return not _MONEY_BEFORE.search(text[max(0, match.start() - 4) : match.start()])
