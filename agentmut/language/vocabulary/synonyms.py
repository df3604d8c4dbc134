"""Find words of an instruction that have a synonym, at their place in the text."""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from agentmut.language.prompt.document import Instruction, PromptDocument
from agentmut.language.vocabulary.uses import uses
from agentmut.language.vocabulary.words import stem, words


class Replacement(NamedTuple):
    """Other words for the characters `start` to `end` of a prompt."""

    start: int
    end: int
    text: str


def synonyms(
    document: PromptDocument, instruction: Instruction, tool_names: tuple[str, ...] = ()
) -> Iterator[Replacement]:
    """Return every replaceable word of an instruction, in order; none if the instruction is not English.

    Protected text is left alone, and so are words that the name of a tool is made of. An instruction keeps a word
    whose synonym it has already: "Do not speculate or guess" would become "Do not guess or guess". A word in capitals
    among others is a keyword, such as SELECT.
    """
    for use in uses(document, instruction):
        said = use.replacement("neutral")
        kept = is_of_a_name(use.text, tool_names) or _is_keyword(use.text, instruction.text)
        if said and not kept and not _says(instruction.text, said):
            yield Replacement(use.start, use.end, said)


def _is_keyword(text: str, sentence: str) -> bool:
    return len(text) > 1 and text.isupper() and not sentence.isupper()


def _says(text: str, wanted: str) -> bool:
    return any(word.text.lower() == wanted.lower() for word in words(text))


def is_of_a_name(text: str, tool_names: tuple[str, ...]) -> bool:
    """Return whether one of the words is part of a tool's name: it may then mean the tool."""
    taken = _stems_of_names(tool_names)
    return any(stem(word) in taken for word in text.split())


@lru_cache(maxsize=16)  # asked again for each instruction of a prompt
def _stems_of_names(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(stem(word.text) for name in names for word in words(name))
