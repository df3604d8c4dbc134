"""Whether words of a request demand something of its answer, rather than report or ask about something."""

import re
from functools import lru_cache

_REPORTS = re.compile(
    r"\b(?:wrote|writes|written|said|says|told|tells|asked|asks|replied|replies|reads|states?|stated|demands?|demanded"
    r"|complain\w*|requested|requests|insist\w*|following|below|message|e-?mail|letter|note|review|prompt|rule)\b"
    r"[^.!?\n]{0,40}:"
    r"|\b(?:he|she|they|customers?|clients?|boss|manager|colleague|teacher|friend|user|somebody|someone|it)"
    r" (?:\w+ )?(?:wrote|writes|said|says|told|tells|asked|asks|replied|wants?|wanted|demands?|demanded|insists?)\b",
    re.IGNORECASE,
)
_ASKS_ABOUT = re.compile(
    r"\b(?:how|what|why|whether|if|when|where|which|who|is|are|was|were|does|did|means?|meaning|called|say|said|word"
    r"|difference|between)\b",
    re.IGNORECASE,
)
_SENTENCE_BEFORE = re.compile(r"[^.!?\n]*$")
_QUOTES = re.compile(r"\"[^\"\n]*\"|“[^”\n]{0,1000}”|```.*?```|`[^`\n]*`|(?<!\w)'[^'\n]*'(?!\w)", re.DOTALL)


def is_reported(request: str, start: int) -> bool:
    """Return whether the text at `start` is quoted, or reports another person's words.

    >>> is_reported("The customer wrote: do not mention me. What now?", 20), is_reported("Do not mention me.", 0)
    (True, False)
    """
    quoted = any(first < start < end for first, end in _quotations(request))
    if quoted:
        return True
    begins, ends = _first_report(request)
    if begins < start < ends:
        return _REPORTS.search(request, begins, start) is not None
    return ends <= start


@lru_cache(maxsize=16)
def _quotations(request: str) -> tuple[tuple[int, int], ...]:
    return tuple(match.span() for match in _QUOTES.finditer(request))


@lru_cache(maxsize=16)
def _first_report(request: str) -> tuple[int, int]:
    found = _REPORTS.search(request)
    return found.span() if found else (len(request), len(request) + 1)


def is_asked_about(request: str, start: int) -> bool:
    """Return whether the sentence asks a question before `start`: "Tell me how to show data in a table"."""
    before = _SENTENCE_BEFORE.search(request, 0, start)
    return before is not None and _ASKS_ABOUT.search(before.group()) is not None
