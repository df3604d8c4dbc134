"""Where a paragraph can be added to a prompt."""

import re

from agentmut.language import Nesting, PromptDocument, splits

_ROOT = re.compile(r"\s*<(?P<name>[A-Za-z][\w-]*)(?:\s[^<>]*)?>")
_BLANK_LINE = re.compile(r"\r?\n[ \t]*\r?\n")


def end_of(document: PromptDocument) -> int:
    """Return the place behind the last character; the end of the text where that is inside protected text.

    A tag around the whole prompt stays around it.
    """
    last = _last(document.text)
    return len(document.text) if splits(document.protected, last) else last


def _last(text: str) -> int:
    whole = text.rstrip()
    root = _ROOT.match(whole)
    closing = f"</{root['name']}>" if root else ""
    if not root or not whole.endswith(closing) or whole.count(closing) > 1:
        return len(whole)
    inner = len(whole[: -len(closing)].rstrip())
    return inner if inner > root.end() else len(whole)


def middle_of(document: PromptDocument) -> int | None:
    """Return the blank line nearest to the middle that is in nothing protected and in no block of a template."""
    text = document.text
    half, nesting = len(text) // 2, Nesting(text)
    inner = (match.start() for match in _BLANK_LINE.finditer(text, 0, len(text.rstrip())))
    places = (at for at in inner if at and not splits(document.protected, at + 1) and not nesting.depth(at))
    return min(places, key=lambda place: abs(place - half), default=None)
