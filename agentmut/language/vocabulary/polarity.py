"""Negation: find the clause of a word, and whether the clause denies the word."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from agentmut.language.vocabulary.neighbours import word_set

_CONTRACTED = (
    (re.compile(r"\bcan['’]?t\b|\bcannot\b", re.IGNORECASE), "can not"),
    (re.compile(r"\bwon['’]t\b", re.IGNORECASE), "will not"),
    (re.compile(r"\bshan['’]t\b", re.IGNORECASE), "shall not"),
    (re.compile(r"\bain['’]t\b", re.IGNORECASE), "is not"),
    (re.compile(r"n['’]t\b", re.IGNORECASE), " not"),
    (re.compile(r"['’]ll\b", re.IGNORECASE), " will"),
    (re.compile(r"['’]ve\b", re.IGNORECASE), " have"),
    (re.compile(r"['’]re\b", re.IGNORECASE), " are"),
    (re.compile(r"\bI['’]m\b", re.IGNORECASE), "I am"),
)
_NO_DENIAL = re.compile(
    r"\bnot only\b|\bno (?:problem|worries|doubt|matter|need|further|more than|later than|less than|fewer than|"
    r"earlier than|questions?|additional|extra|other|charge|cost)\b|\bnot a problem\b|\bwhy not\b|\bif not\b|"
    r"\bwhether or not\b|\bnot (?:to worry|sure|hesitate)\b|\b(?:do|need) not (?:hesitate|worry|need)\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r"[;:—–\n]|,(?!\d)|\s-\s|(?:(?<![\d.!?])|(?<=\d[.!?]))[.!?]++(?=\s|$|[\"'”’*_)])|(?<=\d)[.!?]++(?=\s|$)|"
    r"\b(?:but|however|although|though|because|since|while|whereas|so that|otherwise|"
    r"therefore|instead|(?<!not\s)yet)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:if|whether|unless|when|whenever|once|until|in case|as long as|provided|should you)\b",
    re.IGNORECASE,
)
_STOP = re.compile(r"[.!?\n]")
_SEEN = 400
"""Characters within which a question is told by its mark."""
_REACH = 15
"""Words that a negation reaches."""
_WORD = re.compile(r"[^\W_]+(?:[-_][^\W_]+)*")
NEGATORS = word_set(
    """
not no never none neither nor nobody nothing without hardly unable impossible ineligible refuse refused
refusing refuses decline declined declining declines deny denied denying denies reject rejected rejecting
rejects fail failed fails failing
"""
)
"""Words that turn what follows them in their clause into the opposite."""


class Clause(NamedTuple):
    """A part of a sentence that denies or affirms as one; contractions are written out."""

    text: str
    asks: bool
    """Part of a question, which states nothing."""

    @property
    def words(self) -> tuple[str, ...]:
        """Return its words in lower case, without those after "if" and the like, which state nothing."""
        condition = _CONDITION.search(self.text)
        stated = self.text[: condition.start()] if condition else self.text
        return tuple(word.lower() for word in _WORD.findall(stated))


def clauses(text: str) -> Iterator[Clause]:
    """Return the clauses of a text in order.

    >>> [clause.text for clause in clauses("We can't refund it, but we will exchange it.")]
    ['We can not refund it', 'we will exchange it']
    """
    plain = spelled_out(text)
    start = 0
    for end in _CLAUSE_END.finditer(plain):
        yield from _clause(plain[start : end.start()], plain, end.start())
        start = end.end()
    yield from _clause(plain[start:], plain, len(plain))


def spelled_out(text: str) -> str:
    """Return the text with contractions written out, and without phrases that deny nothing ("not only").

    >>> spelled_out("We can't wait; no problem")
    'We can not wait; '
    """
    for pattern, said in _CONTRACTED:
        text = pattern.sub(said, text)
    return _NO_DENIAL.sub("", text)


def _clause(clause: str, text: str, end: int) -> Iterator[Clause]:
    if clause.strip():
        stop = _STOP.search(text, end, end + _SEEN)
        yield Clause(clause.strip(), asks=stop is not None and stop.group() == "?")


def denied(words: tuple[str, ...], index: int) -> bool:
    """Return whether an odd number of negators before the word at `index` deny it in its clause.

    >>> denied(("we", "are", "not", "unable", "to", "refund"), 5)
    False
    """
    return sum(word in NEGATORS for word in words[max(0, index - _REACH) : index]) % 2 == 1
