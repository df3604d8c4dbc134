"""The facts in tool results and messages: named values, and numbers with the words around them."""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from agentmut.simulator.mind.language import Topics, topics

MAX_FACTS = 60
_NUMBER = re.compile(r"(?<![\w.,-])[$€£]?\s?(\d+(?:[.,]\d{1,2})?)(?![\w-]|[.,]\d)")
_NEARBY_WORDS = 3
_BAD_KEYS = topics("error failed denied")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_BAD_TEXT = re.compile(r"^\W*(?:error|failed|failure|not found|denied|no such)\b", re.IGNORECASE)


class Fact(NamedTuple):
    """One named value, `key` being the words that name it."""

    key: str
    value: Any
    topics: Topics

    @property
    def number(self) -> float | None:
        """Return the value as a number; None if it is not a number."""
        return float(self.value) if _is_number(self.value) else None

    @property
    def in_words(self) -> str:
        """Return the fact in words."""
        shown = (
            {True: "yes", False: "no"}.get(self.value, self.value)
            if isinstance(self.value, bool)
            else self.value
        )
        return f"{self.key}: {shown}" if self.key else str(shown)

    @property
    def evidence(self) -> Topics:
        """Return the topics of the fact with its value; a false value counts as not mentioned."""
        if self.value is False or self.value is None:
            return frozenset()
        return self.topics | (topics(self.value) if isinstance(self.value, str) else frozenset())


@lru_cache(maxsize=4_096)
def result_facts(result: str) -> tuple[Fact, ...]:
    """Return the facts in a tool's result: the parts of JSON, or other text as one fact without a name.

    >>> [fact.in_words for fact in result_facts('{"lamp": {"is_on": true, "price": 3.5}}')]
    ['lamp is on: yes', 'lamp price: 3.5']
    """
    found = _flat(_parsed(result), ())
    return tuple(fact for _, fact in zip(range(MAX_FACTS), found, strict=False))


@lru_cache(maxsize=4_096)
def stated_numbers(message: str) -> tuple[Fact, ...]:
    """Return the numbers in a message, each named by the words next to it."""
    return tuple(_numbers(message))


def failed(result: str) -> bool:
    """Return whether a tool's result reports a failure.

    >>> failed('{"match": false}'), failed("Error: no lamp"), failed('{"match": true}')
    (True, True, False)
    >>> failed('{"isError": false}'), failed('{"isError": true}')
    (False, True)
    """
    if _BAD_TEXT.match(result):
        return True
    value = _parsed(result)
    if not isinstance(value, dict):
        return False
    return any(bool(item) if _is_bad(key) else item is False for key, item in value.items())


def _is_bad(key: str) -> bool:
    """Return whether a true value under this name marks a failure."""
    return bool(topics(_HUMP.sub(" ", key)) & _BAD_KEYS)


def _parsed(result: str) -> Any:
    try:
        return json.loads(result)
    except (ValueError, RecursionError):
        return result


def _flat(value: Any, path: tuple[str, ...]) -> Iterator[Fact]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flat(item, (*path, str(key)))
    elif isinstance(value, list):
        for item in value:
            yield from _flat(item, path)
    elif value not in (None, ""):
        key = " ".join(path).replace("_", " ").replace("-", " ")
        yield Fact(key, value, topics(key))


def _numbers(message: str) -> Iterator[Fact]:
    for match in _NUMBER.finditer(message):
        before = message[: match.start()].split()[-_NEARBY_WORDS:]
        after = message[match.end() :].split()[:_NEARBY_WORDS]
        value = float(match.group(1).replace(",", "."))
        yield Fact(" ".join(before + after), value, topics(" ".join(before + after)))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
