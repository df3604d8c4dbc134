"""Parts of a text by which it is recognised in a request, where template placeholders have values."""

import re
from collections.abc import Iterator
from functools import lru_cache

Passage = tuple[str, ...]
"""Fragments that follow one another, with anything in between. None at all: nothing to be recognised."""
WINDOW = 40
"""Characters of unchanged text on each side of a change that must be found with it."""
PIECE = 120
"""Characters of a long text that are looked for."""
PLACEHOLDER = re.compile(
    r"\{\{.{0,500}?\}\}|\{[%#].{0,500}?[%#]\}|\$?\{[^{}\s]*\}|%\(\w+\)[sd]|\$[A-Za-z_]\w*"
)
"""What a template has in the place of other text: format fields, Jinja, `%(name)s`, `$name`."""
HEADING = re.compile(r"^## (?:Goal|Task: .*|Expected output: .*)$", re.MULTILINE)
"""What an adapter puts over texts that the agent sends apart (see `adapters/crewai/flow.py`); it is not sent."""


def passage_at(text: str, start: int, end: int, left: int = WINDOW, right: int = WINDOW) -> Passage:
    """Return the text from `start` to `end` with its context, without placeholders; only the head of a long text.

    `left` and `right` are how many characters before and behind belong to it at most.

    >>> passage_at("Greet {name} by   name. Be kind.", 24, 32)
    ('Greet', 'by name. Be kind.')
    """
    low, high = _around(text, start, end)
    low, high = max(low, start - left), min(high, end + right)
    last = high if end - start <= PIECE else start + PIECE
    parts = (part for literal in _literal(text, low, last) for part in HEADING.split(literal))
    found = tuple(fragment for part in parts if (fragment := flat(part)))
    return found or tuple(filter(None, map(flat, _literal(text, low, last))))


def stretch(text: str, start: int, end: int) -> str:
    """Return the characters from `start` to `end` with up to `WINDOW` on each side, as far as no placeholder is met.

    >>> stretch("Greet {name}.  Be kind.", 13, 15)
    '.  Be kind.'
    """
    low, high = _around(text, start, end)
    before = PLACEHOLDER.split(text[low:start])[-1]
    after = PLACEHOLDER.split(text[end:high])[0]
    return f"{before}{text[start:end]}{after}"


def opening(text: str) -> Passage:
    """Return the passage that identifies a whole text: the head of its longest part without placeholders."""
    parts = (part for literal in _literal(text, 0, len(text)) for part in HEADING.split(literal))
    longest = max(parts, key=len, default="")
    piece = flat(longest[:PIECE])
    return (piece,) if piece else ()


def shown(passage: Passage, text: str) -> bool:
    """Return whether `text` contains the fragments one after another. White space counts as one blank."""
    where, flattened = 0, flat(text)
    for fragment in passage:
        found = flattened.find(fragment, where)
        if found < 0:
            return False
        where = found + len(fragment)
    return True


@lru_cache(maxsize=64)  # a trial's requests are looked at for every edit
def flat(text: str) -> str:
    """Return the text with each run of white space as one blank, since frameworks re-indent and strip texts."""
    return " ".join(text.split())


def _around(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where the surroundings of a stretch begin and end: what is under another heading is sent elsewhere.

    >>> _around("Be kind.\\n\\n## Goal\\nHelp.", 0, 8), _around("Be kind.\\n\\n## Goal\\nHelp.", 18, 23)
    ((0, 10), (17, 23))
    """
    headings = [found.span() for found in HEADING.finditer(text)]
    low = max((last for _, last in headings if last <= start), default=0)
    high = min((first for first, _ in headings if first >= end), default=len(text))
    return max(low, start - WINDOW), min(high, end + WINDOW)


def _literal(text: str, start: int, end: int) -> Iterator[str]:
    """Yield the parts of `text[start:end]` that no placeholder touches."""
    for placeholder in PLACEHOLDER.finditer(text):
        if placeholder.start() >= end:
            break
        if placeholder.end() > start:
            yield text[start : placeholder.start()]
            start = placeholder.end()
    yield text[start:end]
