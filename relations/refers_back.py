"""Questions that refer to the content of other questions."""

import re
from collections.abc import Iterable

from agentmut._base import shipped
from agentmut.language import FactKind, facts, identifiers, stems, word_set, words

_OUTCOME = re.compile(
    r"\b(?:the|this|that) (?:result|total|sum|answer|outcome|difference|rest|remainder|amount|price|cost|fee|charge"
    r"|money|reason|status|date|deadline|process|procedure|policy|rule|exception|alternative)s?\b"
    r"(?! (?:of|for|to|on|in|between|at))"
    r"|\b(?:faster|slower|cheaper|dearer|better|worse|longer|shorter|sooner|earlier|bigger|smaller|higher|lower)\b"
    r"(?! than)|\b(?:as well|likewise|similarly)\b",
    re.I,
)
"""What comes of something else, or is compared with it."""
_OF_ANYTHING = word_set(shipped("agentmut.relations", "word_lists")["words_of_any_question"])
"""Words that say of nothing in particular what is asked."""


def refers_back(text: str, others: Iterable[str]) -> bool:
    """Return whether a question may speak of what another says: both share a word of content or an identifier, or it
    asks nothing of its own ("How long do I have?"). Where both name other things, shared words are no sign.

    >>> refers_back("Do you sell shoes?", ["What do you sell?"]), refers_back("Is A-1 here?", ["Is B-2 here?"])
    (True, False)
    """
    own, named = _content(text), _named(text)
    if _OUTCOME.search(text) or not own:
        return True
    return any(
        bool(named & _named(other)) or (bool(own & _content(other)) and not (named and _named(other)))
        for other in others
    )


def _content(text: str) -> frozenset[str]:
    return stems(" ".join(word.text for word in words(text) if word.text.lower() not in _OF_ANYTHING))


def _named(text: str) -> frozenset[str]:
    stated = (
        text[fact.span.start : fact.span.end] for fact in facts(text) if fact.kind is FactKind.IDENTIFIER
    )
    return frozenset([*stated, *(thing.value for thing in identifiers(text))])
