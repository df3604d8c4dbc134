"""Read what a text affirms and what it denies, by the stem of the word."""

import re
from collections.abc import Collection, Iterator
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from agentmut._base import shipped
from agentmut.language.vocabulary.neighbours import DETERMINERS, word_set
from agentmut.language.vocabulary.polarity import NEGATORS, clauses
from agentmut.language.vocabulary.words import STOP_WORDS, stem

_SHIPPED = shipped("agentmut.language.vocabulary", "word_lists")
_BASE = MappingProxyType(dict(pair.split() for pair in _SHIPPED["opposites"].split(",")))
"""A word -> the word that it denies."""
_SAYS_NOTHING = word_set(_SHIPPED["words_of_courtesies"])
_GOES_ON = word_set(
    "able unable possible impossible allowed permitted going need needs seem seems appear want plan entitled"
)
"""Words whose negation is that of what follows "to"."""
_OF = word_set("of for about regarding concerning")
_HEADING = re.compile(r"(?<![^\W\d_])([^\W\d_]++)\s*+:(?!\S)")
_REACH = 5
"""Words from a negation within which what it denies has to stand."""


_PASSED = word_set("yet longer currently already still just even quite very so such")
"""Words that may stand between a negation and what it denies."""


class Statement(NamedTuple):
    """A word that is affirmed or denied."""

    word: str
    """Its stem; that of the opposite for words like "closed"."""
    holds: bool
    firm: bool
    """Whether the word states something; "refund" in "your refund" is only named."""
    written: str
    """The word as it stands there."""


def statements(text: str) -> Iterator[Statement]:
    """Yield what a text affirms and denies. Questions, conditions and courtesies do neither.

    In a clause with a negation only the word that it denies counts, for nobody knows how far it reaches.

    >>> [(one.written, one.holds) for one in statements("It has not shipped, the shop is closed, and export is free")]
    [('shipped', False), ('shop', True), ('closed', False), ('export', True), ('free', True)]
    """
    headings = {heading.lower() for heading in _HEADING.findall(text)}
    for clause in clauses(text):
        words = _parts(clause.words)
        if not clause.asks:
            yield from _denials(words) if _negated(words) else _affirmations(words, headings)


def _parts(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words; `out of stock` becomes `not in stock`, and `non-refundable` becomes two words."""
    said = f" {' '.join(words)} ".replace(" out of stock ", " not in stock ").replace(" non-", " not ")
    return tuple(said.split())


def _negated(words: tuple[str, ...]) -> bool:
    """Return whether a word may deny others; the last word of a clause ("was denied") denies none."""
    return any(word in NEGATORS for word in words[:-1])


def _affirmations(words: tuple[str, ...], headings: Collection[str]) -> Iterator[Statement]:
    for before, word in pairwise(("", *words)):
        if _counts(word):
            named = before in DETERMINERS or before in _OF or (word == words[-1] and word in headings)
            yield _statement(word, holds=True, firm=not named)


def _denials(words: tuple[str, ...]) -> Iterator[Statement]:
    doubled = set[int]()
    for index, word in enumerate(words):
        found = _target(words, index) if word in NEGATORS else None
        if found is None:
            continue
        if words[found] in NEGATORS:
            doubled ^= {found} if index not in doubled else set()
            continue
        for place in (found, *_what_follows(words, found)):
            if words[place] not in _SAYS_NOTHING:
                yield _statement(words[place], holds=index in doubled, firm=True)


def _what_follows(words: tuple[str, ...], index: int) -> Iterator[int]:
    if words[index] in _GOES_ON and words[index + 1 : index + 2] == ("to",):
        found = _target(words, index)
        if found is not None and words[found] not in NEGATORS:
            yield found


def _target(words: tuple[str, ...], index: int) -> int | None:
    """Return the index of the word that the word at `index` denies."""
    for place in range(index + 1, min(len(words), index + 1 + _REACH)):
        word = words[place]
        if word in NEGATORS or (word not in STOP_WORDS and not word.endswith("ly") and word not in _PASSED):
            return place if word.isalpha() or "-" in word else None
    return None


def _counts(word: str) -> bool:
    return len(word) > 2 and word.isalpha() and word not in STOP_WORDS and word not in _SAYS_NOTHING


def _statement(word: str, holds: bool, firm: bool) -> Statement:
    base = _BASE.get(word)
    return Statement(stem(base or word), holds is (base is None), firm, word)
