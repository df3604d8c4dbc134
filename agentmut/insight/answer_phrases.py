"""The sentences and phrases of an answer."""

import re
from collections.abc import Mapping

from agentmut.language import STOP_WORDS

LONGEST_PHRASE = 6
"""Words."""
LONGEST_ANSWER = 20_000
"""Characters of an answer that phrases are read off: a longer one has hundreds of thousands of them."""
_WORD = re.compile(r"[^\s]+")
_PARTS = re.compile(r"\n|[.!?:;,][\"'”’)\]}*_`]*\s")
_ENDS = re.compile(r"\n+|(?<=[.!?])[\"'”’)\]}*_`]*\s+")
_EDGES = ".,;:!?()[]{}\"'`*_#>|"
_DIGITS = re.compile(r"\d+")


def phrases(answer: str) -> frozenset[str]:
    """Return the phrases of one to six words in an answer, within a sentence, clause and line.

    Words such as `the` or `of` stand at the edge of a phrase only where a clause begins or ends: no group of words is
    cut in them.
    """
    return frozenset().union(*map(_phrases, _PARTS.split(answer[:LONGEST_ANSWER])))


def sentences(answer: str) -> Mapping[str, str]:
    """Return the sentences of an answer by their comparable form: lower case, every number as `#`.

    >>> dict(sentences("Ticket T-31 is open. Thank you!"))
    {'ticket t-# is open': 'Ticket T-31 is open.', 'thank you': 'Thank you!'}
    """
    written = (part.strip() for part in _ENDS.split(answer[:LONGEST_ANSWER]))
    return {key: part for part in written if (key := _DIGITS.sub("#", part.strip(_EDGES + " -").casefold()))}


def _phrases(line: str) -> set[str]:
    """Return the phrases of a line in the form that `contains` compares."""
    found = set()
    for spans in _sentences(line):
        words = [_edges_off(line, start, end) for start, end in spans]
        loose = [line[start:end].casefold() in STOP_WORDS for start, end in words]
        folded = line.casefold()
        # a letter that becomes two, such as a sharp s, moves what stands behind it: then each phrase is folded alone
        moved = len(folded) != len(line)
        text, last_word = line if moved else folded, len(spans) - 1
        for first, (start, _) in enumerate(words):
            if loose[first] and first:
                continue
            for last, (_, end) in enumerate(words[first : first + LONGEST_PHRASE], first):
                phrase = text[start:end]
                if phrase and not (loose[last] and last < last_word):
                    found.add(phrase.casefold() if moved else phrase)
    return found


def _edges_off(line: str, start: int, end: int) -> tuple[int, int]:
    """Return the place of a word without punctuation around it; one that is nothing else ends before it begins."""
    word = line[start:end]
    return end - len(word.lstrip(_EDGES)), start + len(word.rstrip(_EDGES))


def _sentences(line: str) -> list[list[tuple[int, int]]]:
    """Return the places of a line's words, one list for each sentence."""
    sentences: list[list[tuple[int, int]]] = [[]]
    for match in _WORD.finditer(line):
        if sentences[-1] and _opens(match[0].strip(_EDGES)):
            sentences.append([])
        sentences[-1].append(match.span())
    return sentences


def _opens(word: str) -> bool:
    """Return whether a word, such as `Your`, has its capital letter only because it begins a sentence."""
    return word[:1].isupper() and word != "I" and word[1:2] not in "'’" and word.casefold() in STOP_WORDS
