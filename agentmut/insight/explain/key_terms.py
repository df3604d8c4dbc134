"""Key terms: the short phrases that a correct agent says in whatever words it keeps a rule."""

import re

from agentmut.insight.word_groups import function_words

MOST_WORDS = 2
"""Words of a key term: of a longer phrase, at least one may be put otherwise."""
_WORD = re.compile(r"[^\W_](?:[^\s,;:]*[^\W_])?")
_DIGIT = re.compile(r"\d")
_QUOTES = "\"'“„«`"


def is_key_term(text: str) -> bool:
    """Return whether a phrase is a word or two without function words between or around them.

    A figure is none: it may be written otherwise, so `states` asks for it.

    >>> [text for text in ("payment plan", "a payment plan", "it is expired", "14 days") if is_key_term(text)]
    ['payment plan']
    """
    if _DIGIT.search(text):
        return False
    said = _WORD.findall(text.casefold())
    return 0 < len(said) <= MOST_WORDS and function_words(text).words.isdisjoint(said)


def is_quoted(text: str, prompt: str) -> bool:
    """Return whether a text begins a quotation in a prompt: then its very words are asked for, or forbidden.

    >>> is_quoted("See you soon", 'Close with "See you soon!"'), is_quoted("soon", 'Close with "See you soon!"')
    (True, False)
    """
    return any(mark + text.casefold() in prompt.casefold() for mark in _QUOTES)
