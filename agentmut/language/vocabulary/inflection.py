"""Regular English endings, and irregular forms from a given list."""

import re
from collections.abc import Collection
from typing import Literal

from agentmut.language.vocabulary.neighbours import word_set

_ONE_SYLLABLE = re.compile(r"(?:[^aeiou]*|qu)[aeiou][^aeiouwxy]")
_STRESSED_AT_THE_END = word_set(
    "admit begin commit control defer equip forget format incur input occur omit output permit prefer program refer "
    "regret reset rerun submit transfer"
)
Ending = Literal["", "s", "ed", "ing"]


def ending_of(word: str, base: str) -> Ending | None:
    """Return which regular ending a form of `base` has; None for an irregular form.

    >>> ending_of("verifies", "verify"), ending_of("sent", "send")
    ('s', None)
    """
    if word == base:
        return ""
    endings: tuple[Ending, ...] = ("ing", "ed", "s")
    return next((ending for ending in endings if word.endswith(ending)), None)


def inflected(base: str, ending: Ending, irregular: Collection[str] = ()) -> str | None:
    """Return a word with an ending; None if the word has another form there. `irregular` lists such forms.

    >>> inflected("verify", "s"), inflected("stop", "ing", ["stopped", "stopping"]), inflected("send", "ed", ["sent"])
    ('verifies', 'stopping', None)
    """
    if not ending:
        return base
    listed = [form for form in irregular if form.endswith("ing") == (ending == "ing")]
    if ending != "s" and listed:
        return next((form for form in listed if form.endswith(ending)), None)
    if ending == "s" and any(not form.endswith(("ed", "ing")) for form in irregular):
        return None  # a plural or a verb of its own kind
    return _regular(base, ending)


def gerund(base: str) -> str:
    """Return the form of a verb in -ing, with its last letter doubled where English does so.

    >>> gerund("promise"), gerund("stop"), gerund("commit"), gerund("answer"), gerund("be")
    ('promising', 'stopping', 'committing', 'answering', 'being')
    """
    doubles = _ONE_SYLLABLE.fullmatch(base) or base in _STRESSED_AT_THE_END
    if base == "be" or doubles:
        return f"{base}{base[-1] if doubles else ''}ing"
    return _regular(base, "ing")


def base_of_third_person(word: str) -> str:
    """Return the base form of a third-person verb; the word itself if it has no such ending.

    >>> base_of_third_person("reads"), base_of_third_person("searches"), base_of_third_person("applies")
    ('read', 'search', 'apply')
    """
    if word in _THIRD_PERSONS:
        return _THIRD_PERSONS[word]
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


_THIRD_PERSONS = {"has": "have", "does": "do", "is": "be"}


def _regular(base: str, ending: Ending) -> str:
    after_consonant = base[-2:-1] not in "aeiou"
    if ending == "ing":
        if base.endswith("ie"):
            return f"{base[:-2]}ying"
        return f"{base[:-1] if base.endswith('e') and base[-2:] not in ('ee', 'oe', 'ye') else base}ing"
    if base.endswith("y") and after_consonant:
        return f"{base[:-1]}ie{ending[-1]}"
    if ending == "s":
        return f"{base}es" if base.endswith(("s", "x", "z", "ch", "sh", "o")) else f"{base}s"
    return f"{base}d" if base.endswith("e") else f"{base}ed"
