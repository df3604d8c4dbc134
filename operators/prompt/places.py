"""Where a paragraph can be added to a prompt."""

import re

from agentmut.text import PromptDocument
from agentmut.text.spans import splits
from agentmut.text.templates import Nesting

_BLANK_LINE = re.compile(r"\r?\n[ \t]*\r?\n")


def end_of(document: PromptDocument) -> int:
    """Behind the last character, or the end of the text where that is inside protected text."""
    last = len(document.text.rstrip())
    return len(document.text) if splits(document.protected, last) else last


def middle_of(document: PromptDocument) -> int | None:
    """The blank line nearest to the middle that is in nothing protected and in no block of a template."""
    text = document.text
    half, nesting = len(text) // 2, Nesting(text)
    inner = (match.start() for match in _BLANK_LINE.finditer(text, 0, len(text.rstrip())))
    places = (at for at in inner if at and not splits(document.protected, at + 1) and not nesting.depth(at))
    return min(places, key=lambda place: abs(place - half), default=None)
