"""The user says the same thing with other words."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from pydantic import JsonValue

from agentmut._base import shipped
from agentmut.language import Replacement, in_place_of, is_of_a_name, synonyms
from agentmut.nouns import Family
from agentmut.relations.invariants import RewordedTurn, some_kinds
from agentmut.relations.turns import Change, Turn, said
from agentmut.seams import RelationExample, answer, example

_OF_USERS: Mapping[str, Sequence[str]] = shipped("agentmut.relations.perturbation", "wording")[
    "synonyms_of_users"
]
"""What users say, as patterns, and what says the same in the same place."""
_COMPILED = tuple((re.compile(pattern), others) for pattern, others in _OF_USERS.items())
_SOURCES = ("lexicon", "wordnet")


class Synonyms(RewordedTurn):
    """Words of a turn are replaced by synonyms, from agentmut's lexicon and from a list of users' words.

    The argument `wordnet` adds synonyms of WordNet, and needs nltk's copy of WordNet.
    """

    id: ClassVar[str] = "perturbation.synonym"
    family: ClassVar[Family] = Family.PERTURBATION
    why: ClassVar[str] = "The agent hangs on a word: a user who takes another one is served otherwise."
    most: ClassVar[int] = 3
    nothing: ClassVar[str] = "no turn has a word with a sure synonym"

    def __init__(self, argument: JsonValue = None) -> None:
        self._sources = some_kinds(argument, _SOURCES, ("lexicon",))

    def changes(self, turn: Turn) -> Iterable[Sequence[Change]]:
        """Return one group: every word with a synonym."""
        found = [*_phrases(turn), *(_change(turn, one) for one in _of_lexicon(turn))]
        if "wordnet" in self._sources:
            found += [_change(turn, one) for one in _of_wordnet(turn)]
        return [tuple(change for change in found if turn.may_change(change.start, change.end))]

    def examples(self) -> Iterable[RelationExample]:
        """Yield a request that wants what it would like."""
        asked, told = "I would like to know the fee of card R-4712.", answer("The fee is 4 euros.")
        yield example(asked, told, answer("Your fee: 4 euros."), True)
        yield example(asked, told, answer("The fee is 14 euros."), False)


def _phrases(turn: Turn) -> Iterator[Change]:
    for pattern, others in _COMPILED:
        for match in pattern.finditer(turn.text):
            for other in others:
                new = in_place_of(match.group(), match.expand(other), _word_before(turn.text, match.start()))
                if new and new != match.group() and not is_of_a_name(match.group(), turn.names):
                    yield _change(turn, Replacement(*match.span(), new))


def _word_before(text: str, at: int) -> str:
    words = text[:at].split()
    return words[-1] if words else ""


def _of_lexicon(turn: Turn) -> Iterator[Replacement]:
    for instruction in turn.document.instructions:
        yield from synonyms(turn.document, instruction, turn.names)


def _of_wordnet(turn: Turn) -> Iterator[Replacement]:
    from agentmut.language import load_wordnet, wordnet_synonyms

    source = load_wordnet()
    for instruction in turn.document.instructions:
        yield from wordnet_synonyms(turn.document, instruction, turn.names, source)


def _change(turn: Turn, replacement: Replacement) -> Change:
    old = turn.text[replacement.start : replacement.end]
    return Change(
        replacement.start, replacement.end, replacement.text, f"{said(replacement.text)} for {said(old)}"
    )
