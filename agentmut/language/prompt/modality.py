"""How strongly an instruction binds its reader."""

import re
from enum import StrEnum
from functools import lru_cache


class Modality(StrEnum):
    """The strength of an instruction, strongest reading first."""

    FORBID = "forbid"
    """never, do not, must not, avoid"""
    MUST = "must"
    """must, always, required, only, make sure"""
    SHOULD = "should"
    """should, usually, prefer, try to"""
    MAY = "may"
    """may, can, optionally, feel free"""
    IMPERATIVE = "imperative"
    """None of these words: a plain order or statement."""


# Phrases that mean something else than the words in them, rewritten before the words are read.
_PHRASES = (
    (
        r"(?:do|does|need)(?:n't| not) (?:have|need) to|need(?:n't| not)|no need to"
        r"|not (?:required|necessary|mandatory)|(?:do not|don't|never) hesitate to",
        "may",
    ),
    (r"(?:if|where|when|whenever|wherever)(?: at all)? possible", "ideally"),
    (r"no (?:more|longer|later|fewer|less|earlier|sooner)", "at most"),
    # A negation in "if you cannot verify ..." says when, not what.
    (
        r"(?:if|when|whenever|unless|until|because|since|while|where|who|which|that|whose)\b[^,.;:!?]*",
        " ",
    ),
)
_MARKERS = (
    (
        Modality.FORBID,
        r"never|(?:do|does|must|shall|should|may|can|will|could|would)(?: not\b(?! only)|n't)|cannot|no"
        r"|avoid|refrain|forbidden|prohibited|(?:not|n't) (?:allowed|permitted)",
    ),
    (
        Modality.MUST,
        r"must|always|required?|requires|mandatory|only|shall|(?:have|has|need|needs) to|make sure|ensure"
        r"|be sure to|essential|under all circumstances|without exception",
    ),
    (
        Modality.SHOULD,
        r"should|usually|normally|generally|typically|prefer(?:ably|red)?|try to|ideally|recommend(?:ed)?"
        r"|ought to",
    ),
    (Modality.MAY, r"may|might|can|could|optional(?:ly)?|feel free|allowed|permitted"),
)
_QUOTED = re.compile(
    r"\"[^\"]*\"|“[^”]{0,2000}”|«[^»]{0,2000}»|„[^“”]{0,2000}[“”]|‘[^’]{0,2000}’(?!\w)|`[^`]*`"
)
_REWRITES = tuple((re.compile(rf"\b(?:{pattern})(?!\w)"), f" {said} ") for pattern, said in _PHRASES)
_PATTERNS = tuple((kind, re.compile(rf"\b(?:{pattern})(?!\w)")) for kind, pattern in _MARKERS)


@lru_cache(maxsize=8_192)
def modality(instruction: str) -> Modality:
    """Return the modality of an English instruction: its strongest marker outside conditions and quotations.

    >>> modality("If you cannot verify the customer, you should ask again.")
    <Modality.SHOULD: 'should'>
    >>> modality("Never promise a refund.")
    <Modality.FORBID: 'forbid'>
    >>> modality('End with "What can I do for you?"')
    <Modality.IMPERATIVE: 'imperative'>
    """
    text = _QUOTED.sub('""', instruction).lower().replace("’", "'")
    for pattern, said in _REWRITES:
        text = pattern.sub(said, text)
    return next((kind for kind, pattern in _PATTERNS if pattern.search(text)), Modality.IMPERATIVE)
