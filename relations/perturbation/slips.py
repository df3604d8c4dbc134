"""Slips of the keyboard that any reader sees through."""

import re
from collections.abc import Iterator
from types import MappingProxyType

from agentmut.language import word_set
from agentmut.relations.turns import Change, Turn, said

_COMMON = MappingProxyType({
    "the": "teh", "and": "adn", "that": "taht", "with": "wiht", "your": "yuor", "please": "plase", "would": "woudl",
    "what": "waht", "because": "becuase", "when": "wehn", "this": "tihs", "where": "wehre", "could": "coudl",
    "just": "jsut", "about": "abuot", "since": "sicne", "have": "ahve", "everything": "everythign",
    "arrived": "arived", "which": "wich", "really": "realy", "received": "recieved", "like": "liek",
})  # fmt: skip
"""Slips of words that carry little of what is asked."""
_WORD = re.compile(r"(?<![\w'’@./-])[A-Za-z]{6,}(?![\w'’@/-])")
_SHORT = re.compile(r"(?<![\w'’@./-])[a-z]{3,10}(?![\w'’@/-])")
_DELICATE = re.compile(r"count|shift|pass|publ|assign|analy", re.I)  # a slip in these may make a rude word
_OTHER_WORDS = word_set(
    "united untied casual causal martial marital silver sliver sacred scared trials trails dairies diaries "
    "reserve reverse reserved reversed unites unties signed singed singing signing"
)
"""Words that are one slip from another word."""


def slips(turn: Turn) -> Iterator[Change]:
    """Every word of the turn that can be mistyped, one slip or two for each; fixed text is left alone."""
    for match in _SHORT.finditer(turn.text):
        mistyped = _COMMON.get(match.group())
        if mistyped and turn.may_change(*match.span()):
            yield _change(match, mistyped)
    for match in _WORD.finditer(turn.text):
        word = match.group()
        plain = word.lower() not in _OTHER_WORDS and not _DELICATE.search(word)
        if plain and word[1:].islower() and turn.may_change(*match.span()):
            yield from (_change(match, mistyped) for mistyped in _mistyped(word))


def _change(match: re.Match[str], mistyped: str) -> Change:
    return Change(*match.span(), mistyped, f"{said(match.group())} mistyped as {said(mistyped)}")


def _mistyped(word: str) -> Iterator[str]:
    """Two letters in the middle changed places, or a vowel is doubled: neither makes another word."""
    for at in range(2, len(word) - 2):
        one, two = word[at], word[at + 1]
        if one != two and word[at - 1] != two and (one in "aeiou") != (two in "aeiou"):
            yield f"{word[:at]}{two}{one}{word[at + 2 :]}"
            break
    vowel = next(
        (
            at
            for at in range(1, len(word) - 1)
            if word[at] in "aiu" and word[at - 1 : at + 2].count(word[at]) == 1
        ),
        None,
    )
    if vowel:
        yield f"{word[:vowel]}{word[vowel]}{word[vowel:]}"
