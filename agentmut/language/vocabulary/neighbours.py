"""What the words around a word tell about its use."""

from collections.abc import Callable, Mapping
from enum import StrEnum

from agentmut._base import shipped
from agentmut.language.vocabulary.number_words import NUMBER_WORDS, value_of


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, as a set."""
    return frozenset(text.split())


_BEFORE_NOUNS = """
a an the this that these those each every any no some another my your his her its our their
one first last next
"""
DETERMINERS = frozenset(_BEFORE_NOUNS.split())
PRONOUNS = word_set("i you he she it we they them us me him her everyone somebody someone nobody")
_PLURAL_TRAPS = word_set("this is was has as us its always sometimes less address process access business")
_SHIPPED = shipped("agentmut.language.vocabulary", "word_lists")
AMBIGUOUS_VERBS = frozenset(_SHIPPED["verbs_that_are_nouns_too"].split())
"""Also names of things: "Return requests" is no order."""
BASE_VERBS = frozenset(_SHIPPED["verbs_that_are_no_nouns"].split()) | AMBIGUOUS_VERBS


class Following(StrEnum):
    """What an entry needs after it."""

    ANYTHING = "anything"
    WORD = "word"
    """Any word in the same phrase: not the end of a sentence, not a comma."""
    NUMBER = "number"
    """A number, in digits or in words; "twice" too."""
    NO_NUMBER = "no number"
    """A word that is no number."""
    NOT_A_NUMBER = "not a number"
    """Anything but a number; nothing at all will do."""
    CLAUSE = "clause"
    """A determiner or a pronoun, as a clause begins."""
    PLURAL = "plural"
    """A noun in the plural."""
    VERB = "verb"
    """A verb in its base form."""


def is_number(word: str) -> bool:
    """Return whether a word is a number or begins with one: "30", "80-word", "thirty"."""
    return word[:1].isdigit() or word.lower() in NUMBER_WORDS or bool(value_of(word))


def follows(needed: Following, word: str) -> bool:
    """Return whether a word is what the entry needs. The word is in lower case, and empty at the end of a phrase."""
    return _TESTS[needed](word)


def _is_plural(word: str) -> bool:
    ends = word.endswith("s") and not word.endswith("ss")
    return ends and word not in BASE_VERBS and word not in _PLURAL_TRAPS


_TESTS: Mapping[Following, Callable[[str], bool]] = {
    Following.ANYTHING: lambda word: True,
    Following.WORD: bool,
    Following.NUMBER: lambda word: is_number(word) or word in ("once", "twice"),
    Following.NO_NUMBER: lambda word: bool(word) and not is_number(word),
    Following.NOT_A_NUMBER: lambda word: not is_number(word),
    Following.CLAUSE: lambda word: word in DETERMINERS or word in PRONOUNS,
    Following.PLURAL: _is_plural,
    Following.VERB: lambda word: word in BASE_VERBS,
}
