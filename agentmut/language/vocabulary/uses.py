"""Find the words of the lexicon in a prompt, and their replacements."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from agentmut.language.prompt.document import Instruction, PromptDocument
from agentmut.language.vocabulary.lexicon import Entry, Match, Relation, load_lexicon
from agentmut.language.vocabulary.neighbours import word_set
from agentmut.language.vocabulary.words import Word, words

# Words of English only: French and German share many of its stop words.
_FUNCTION_WORDS = """
the and you your with this that these not if when before must should never always be are of for to
they their it is only or do don't from by at than more which within each any every has have been can may
"""
_ENGLISH = frozenset(_FUNCTION_WORDS.split())
_ENGLISH_SHARE = 0.1
_FEW_WORDS = 12
_FOREIGN = word_set(
    "der die das und nicht ist ein eine einen einem einer immer nie nach vor bis den dem des kein keine keinen nur "
    "sie du ich wir ihr es dir dich uns dann wenn bei mit von zum zur auf im wird werden oder sind "
    "el los las un una unos unas y del que con por para su sus si ni nunca antes al la le les de et une du des ne pas "
    "vous votre vos dans pour avec jamais gli di che sempre uma não com"
)
_PLAIN = str.maketrans("’‘“”–—…€£≤≥•°×→§", "''\"\"-..EL<>*ox>S")
_SAME_PHRASE = re.compile(r"[\s*_$€£(]+")  # "above **$50**": the number follows "above"
_CLAUSE_END = re.compile(r"[,.;:!?()–—]|\s-\s")
_CONDITION = re.compile(
    r"\b(?:if|when|whenever|unless|because|since|while|where|who|which|that|whose|whether|once"
    r"|how|what|why|as \w+ as)\b",
    re.I,
)
# "It is important that you never ...": what follows is the rule
_STRESSED = re.compile(
    r"\b(?:important|sure|ensure|remember|note|essential|critical|crucial|vital|imperative|aware|mind) that\b",
    re.I,
)


class Use(NamedTuple):
    """A word or phrase of the lexicon, the characters `start` to `end` of a prompt."""

    start: int
    end: int
    entries: tuple[Entry, ...]
    text: str
    previous: str
    """The word before it in the same phrase, or nothing."""
    following: str

    def replacement(self, relation: Relation) -> str | None:
        """Return what may stand here instead: None where nothing may, empty text to drop the word."""
        found = (e.replacement(relation, self.text, self.previous, self.following) for e in self.entries)
        return next((said for said in found if said is not None), None)


@lru_cache(maxsize=4_096)  # asked by every word operator
def reads_as_english(text: str) -> bool:
    """Return whether the English word lists apply. A few plain ASCII words count as English.

    >>> reads_as_english("Answer briefly."), reads_as_english("No ofrezcas bonos ni compensaciones.")
    (True, False)
    """
    found = [word.text.lower() for word in words(text)]
    english = sum(word in _ENGLISH for word in found)
    if len(found) > _FEW_WORDS:
        return english >= _ENGLISH_SHARE * len(found)
    return text.translate(_PLAIN).isascii() and (english > 0 or not any(word in _FOREIGN for word in found))


def reads_as_foreign(text: str) -> bool:
    """Return whether a text has more words of other languages than of English, by their most frequent words.

    >>> reads_as_foreign("Einen Termin buchen."), reads_as_foreign("Book a visit."), reads_as_foreign("Termine")
    (True, False, False)
    """
    found = [word.text.lower() for word in words(text)]
    return sum(word in _FOREIGN for word in found) > sum(word in _ENGLISH for word in found)


def in_condition(text: str, offset: int) -> bool:
    """Return whether the text at `offset` belongs to a condition: it comes after "if", "who" and the like."""
    clause = _STRESSED.sub(" ", _CLAUSE_END.split(text[:offset])[-1])
    return _CONDITION.search(clause) is not None


def uses(document: PromptDocument, instruction: Instruction, *topics: str) -> Iterator[Use]:
    """Return every use of an entry of some topics, or of any, in an instruction; none if it is not English.

    Protected text and halves of compounds are left out. An entry may still say nothing about a use.
    """
    if not reads_as_english(instruction.text):
        return
    for use in _uses(instruction.text, topics):
        start, end = instruction.start + use.start, instruction.start + use.end
        if not document.protects(start, end):
            yield use._replace(start=start, end=end)


@lru_cache(maxsize=4_096)  # several operators ask of the same topics
def _uses(text: str, topics: tuple[str, ...]) -> tuple[Use, ...]:
    found = words(text)
    said = tuple(word.text.lower().replace("’", "'") for word in found)
    matched = load_lexicon().matches(said, topics)
    return tuple(
        _use(text, found, match)
        for match in matched
        if _is_whole(text, found[match.first : match.first + match.length])
    )


def _use(text: str, found: tuple[Word, ...], match: Match) -> Use:
    first, last = match.first, match.first + match.length - 1
    form = " ".join(word.text for word in found[first : last + 1]).replace("’", "'")
    return Use(found[first].start, found[last].end, match.entries, form, *_around(text, found, first, last))


def neighbours(text: str) -> Iterator[tuple[Word, str, str]]:
    """Yield every word that is not half of a compound, with the words before and after it in its phrase."""
    found = words(text)
    for index, word in enumerate(found):
        if _is_whole(text, (word,)):
            yield word, *_around(text, found, index, index)


def _around(text: str, found: tuple[Word, ...], first: int, last: int) -> tuple[str, str]:
    previous = found[first - 1].text if first and _adjoin(text, found[first - 1], found[first]) else ""
    has_next = last + 1 < len(found) and _adjoin(text, found[last], found[last + 1])
    return previous, found[last + 1].text if has_next else ""


def _is_whole(text: str, words: tuple[Word, ...]) -> bool:
    """Return whether the words stand together, with only blanks between, and are not part of a compound."""
    start, end = words[0].start, words[-1].end
    between = [text[left.end : right.start] for left, right in pairwise(words)]
    return all(gap.isspace() for gap in between) and not (
        text[start - 1 : start] in ("-", "‑") or text[end : end + 1] in ("-", "‑")
    )


def _adjoin(text: str, left: Word, right: Word) -> bool:
    return _SAME_PHRASE.fullmatch(text, left.end, right.start) is not None
