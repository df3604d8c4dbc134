"""Read from an answer whether it grants or refuses, whatever its wording."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import ClassVar

from pydantic import JsonValue

from agentmut._base import arguments, shipped
from agentmut.language.vocabulary.neighbours import DETERMINERS, word_set
from agentmut.language.vocabulary.polarity import clauses, denied
from agentmut.language.vocabulary.words import stem
from agentmut.nouns import IS, AgentTrace, Fact, Scenario

YES, NO = "yes", "no"
_SHIPPED = shipped("agentmut.language.vocabulary", "word_lists")
_GRANTING = word_set(_SHIPPED["granting"])
_REFUSING = word_set(_SHIPPED["refusing"])
_ACTIONS = word_set(_SHIPPED["acts_of_a_shop"])
_TERMS = word_set(
    "accept allow permit offer refund reimburse exchange replace honour honor grant approve authorise authorize cover"
)
"""Verbs of what a shop may do for a customer: denied, they refuse it."""
_PROMISING = word_set("will shall can may able happy glad pleased going")
_COURTESY = word_set(_SHIPPED["acts_of_courtesy"])


class Decisions:
    """`decisions`: `yes` where an answer grants, affirms or can, `no` where it refuses, denies or cannot.

    Argument: own terms, as `{approved: [approve, refund], denied: [reject]}`; a negated term of one of two
    decisions speaks for the other one. Or a list of terms, each of which is said or denied by itself.
    """

    name: ClassVar[str] = "decisions"

    def __init__(self, argument: JsonValue = None) -> None:
        self.terms = None if argument is None else dict(_own_terms(argument))

    def facts(self, scenario: Scenario, trace: AgentTrace) -> frozenset[Fact]:
        """Return what the answers decide. An answer that refuses one thing and grants another shows both."""
        texts = [output for output in trace.outputs if isinstance(output, str)]
        return frozenset(Fact(self.name, value) for text in texts for value in self.decided_in(text))

    def decided_in(self, text: str) -> frozenset[str]:
        """Return what a text decides."""
        return frozenset(self._own(text)) if self.terms else decisions(text)

    def _own(self, text: str) -> Iterator[str]:
        names = tuple(self.terms or ())
        for clause in clauses(text):
            if clause.asks:
                continue
            words = tuple(stem(word) for word in clause.words)
            for name, terms in (self.terms or {}).items():
                for index in _places(words, terms):
                    yield self._value(names, name, denied(clause.words, index))

    def _value(self, names: tuple[str, ...], name: str, negated: bool) -> str:
        if name.startswith("?"):  # a term by itself
            return f"{name[1:]}{IS}{NO if negated else YES}"
        if not negated:
            return name
        return names[1 - names.index(name)] if len(names) == 2 else f"not {name}"


@lru_cache(maxsize=512)  # every relation reads the same source runs again
def decisions(text: str) -> frozenset[str]:
    """Return what a text decides: `yes`, `no`, both or nothing. Questions and conditions decide nothing.

    >>> sorted(decisions("We can't refund it.")), sorted(decisions("We are not unable to refund it."))
    (['no'], ['yes'])
    """
    found: set[bool] = set()
    for clause in clauses(text):
        if not clause.asks:
            found |= set(_signals(clause.words))
    return frozenset(YES if granted else NO for granted in found)


_TELLING = frozenset((*_REFUSING, *_GRANTING, *_ACTIONS, *_TERMS, "can", "take"))
"""Words of which one at least grants or refuses."""


def _signals(words: tuple[str, ...]) -> Iterator[bool]:
    if words[:1] == ("yes",) or words == ("no",):
        yield words[0] == "yes"
    if _TELLING.isdisjoint(words):
        return
    for index, word in enumerate(words):
        if word in _REFUSING:
            yield denied(words, index)
        elif (word in _GRANTING and not _is_courtesy(words, index)) or _promised(words, index):
            yield not denied(words, index)
        elif word == "can" and _is_told(words, index):
            yield not (denied(words, index) or words[index + 1 : index + 2] == ("not",))
        elif _is_ruled_out(words, index) and denied(words, index):
            yield False


def _promised(words: tuple[str, ...], index: int) -> bool:
    """Return whether an action is announced ("we will refund it"), not merely named ("your refund")."""
    if words[index] not in _ACTIONS:
        return False
    before = words[max(0, index - 4) : index]
    return bool(before) and before[-1] not in DETERMINERS and not _PROMISING.isdisjoint(before)


def _is_ruled_out(words: tuple[str, ...], index: int) -> bool:
    """Return whether "we do not accept it" or the like is said; "you do not pay" refuses nothing."""
    taken_back = words[index] == "take" and "back" in words[index + 1 : index + 7]
    if words[index] not in _TERMS and not taken_back:
        return False
    before = words[max(0, index - 4) : index]
    return ("we" in before or "i" in before) and (
        before[-1] in ("not", "never") or before[-2:] == ("no", "longer")
    )


def _is_told(words: tuple[str, ...], index: int) -> bool:
    """Return whether "can" speaks of the matter at hand: "you can always contact us" does not."""
    after = [word for word in words[index + 1 : index + 4] if word != "not"]
    return bool(after) and (after[0] not in _COURTESY or after[:1] == ["be"])


def _is_courtesy(words: tuple[str, ...], index: int) -> bool:
    """Return whether the words are a courtesy such as "able to assist you"."""
    after = words[index + 1 : index + 3]
    return words[index] == "able" and len(after) == 2 and after[0] == "to" and after[1] in _COURTESY - {"be"}


def _places(words: tuple[str, ...], terms: tuple[tuple[str, ...], ...]) -> Iterator[int]:
    for term in terms:
        for index in range(len(words) - len(term) + 1):
            if words[index : index + len(term)] == term:
                yield index


def _own_terms(argument: JsonValue) -> Iterator[tuple[str, tuple[tuple[str, ...], ...]]]:
    what = "terms: {approved: [approve, refund], denied: [reject]}, or a list of terms"
    if isinstance(argument, Mapping) and argument:
        for name, terms in argument.items():
            yield name, tuple(map(_stemmed, arguments.texts(terms, f"terms of {name!r}")))
    else:
        for term in arguments.texts(argument, what):
            yield f"?{term}", (_stemmed(term),)


def _stemmed(term: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in term.split())
