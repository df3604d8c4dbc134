"""Find where an instruction gives an order: the base-form verb that begins its main clause."""

import re
from functools import lru_cache

from agentmut.language.vocabulary.neighbours import (
    AMBIGUOUS_VERBS,
    BASE_VERBS,
    DETERMINERS,
    PRONOUNS,
    word_set,
)

_OPENING = re.compile(
    r"(?:(?:please|first|firstly|then|next|finally|lastly|afterwards|otherwise),? +)*", re.I
)
_CONDITION = re.compile(
    r"(?:if|when|whenever|unless|once|before|after|as soon as|for|in case)\b[^,.;:!?()\"“`{}]*, +(?:then +|please +)?",
    re.I,
)
_LABEL = re.compile(
    r"[A-Z]\w*(?: (?!(?:this|these|the|following|as|in|with|for|to)\b)[\w/&-]+){0,2}:\s+[A-Z]"
)
"""A label such as "Change flights: Basic economy ...", which names the subject of a line."""
_VERB = re.compile(r"([A-Za-z]+)(?=[ .!]|$)")
_NEXT = re.compile(r"[ *_]+([\w'’]+)")
_PARTICLES = word_set(
    "to for with in on at by from into about as only back up out if when whether what how where which why "
    "yourself politely briefly immediately everything anything nothing"
)
_FINITE = word_set("is are was were must should may might can will shall has had does did of and or")


@lru_cache(maxsize=4_096)  # asked by several operators
def order_at(text: str) -> int | None:
    """Return where the verb of an order begins in an English instruction; None if none is certain.

    >>> order_at("If it is late, apologise."), order_at("Return requests are rare."), order_at("Be kind.")
    (15, None, 0)
    """
    condition = _CONDITION.match(text)
    opening = _OPENING.match(text, condition.end() if condition else 0)
    start = opening.end() if opening else 0
    verb = _VERB.match(text, start)
    if (
        not verb
        or _LABEL.match(text, start)
        or verb[1].lower() not in BASE_VERBS
        or not _cased(verb[1], start)
    ):
        return None
    following = _NEXT.match(text, verb.end())
    said = following[1].lower() if following else ""
    return start if _is_verb(verb[1].lower(), said) else None


def _cased(verb: str, start: int) -> bool:
    return start == 0 or verb.islower() or verb.isupper()


def _is_verb(verb: str, following: str) -> bool:
    if verb in AMBIGUOUS_VERBS:
        return following in DETERMINERS or following in PRONOUNS or following in _PARTICLES
    return following not in _FINITE or (verb == "do" and following == "so")
