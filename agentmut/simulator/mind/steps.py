"""One sentence of a rule as the steps joined in it, and a step in its barest wording."""

import re
from collections.abc import Iterator

from agentmut.language import Modality, modality
from agentmut.simulator.mind.language import topics
from agentmut.simulator.mind.saying import speaks
from agentmut.simulator.mind.verbs import orders, surely_orders

_LEAD_WORDS = re.compile(
    r"^(?:(?:please|you|we|must|should|may|can|shall|always|never|do not|don['’]t|not|also|then|and|to|avoid|"
    r"refrain from|under no circumstances|immediately|politely|kindly|simply|just|make sure|ensure|be sure|"
    r"be careful|take care|try|usually|ideally|that|have|need|are|allowed|required)\b[\s,]*)+",
    re.IGNORECASE,
)
_NOT_TO = re.compile(
    r"^(?:(?:please|you|must|should|always|also)\s+)*(?:try|make sure|ensure|be (?:sure|careful)|take care)"
    r"(?: you)?\s+not to\b",
    re.I,
)
LITERAL = re.compile(r"\"[^\"]*\"|“[^”]{0,400}”|«[^»]{0,400}»")
_POINTER = re.compile(r"(?:^|\b(?:for|about|of)\s+)(?:that|this|it|these|those|them)$", re.I)
_SEAM = re.compile(r"(?:(?P<comma>,)|(?<!\s))\s++(?:and|but)\s+(?:then\s+)?|(?P<bare>,)\s+(?:then\s+)?", re.I)
_OBJECT = re.compile(r"^\w+\s+(?:an?|the|them|their|it|its|to|that|this|him|her|his|any|no|nothing)\b", re.I)
_TO_DO = re.compile(r"\b(?:to|that)\b", re.I)


def without_quotations(words: str) -> str:
    """Return a text of the same length with its quotations blanked out."""
    return LITERAL.sub(lambda match: "x" * len(match.group()), words)


def compounds(words: str) -> Iterator[str]:
    """Yield the orders joined by "and" in one sentence: "say sorry, leave a note and thank them"."""
    masked = without_quotations(words)
    start = 0
    for seam in _SEAM.finditer(masked):
        if _is_seam(masked[start : seam.start()], seam, masked[seam.end() :]):
            yield words[start : seam.start()]
            start = seam.end()
    yield words[start:]


def forbids(words: str) -> bool:
    """Return whether a step is forbidden, even softly: "try not to"."""
    return modality(words) is Modality.FORBID or _NOT_TO.match(words) is not None


def is_unresolved(step: str) -> bool:
    """Return whether a step only refers to something elsewhere: "ask for that", "this".

    >>> is_unresolved("ask them for that"), is_unresolved("say that it is on"), is_unresolved("block it")
    (True, False, False)
    """
    pointing = _POINTER.search(step)
    if pointing is None or topics(step.partition(" ")[2]):
        return False
    return pointing.start() == 0 or speaks(step)


def _is_seam(before: str, seam: re.Match[str], after: str) -> bool:
    if not (surely_orders(after) or (orders(after) and _OBJECT.match(after))):
        return False
    closed = bool(seam["comma"]) or forbids(after)
    held = forbids(before) or (speaks(bare(before)) and _TO_DO.search(before) is not None)
    return closed or not held  # what is forbidden, or said, goes on to the next comma


def bare(words: str) -> str:
    """Return a step without "you must", "never", "make sure to"."""
    return _LEAD_WORDS.sub("", words.strip()).strip(" ,.")
