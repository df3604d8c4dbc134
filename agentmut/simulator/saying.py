"""Turning "tell them that ..." into what is then said."""

import re
from functools import lru_cache

from agentmut.simulator.toolbox import BY_NAME, Toolbox

_SAYING = (
    "tell|inform|remind|mention|say|state|explain|note|advise|apologi[sz]e|thank|ask|greet|cite|quote|name|warn|point"
    "|confirm|reply|answer|respond|address|refer|promise|let"
)
_OFFERING = "offer|suggest|recommend|propose|include|add|give"
_SPEECH = re.compile(rf"^(?:{_SAYING})\w*\b", re.IGNORECASE)
_SOFT_SPEECH = re.compile(rf"^(?:{_OFFERING})\w*\b", re.IGNORECASE)
_TELL = re.compile(
    r"^(?:tell|inform|remind|advise|warn|let)\w*\s+(?:the\s+|every\s+|each\s+)?[\w-]+(?:\s+know)?\s+"
    r"(?:that|about|of|on|how|to|when)?\s*(?P<said>.+)$",
    re.I | re.S,
)
_STATE = re.compile(
    r"^(?:(?:mention|say|state|explain|note|point out|include|add|confirm)\w*\s+(?:to\s+(?:the\s+)?\w+\s+)?"
    r"(?:that\s+)?|(?:reply|answer|respond)\s+(?:that|with)\s+)(?P<said>.+)$",
    re.I | re.S,
)
_SORRY = re.compile(r"^apologi[sz]e\w*\s*(?:to\s+(?:the\s+)?\w+\s*)?(?P<said>.*)$", re.I | re.S)
_THANK = re.compile(r"^thank\w*\s+(?:the\s+|every\s+)?\w+\s*(?P<said>.*)$", re.I | re.S)
_ASK = re.compile(
    r"^ask\w*\s+(?:(?:the\s+)?(?!for\b|whether\b|if\b)\w+\s+)?(?:for\s+)?(?P<said>.+)$", re.I | re.S
)
_OFFER = re.compile(
    rf"^(?:{_OFFERING})\w*\s+(?:(?:the|them|him|her)\s+(?:\w+\s+(?=an?\b|the\b))?)?(?P<said>.+)$", re.I | re.S
)
_SOURCE = re.compile(r"^(?:cite|name|quote|refer)\w*\b", re.IGNORECASE)
_TO_YOU = re.compile(r"\b(?:their|his|her|the user['’]s)\b", re.IGNORECASE)
_THEM = re.compile(r"\b(?:they|them)\b", re.IGNORECASE)


@lru_cache(maxsize=4_096)
def speaks(phrase: str) -> bool:
    """Whether a step consists in saying something."""
    return _SPEECH.match(phrase) is not None


def is_speech(phrase: str, toolbox: Toolbox) -> bool:
    """Whether a step is for words rather than for one of the tools."""
    if _SOFT_SPEECH.match(phrase):
        return not toolbox.meant(phrase)
    return speaks(phrase) and not any(scored.score >= BY_NAME for scored in toolbox.ranked(phrase))


def wants_source(phrase: str) -> bool:
    """Whether a step consists in naming where an answer comes from."""
    return _SOURCE.match(phrase) is not None


@lru_cache(maxsize=4_096)
def rendered(phrase: str) -> str:
    """What is said when a step of saying is followed; empty when there is nothing to say literally.

    >>> rendered("tell the guest that their lamp is ready")
    'Your lamp is ready.'
    >>> rendered("ask for the lamp's number"), rendered("offer a new lamp")
    ("Could you give me the lamp's number?", 'I can offer a new lamp.')
    >>> rendered("apologise for the dark"), rendered("thank the guest for their patience")
    ('I apologise for the dark.', 'Thank you for your patience.')
    """
    if (match := _SORRY.match(phrase)) is not None:
        return _sentence(f"I apologise {match['said']}")
    if (match := _THANK.match(phrase)) is not None:
        return _sentence(f"Thank you {match['said']}")
    if (match := _ASK.match(phrase)) is not None:
        return _sentence(f"Could you give me {match['said']}", "?")
    if (match := _TELL.match(phrase) or _STATE.match(phrase)) is not None:
        return _sentence(match["said"] if _is_clause(phrase) else f"Please note {match['said']}")
    if (match := _OFFER.match(phrase)) is not None:
        return _sentence(f"I can offer {match['said']}")
    return ""


def _is_clause(phrase: str) -> bool:
    """Whether what is to be said is a statement ("that the lamp is on") rather than a thing."""
    return re.search(r"\bthat\b", phrase) is not None


def _sentence(words: str, end: str = ".") -> str:
    said = _THEM.sub("you", _TO_YOU.sub("your", " ".join(words.split()))).rstrip(" .,;")
    return f"{said[:1].upper()}{said[1:]}{end}" if said else ""
