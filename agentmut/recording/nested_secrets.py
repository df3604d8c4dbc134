"""Secrets in texts within texts: each string is read as a text of its own, with one level of its escapes undone."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from agentmut.recording.loose_values import LOOSE
from agentmut.recording.named_values import MARKS, NAMED
from agentmut.recording.spans import Finder, Span, View

DEPTH = 6
"""How often a string may stand in a string: JSON in JSON in a log of JSON."""
_STRING = re.compile(r'(?:[^"\\]++|\\.)++', re.DOTALL)
"""What stands between two quotation marks, whether inside a string or outside: so a lost mark shifts nothing."""
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))", re.DOTALL)
_SPELLED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
IN_STRINGS = (
    *NAMED,
    *(form for form in LOOSE if form.marks == MARKS),
    *(form._replace(marks=("pw", "PW", "psk", "PSK")) for form in LOOSE if "psk" in form.marks),
)
"""What quotation marks and ends of lines tell. Other forms are found whatever stands around them."""
_MARKS = tuple(dict.fromkeys(mark for form in IN_STRINGS for mark in form.marks))
_NESTED = ('\\"', "\\\\", "\\'")
"""Without one of these, a string holds no other string."""


def nested_spans(text: str, finder: Finder, depth: int = DEPTH) -> Iterator[Span]:
    """Yield the places of what is a secret in a string once the string's escapes are undone."""
    if depth == 0 or not (_has(_NESTED, text, 0, len(text)) and _has(_MARKS, text, 0, len(text))):
        return
    for string in _STRING.finditer(text):
        begin, end = string.span()
        if not (_has(_NESTED, text, begin, end) and _has(_MARKS, text, begin, end)):
            continue
        plain = _quickly_read(string[0]) or _view(string[0]).text
        inside = [*finder(plain), *nested_spans(plain, finder, depth - 1)]
        yield from ((begin + a, begin + b) for a, b in _in_source(inside, string[0]))


def _has(signs: Iterable[str], text: str, begin: int, end: int) -> bool:
    return any(text.find(sign, begin, end) >= 0 for sign in signs)


def _quickly_read(string: str) -> str | None:
    """Return what a string of JSON spells; None where it is no JSON, or may spell one character by two escapes."""
    if "\\ud" in string or "\\uD" in string:
        return None
    try:
        return str(json.loads(f'"{string}"', strict=False))
    except ValueError:
        return None


def _in_source(spans: Sequence[Span], string: str) -> Iterator[Span]:
    """Return the places in a string of places in what it spells. Most strings have none, and need no view."""
    return map(_view(string).in_source, spans) if spans else iter(())


def _view(string: str) -> View:
    return View(string, map(_plain, _ESCAPE.finditer(string)))


def _plain(escape: re.Match[str]) -> tuple[int, int, str]:
    """Return what an escape spells. An escape that JSON does not know stays as a backslash and its character."""
    code, letter = escape.groups()
    if code:
        return *escape.span(), chr(int(code, 16))
    return *escape.span(), _SPELLED.get(letter, letter if letter in "\"'\\/" else f"\\{letter}")
