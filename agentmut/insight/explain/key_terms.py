"""Key terms: the short phrases that a correct agent says in whatever words it keeps a rule."""

import re

from agentmut.insight.word_groups import function_words
from agentmut.language import is_unit

MOST_WORDS = 2
"""Words of a key term: of a longer phrase, at least one may be put otherwise."""
_WORD = re.compile(r"[^\W_](?:[^\s,;:]*[^\W_])?")
_DIGIT = re.compile(r"\d")
_QUOTES = "\"'“„«`"


def is_key_term(text: str) -> bool:
    """Return whether a phrase is a word or two without function words between or around them.

    A figure is none: it may be written otherwise, so `states` asks for it. A unit alone, such as `days`, is none.

    >>> [text for text in ("payment plan", "a payment plan", "it is expired", "14 days", "day") if is_key_term(text)]
    ['payment plan']
    """
    if _DIGIT.search(text):
        return False
    said = _WORD.findall(text.casefold())
    if all(map(is_unit_word, said)):
        return False
    return 0 < len(said) <= MOST_WORDS and function_words(text).words.isdisjoint(said)


def is_unit_word(word: str) -> bool:
    """Return whether a word is a unit or a currency, in the singular or the plural.

    >>> [word for word in ("euros", "days", "minute", "parcel") if is_unit_word(word)]
    ['euros', 'days', 'minute']
    """
    word = word.casefold()
    return is_unit(word) or any(is_unit(one) for one in (word.removesuffix("s"), word.removesuffix("es")))


def is_quoted(text: str, prompt: str) -> bool:
    """Return whether a text begins a quotation in a prompt: then its very words are asked for, or forbidden.

    >>> is_quoted("See you soon", 'Close with "See you soon!"'), is_quoted("soon", 'Close with "See you soon!"')
    (True, False)
    """
    return any(mark + text.casefold() in prompt.casefold() for mark in _QUOTES)
