"""The parts of instruction files that an agent's tools have read, as results in model requests show them."""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain

KnownLines = frozenset[str]
"""Lines of the files, without the white space around them."""
TELLING = 12
"""Characters that a line needs to be told from lines of other files."""
BESIDE = 3
"""Lines above and below known ones that are kept: they may be too short to be known."""
_NUMBERED = re.compile(r"^ *L?\d+(?:→|\t|\||: ?)", re.MULTILINE)
"""What tools that read files write before each line: an arrow, a tab, a bar or a colon behind its number."""


def known_lines(files: Iterable[str]) -> KnownLines:
    """Return the lines by which a part of these texts is recognised."""
    lines = (line.strip() for text in files for line in text.splitlines())
    return frozenset(line for line in lines if len(line) >= TELLING)


def read_of(result: str, known: KnownLines) -> str:
    """Return the known lines in a tool's result, from the first to the last, with their neighbours.

    Empty where it has none.

    Texts within JSON are looked at, and numbers before lines are left out.

    >>> read_of("   1:Never push to main.\\n   2:Be kind.", known_lines(["Never push to main."])).splitlines()
    ['Never push to main.', 'Be kind.']
    """
    return "\n".join(filter(None, (_between(text, known) for text in _texts(result))))


def _texts(result: str) -> Iterator[str]:
    """Yield the texts in a result; for JSON, the texts in its values."""
    try:
        value = json.loads(result)
    except (ValueError, RecursionError):
        yield result
        return
    yield from _strings(value) if isinstance(value, dict | list) else (result,)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        items = value.values() if isinstance(value, dict) else value
        yield from chain.from_iterable(map(_strings, items))


def _between(text: str, known: KnownLines) -> str:
    for lines in (text.splitlines(), _NUMBERED.sub("", text).splitlines()):
        found = [number for number, line in enumerate(lines) if line.strip() in known]
        if found:
            return "\n".join(lines[max(0, found[0] - BESIDE) : found[-1] + 1 + BESIDE])
    return ""
