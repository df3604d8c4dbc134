"""The shipped synonyms, and what a word may be replaced by where it stands."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal, Self

from pydantic import model_validator

from agentmut.frozen import Frozen

_BEFORE_NOUNS = """
a an the this that these those each every any no some another my your his her its our their
one first last next
"""
_DETERMINERS = frozenset(_BEFORE_NOUNS.split())


class Entry(Frozen):
    """One word in its forms, with replacements form by form, and the neighbours it must not have."""

    kind: Literal["verb", "noun", "adjective", "adverb", "preposition", "conjunction"]
    forms: tuple[str, ...]
    neutral: tuple[str, ...]
    not_before: frozenset[str] = frozenset()
    not_after: frozenset[str] = frozenset()

    @model_validator(mode="after")
    def _form_by_form(self) -> Self:
        if len(self.forms) != len(self.neutral) or not self.forms:
            raise ValueError(f"lexicon entry {self.forms[:1]} needs one replacement for each of its forms")
        return self

    def fits(self, previous: str, following: str) -> bool:
        """Whether the entry reads well between two words; either may be empty, both in lower case."""
        is_noun_here = self.kind == "verb" and previous in _DETERMINERS
        return not (is_noun_here or previous in self.not_after or following in self.not_before)


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Entries by every form they have."""

    version: int
    entries: Mapping[str, Entry]

    def neutral(self, word: str, previous: str = "", following: str = "") -> str | None:
        """What may stand in the place of `word`, in its case and inflection; None where nothing may.

        >>> load_lexicon().neutral("Verifies")
        'Checks'
        >>> load_lexicon().neutral("provided", following="that") is None
        True
        """
        lower = word.lower()
        entry = self.entries.get(lower)
        if entry is None or not entry.fits(previous.lower(), following.lower()):
            return None
        said = entry.neutral[entry.forms.index(lower)]
        if previous.lower() in ("a", "an") and _sounds_open(said) != _sounds_open(lower):
            return None
        return _in_case_of(word, said)


def _sounds_open(word: str) -> bool:
    return word[0] in "aeio" or word.startswith("un")  # "a user", "an unclear answer"


def _in_case_of(word: str, said: str) -> str | None:
    if word.islower():
        return said
    if word.isupper() and len(word) > 1:
        return said.upper()
    return said[0].upper() + said[1:] if word[0].isupper() and word[1:].islower() else None


@lru_cache(maxsize=1)
def load_lexicon() -> Lexicon:
    """The lexicon shipped with agentmut. Raises `ValueError` when two entries share a form."""
    import yaml

    plain = yaml.safe_load(files("agentmut.text").joinpath("lexicon.yaml").read_text("utf-8"))
    found: dict[str, Entry] = {}
    for entry in map(Entry.model_validate, plain["entries"]):
        if clash := found.keys() & set(entry.forms):
            raise ValueError(f"two lexicon entries have the form {min(clash)!r}")
        found.update(dict.fromkeys(entry.forms, entry))
    return Lexicon(plain["version"], MappingProxyType(found))
