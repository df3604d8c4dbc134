"""The shipped lexicon: the words that may replace a word or phrase of an instruction."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Self

from pydantic import Field, field_validator, model_validator

from agentmut._base import Frozen
from agentmut.language.vocabulary.neighbours import DETERMINERS, Following, follows

VERSION = 4
"""Raised with every change of an entry: other replacements make other mutants."""

Relation = Literal["neutral", "weaker", "weakest", "stronger", "opposite"]
RELATIONS: tuple[Relation, ...] = ("neutral", "weaker", "weakest", "stronger", "opposite")
BINDING = ("modality", "frequency", "quantity")
"""Topics that say how much an instruction binds."""
FIELDS = (
    "actions", "coding", "commerce", "finance", "general_verbs", "general_words", "medical", "research",
    "support", "travel",
)  # fmt: skip
"""Topics of ordinary words."""
_NOT_HERE = "-"
# "a user", "a unit", "a one-off", but "an unclear answer", "an urgent case", "an hour".
_OPEN = re.compile(r"(?!eu|one\b|once\b|us[aeiu]|uti|uni(?![nm]))[aeiou]|hour|honest|heir", re.I)


class Entry(Frozen):
    """One word or phrase in all its forms, with replacements for each form and the neighbours it needs."""

    topic: str
    """The file it is in: a field of work, or what the words are for."""
    kind: Literal["verb", "noun", "adjective", "adverb", "preposition", "conjunction", "modal", "determiner"]
    forms: tuple[str, ...] = Field(min_length=1)
    neutral: tuple[str, ...] = ()
    weaker: tuple[str, ...] = ()
    """A step down: binds less, or speaks of fewer. Empty text: the word is dropped."""
    weakest: tuple[str, ...] = ()
    """The far step down."""
    stronger: tuple[str, ...] = ()
    """Binds more, or speaks of more."""
    opposite: tuple[str, ...] = ()
    not_before: frozenset[str] = frozenset()
    not_after: frozenset[str] = frozenset()
    only_before: frozenset[str] = frozenset()
    only_after: frozenset[str] = frozenset()
    followed_by: Following = Following.ANYTHING
    capitalised: bool = True
    """Whether it may begin with a capital: "May" is also a month."""
    carrier: str = ""
    """A sentence with {} for the word, for review and tests; empty where the usual one of its kind will do."""

    @field_validator(
        "forms", *RELATIONS, "not_before", "not_after", "only_before", "only_after", mode="before"
    )
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return [part.strip() for part in value.split(",")] if isinstance(value, str) else value

    @model_validator(mode="after")
    def _form_by_form(self) -> Self:
        given = [said for relation in RELATIONS if (said := self.replacements(relation))]
        if any(len(said) != len(self.forms) for said in given) or not given:
            raise ValueError(f"lexicon entry {self.forms[:1]} needs one replacement for each of its forms")
        return self

    def replacements(self, relation: Relation) -> tuple[str, ...]:
        """Return the replacements of that relation, form by form; empty if there are none."""
        said: tuple[str, ...] = getattr(self, relation)
        return said

    def fits(self, previous: str, following: str) -> bool:
        """Return whether the entry is meant between two words; either may be empty, both in lower case."""
        is_noun_here = self.kind == "verb" and previous in DETERMINERS
        barred = previous in self.not_after or following in self.not_before
        needed = (not self.only_before or following in self.only_before) and (
            not self.only_after or previous in self.only_after
        )
        return needed and not is_noun_here and not barred and follows(self.followed_by, following)

    def replacement(
        self, relation: Relation, text: str, previous: str = "", following: str = ""
    ) -> str | None:
        """Return what may replace `text`, one of the forms, in the same case; None where nothing may."""
        lower, before = text.lower(), previous.lower()
        if not self.fits(before, following.lower()) or not (
            self.capitalised or text.islower() or text.isupper()
        ):
            return None
        replacements = self.replacements(relation)
        said = replacements[self.forms.index(lower)] if replacements else _NOT_HERE
        if said == _NOT_HERE:
            return None
        joins = self.kind in ("preposition", "conjunction")  # no article stands before it: "A before B"
        return in_place_of(text, said, "" if joins else before)


class Match(NamedTuple):
    """A form of an entry in a text."""

    first: int
    """The index of its first word."""
    length: int
    """The number of its words."""
    entries: tuple[Entry, ...]
    """At most one of each topic."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Entries by every form they have; a form may belong to several topics."""

    version: int
    entries: Mapping[str, tuple[Entry, ...]]
    longest: Mapping[str, int]
    """First word -> the number of words of the longest form that begins with it."""

    def matches(self, words: tuple[str, ...], topics: tuple[str, ...] = ()) -> Iterator[Match]:
        """Return the entries of some topics, or of all, in a run of words in lower case.

        The longest at each place, none inside another.
        """
        index = 0
        while index < len(words):
            match = self._match(words, index, topics)
            if match:
                yield match
            index += match.length if match else 1

    def _match(self, words: tuple[str, ...], index: int, topics: tuple[str, ...]) -> Match | None:
        for length in range(min(self.longest.get(words[index], 0), len(words) - index), 0, -1):
            found = self.entries.get(" ".join(words[index : index + length]), ())
            chosen = tuple(entry for entry in found if not topics or entry.topic in topics)
            if chosen:
                return Match(index, length, chosen)
        return None


def in_place_of(text: str, replacement: str, previous: str) -> str | None:
    """Return `replacement` in the case of `text`; None if the "a" or "an" before it would become wrong."""
    if previous.lower() in ("a", "an") and (
        not replacement or _sounds_open(replacement) != _sounds_open(text)
    ):
        return None
    return _in_case_of(text, replacement)


def _sounds_open(word: str) -> bool:
    return _OPEN.match(word) is not None


def _in_case_of(word: str, text: str) -> str | None:
    if word.islower() or not text:
        return text
    if word.isupper() and len(word) > 1:
        return text.upper()
    return text[0].upper() + text[1:] if word[0].isupper() and word[1:].islower() else None


@lru_cache(maxsize=1)
def load_lexicon() -> Lexicon:
    """Return the shipped lexicon. Raise `ValueError` if two entries of a topic share a form."""
    found: dict[str, tuple[Entry, ...]] = {}
    for entry in _entries():
        for form in entry.forms:
            others = found.get(form, ())
            if any(other.topic == entry.topic for other in others):
                raise ValueError(f"two lexicon entries of {entry.topic} have the form {form!r}")
            found[form] = (*others, entry)
    return Lexicon(VERSION, MappingProxyType(found), MappingProxyType(_longest(found)))


def _longest(forms: Iterable[str]) -> dict[str, int]:
    result: dict[str, int] = {}
    for form in forms:
        first, *rest = form.split()
        result[first] = max(result.get(first, 0), 1 + len(rest))
    return result


def _entries() -> Iterator[Entry]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, where PyYAML has it
    for file in sorted(
        files("agentmut.language.vocabulary").joinpath("heads").iterdir(), key=lambda file: file.name
    ):
        for plain in yaml.load(file.read_text("utf-8"), loader):
            yield Entry.model_validate({"topic": file.name.removesuffix(".yaml"), **plain})
