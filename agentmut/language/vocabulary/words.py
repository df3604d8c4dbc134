"""Words of a text and their Snowball stems, without a small list of stop words."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from agentmut._base import shipped

# Underscores separate words, so that the name of a tool, `issue_refund`, meets "issue a refund".
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")

_IN_ASCII = str.maketrans({"’": "'", "ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})

STOP_WORDS = frozenset(shipped("agentmut.language.vocabulary", "word_lists")["stop_words"].split())


class Word(NamedTuple):
    """A word and where it stands."""

    start: int
    end: int
    text: str


def words(text: str) -> tuple[Word, ...]:
    """Return the words of a text in order: runs of letters and digits, with inner apostrophes.

    >>> [w.text for w in words("Don't call issue_refund twice.")]
    ["Don't", 'call', 'issue', 'refund', 'twice']
    """
    return tuple(Word(m.start(), m.end(), m.group()) for m in _WORD.finditer(text))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the English Snowball stem, in lower case. Case and kind of apostrophe do not matter.

    Nor does it matter how an umlaut is written, since names of tools have no umlauts.

    >>> stem("Refunds") == stem("refunded") == "refund", stem("ändern") == stem("aendern")
    (True, True)
    """
    return _stemmer()(word.lower().translate(_IN_ASCII))


def stems(text: str) -> frozenset[str]:
    """Return the stems of the content words of a text: its subject, without order and count.

    >>> sorted(stems("You must always verify the customer's identity."))
    ['custom', 'ident', 'verifi']
    """
    # long texts repeat themselves: each piece is read once
    pieces = set(text.lower().replace("’", "'").split())
    distinct = set(_WORD.findall(" ".join(pieces)))
    return frozenset(map(stem, distinct - STOP_WORDS))


@lru_cache(maxsize=1)
def _stemmer() -> Callable[[str], str]:
    from nltk.stem.snowball import EnglishStemmer  # type: ignore[import-untyped]  # slow, so not at start-up

    stemmed: Callable[[str], str] = EnglishStemmer().stem
    return stemmed
