"""Phrases of words that open a wallet (BIP-39): twelve words or more, all of one list of 2,048."""

import re
from collections.abc import Iterator

from agentmut.recording.spans import Span

LEAST = 12
"""Words of the shortest phrase."""
_GAP = (
    r"(?:[ \t,|]{1,4}|(?:\\+r|\r)?(?:\\+n|\n)[ \t>|*-]{0,8})(?:\d{1,2}[.):][ \t]?)?|\\*[\"'],\s{0,9}\\*[\"']"
)
_WORDS = re.compile(
    rf"(?<![A-Za-z])[A-Za-z]{{3,8}}+(?:(?: |{_GAP})[A-Za-z]{{3,8}}+(?![A-Za-z])){{{LEAST - 1},}}+"
)
"""Possessive, since a word that is too long fits no better if a part of it is taken: twice as fast."""
_WORD = re.compile(r"(?:(?<=\\[nrt])|(?<![A-Za-z\\]))[A-Za-z]{3,8}")
"""A letter behind a backslash is a part of an escape, and not of the word behind it."""


def mnemonic_spans(text: str) -> list[Span]:
    """Return the places of phrases in a text. Ordinary sentences have words that the list leaves out: and, the, of."""
    return [span for found in _WORDS.finditer(text) for span in _phrases(found)]


def _phrases(found: re.Match[str]) -> Iterator[Span]:
    from agentmut.recording.mnemonic_words import WORDS  # few texts have twelve short words in a row

    run: list[Span] = []
    for word in _WORD.finditer(found.string, found.start(), found.end()):
        if word[0].lower() in WORDS:
            run.append(word.span())
            continue
        yield from _whole(run)
        run = []
    yield from _whole(run)


def _whole(run: list[Span]) -> Iterator[Span]:
    if len(run) >= LEAST:
        yield run[0][0], run[-1][1]
