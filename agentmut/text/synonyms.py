"""Words of an instruction that can be said otherwise, found where they stand."""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from agentmut.text.document import Instruction, PromptDocument
from agentmut.text.lexicon import Lexicon, load_lexicon
from agentmut.text.words import Word, stem, words

# Words of English only: French and German share many of its stop words.
_FUNCTION_WORDS = """
the and you your with this that these not if when before must should never always be are of for to
they their it is only or do don't from by
"""
_ENGLISH = frozenset(_FUNCTION_WORDS.split())
_ENGLISH_SHARE = 0.1
_FEW_WORDS = 12


class Replacement(NamedTuple):
    """Other words for the characters `start` to `end` of a prompt."""

    start: int
    end: int
    text: str


def reads_as_english(text: str) -> bool:
    """Whether the word lists, which are English, apply. A few plain ASCII words are taken for English."""
    found = words(text)
    english = sum(word.text.lower() in _ENGLISH for word in found)
    return english >= _ENGLISH_SHARE * len(found) if len(found) > _FEW_WORDS else text.isascii()


def synonyms(
    document: PromptDocument, instruction: Instruction, tool_names: tuple[str, ...] = ()
) -> Iterator[Replacement]:
    """Every replaceable word of an instruction, in order; none where the instruction is not English.

    Protected text is left alone, and so are words that the name of a tool is made of.
    """
    if not reads_as_english(instruction.text):
        return
    lexicon = load_lexicon()
    taken = _stems_of_names(tool_names)
    found = words(instruction.text)
    for index, word in enumerate(found):
        start, end = instruction.start + word.start, instruction.start + word.end
        said = _said_otherwise(lexicon, instruction.text, found, index)
        if said and stem(word.text) not in taken and not document.protects(start, end):
            yield Replacement(start, end, said)


@lru_cache(maxsize=16)  # asked again for each instruction of a prompt
def _stems_of_names(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(stem(word.text) for name in names for word in words(name))


def _said_otherwise(lexicon: Lexicon, text: str, found: tuple[Word, ...], index: int) -> str | None:
    word = found[index]
    if "-" in (text[word.start - 1 : word.start], text[word.end : word.end + 1]):  # half of a compound
        return None
    previous = found[index - 1].text if index and _adjoin(text, found[index - 1], word) else ""
    has_next = index + 1 < len(found) and _adjoin(text, word, found[index + 1])
    return lexicon.neutral(word.text, previous, found[index + 1].text if has_next else "")


def _adjoin(text: str, left: Word, right: Word) -> bool:
    return text[left.end : right.start].isspace()
