"""Sentences of speech: from "tell them that ..." to the words for the user."""

import re
from functools import lru_cache

from agentmut.simulator.mind.toolbox import Toolbox

_SAYING = (
    "tell|inform|remind|mention|say|state|explain|note|advise|apologi[sz]e|thank|ask|greet|cite|quote|name|warn|point"
    r"|confirm(?=\s+(?:that|to)\b|.*\b(?:with|to)\s+(?:them|the\s+\w+)\b)"
    "|reply|answer|respond|address|refer|promise|let|stress|emphasi[sz]e|announce|clarify|encourage|urge|wish"
    "|make (?:it )?clear|draw attention"
)
_OFFERING = "offer|suggest|recommend|propose|include|add|give"
_SPEECH = re.compile(rf"^(?:{_SAYING})\w*\b", re.IGNORECASE)
_SOFT_SPEECH = re.compile(rf"^(?:{_OFFERING})\w*\b", re.IGNORECASE)
_TELL = re.compile(
    r"^(?:tell|inform|remind|advise|warn|let)\w*\s+(?:the\s+|every\s+|each\s+)?[\w-]+(?:\s+know)?\s+"
    r"(?:that|about|of|on|how|to|when)?\s*(?P<said>.+)$",
    re.I | re.S,
)
_PERSON = r"(?:(?:the|every|each|any|all)\s+)?(?!to\b)[\w-]+"
_TELL_TO = re.compile(
    rf"^(?:tell|remind|advise|warn|encourage|urge|inform)\w*\s+{_PERSON}\s+(?P<not>not\s+)?to\s+(?P<said>.+)$",
    re.I | re.S,
)
_ASK_TO = re.compile(rf"^ask\w*\s+{_PERSON}\s+to\s+(?P<said>.+)$", re.I | re.S)
_ASK_WHETHER = re.compile(rf"^ask\w*\s+(?:{_PERSON}\s+)?(?P<said>(?:whether|if)\s.+)$", re.I | re.S)
_TURN_TO = re.compile(rf"^(?:refer|point)\w*\s+{_PERSON}\s+to\s+(?P<said>.+)$", re.I | re.S)
_CONTACT = re.compile(
    r"^(?:give|include|add)\w*\s+(?:them\s+)?(?P<said>.*(?:\d|\bnumber\b|\blink\b|\baddress\b).*)$",
    re.I | re.S,
)
_SAY_SO = re.compile(r"^(?:say|tell\s+\w+|admit)\s+(?:so|it)(?:\s+\w+)?$", re.IGNORECASE)
_STATE = re.compile(
    r"^(?:(?:mention|say|state|explain|note|point out|include|add|confirm|stress|emphasi[sz]e|announce|clarify"
    r"|make (?:it )?clear|draw attention to)\w*\s+(?:to\s+(?:the\s+)?\w+\s+)?"
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
_SOURCE = re.compile(r"^(?:(?:cite|name|quote)\w*|refer\w*\s+to)\b", re.IGNORECASE)
_LITERAL = re.compile(r"(\"[^\"]*\"|“[^”]{0,400}”|«[^»]{0,400}»)")
_TO_YOU = re.compile(r"\b(?:their|his|her|the user['’]s)\b", re.IGNORECASE)
_THEM = re.compile(r"\b(?:they|them)\b", re.IGNORECASE)


_OPENINGS = (
    (_SORRY, "I apologise", "."),
    (_THANK, "Thank you", "."),
    (_TELL_TO, "Please", "."),
    (_ASK_TO, "Could you", "?"),
    (_ASK_WHETHER, "Could you tell me", "?"),
    (_ASK, "Could you give me", "?"),
    (_TURN_TO, "Please turn to", "."),
    (_CONTACT, "Here is", "."),
)


@lru_cache(maxsize=4_096)
def speaks(phrase: str) -> bool:
    """Return whether a step consists in saying something."""
    return _SPEECH.match(phrase) is not None


def is_speech(phrase: str, toolbox: Toolbox) -> bool:
    """Return whether a step needs words rather than a tool."""
    if _SOFT_SPEECH.match(phrase):
        return not toolbox.tools_for(phrase)
    return speaks(phrase) and not toolbox.carried_out(phrase)


def wants_source(phrase: str) -> bool:
    """Return whether a step asks for the source of an answer."""
    return _SOURCE.match(phrase) is not None


@lru_cache(maxsize=4_096)
def rendered(phrase: str) -> str:
    """Return the words of a step of speech; empty if it has no literal words.

    >>> rendered("tell the guest that their lamp is ready")
    'Your lamp is ready.'
    >>> rendered("ask for the lamp's number"), rendered("offer a new lamp")
    ("Could you give me the lamp's number?", 'I can offer a new lamp.')
    >>> rendered("apologise for the dark"), rendered("thank the guest for their patience")
    ('I apologise for the dark.', 'Thank you for your patience.')
    >>> rendered("tell them to ring 555 01"), rendered("ask them to bring their lamp")
    ('Please ring 555 01.', 'Could you bring your lamp?')
    """
    if _SAY_SO.match(phrase):
        return ""
    for pattern, opening, end in _OPENINGS:
        if (match := pattern.match(phrase)) is not None:
            denied = "do not " if match.groupdict().get("not") else ""
            return _sentence(f"{opening} {denied}{match['said']}", end)
    if (match := _TELL.match(phrase) or _STATE.match(phrase)) is not None:
        return _sentence(match["said"] if _is_clause(phrase) else f"Please note {match['said']}")
    if (match := _OFFER.match(phrase)) is not None:
        return _sentence(f"I can offer {match['said']}")
    return ""


def _is_clause(phrase: str) -> bool:
    """Return whether the content is a statement ("that the lamp is on") rather than a thing."""
    return re.search(r"\bthat\b", phrase) is not None


def _sentence(words: str, end: str = ".") -> str:
    parts = _LITERAL.split(" ".join(words.split()))
    sentence = "".join(part if i % 2 else _to_you(part) for i, part in enumerate(parts)).rstrip(" .,;")
    return f"{sentence[:1].upper()}{sentence[1:]}{end}" if sentence else ""


def _to_you(words: str) -> str:
    """Return words about a person as words to that person."""
    return _THEM.sub("you", _TO_YOU.sub("your", words))
