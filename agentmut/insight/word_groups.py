"""The phrases of an answer that a tester would quote: none is cut within a group of words."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from agentmut._base import shipped
from agentmut.language import STOP_WORDS, days

LONGEST_PHRASE = 9
"""Words."""
LONGEST_ANSWER = 20_000
"""Characters of an answer that phrases are read off: a longer one has hundreds of thousands of them."""
_WORD = re.compile(r"\S+")
_STOP = re.compile(r"\n|[.!?:;,][\"'”’)\]}*_`]*\s|\s[-–—]\s")
_EDGES = ".,;:!?()[]{}\"'`*_#>|“”„«»‘’–—-"
_QUOTED = re.compile(r"\"[^\"\n]{1,80}\"|[“„][^”“\n]{1,80}[”“]|«[^»\n]{1,80}»|`[^`\n]{1,80}`")
_SHORTENED = re.compile(
    r"\b(?:e\.g|i\.e|z\. ?B|d\. ?h|u\. ?a|bzw|ggf|ca|approx|inkl|zzgl|incl|vs|Mrs?|Ms|Dr|Prof|No|Nr|St|Str|Art|Abs)\.\s"
)
_ORDINAL = re.compile(r"\b\d{1,2}\.\s(?=[^\W\d_])")
_LIST_NUMBER = re.compile(r"(?m)^[ \t]*\d{1,2}\.\s")


class FunctionWords(NamedTuple):
    """The words of one language that hold a sentence together."""

    words: frozenset[str]
    closing: frozenset[str]
    """Articles, prepositions, conjunctions and auxiliaries: no phrase ends with one."""


@lru_cache(maxsize=1)
def _lists() -> dict[str, frozenset[str]]:
    listed = shipped("agentmut.insight", "function_words")
    return {name: frozenset(words.split()) for name, words in listed.items()}


def function_words(answer: str) -> FunctionWords:
    """Return the function words of an answer's language: German where German words are more frequent, else English."""
    said = answer.casefold().split()
    german, english = (sum(word in known for word in said) for known in (_lists()["german"], STOP_WORDS))
    if german > english:
        return FunctionWords(_lists()["german"], _lists()["german_closing"])
    return FunctionWords(STOP_WORDS, _lists()["closing"])


def whole_phrases(answer: str) -> frozenset[str]:
    """Return the phrases of an answer in lower case that are cut within no group of words.

    A phrase stands within a clause. It begins where the clause does or behind a function word such as `the`, and ends
    where the clause does or before a function word; so content words that stand side by side stay together, and with
    them names and amounts. It is cut within no date, number or quotation and behind no negation, and never ends with
    an article, a preposition, a conjunction or an auxiliary.

    >>> sorted(whole_phrases("It is due on 1 June."))
    ['1 june', 'due', 'due on 1 june', 'it is due', 'it is due on 1 june']
    """
    text = answer[:LONGEST_ANSWER]
    known, held = function_words(text), _held(text)
    found: set[str] = set()
    for start, end in _clauses(text, held):
        found.update(
            _phrases(text, [match.span() for match in _WORD.finditer(text, start, end)], known, held)
        )
    return frozenset(found)


def _held(text: str) -> list[tuple[int, int]]:
    """Return the spans that no phrase is cut in: dates, ordinals, quotations, abbreviations with their next word."""
    spans = [match.span() for match in _QUOTED.finditer(text)]
    spans += [(match.start(), match.end() + 1) for match in _SHORTENED.finditer(text)]
    if any(character.isdigit() for character in text):
        spans += [(day.span.start, day.span.end) for day in days(text)]
        numbers = {match.end() for match in _LIST_NUMBER.finditer(text)}
        spans += [
            (match.start(), match.end() + 1)
            for match in _ORDINAL.finditer(text)
            if match.end() not in numbers
        ]
    return spans


def _clauses(text: str, held: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    start = 0
    for stop in _STOP.finditer(text):
        if not any(first < stop.end() - 1 < last - 1 for first, last in held):
            yield start, stop.end()
            start = stop.end()
    yield start, len(text)


def _phrases(
    text: str, spans: Sequence[tuple[int, int]], known: FunctionWords, held: Sequence[tuple[int, int]]
) -> Iterator[str]:
    places = [place for span in spans if (place := _bare(text, *span))]
    written = [text[start:end] for start, end in places]
    words = [word.casefold() for word in written]
    # "US" is a name
    loose = [word.casefold() in known.words and not (len(word) > 1 and word.isupper()) for word in written]
    named = _of_names(written)
    bound = [
        i in named or _is_bound(words, loose, i) or _is_held(held, places[i][1])
        for i in range(len(words) - 1)
    ]
    last_word = len(words) - 1
    for first in range(len(words)):
        if first and (bound[first - 1] or loose[first]):
            continue
        for last in range(first, min(first + LONGEST_PHRASE, len(words))):
            if last < last_word and (bound[last] or loose[last]):
                continue
            if words[last] not in known.closing:
                yield text[places[first][0] : places[last][1]].casefold()


def _bare(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the place of a word without punctuation around it; None where it is nothing else."""
    word = text[start:end]
    first, last = end - len(word.lstrip(_EDGES)), start + len(word.rstrip(_EDGES))
    return (first, last) if first < last else None


def _is_bound(words: Sequence[str], loose: Sequence[bool], left: int) -> bool:
    """Return whether a word and the next one belong together."""
    if words[left] in _lists()["negating"]:
        return True
    if loose[left]:
        return False
    return not loose[left + 1] or words[left + 1] in _lists()["particles"]


def _of_names(written: Sequence[str]) -> frozenset[int]:
    """Return the words that are bound to the next one by a name such as `Bank of England`."""
    middle = [
        i
        for i in range(1, len(written) - 1)
        if written[i] in _lists()["within_names"]
        and written[i - 1][:1].isupper()
        and written[i + 1][:1].isupper()
    ]
    return frozenset(place for i in middle for place in (i - 1, i))


def _is_held(held: Sequence[tuple[int, int]], place: int) -> bool:
    return any(start < place < end for start, end in held)
