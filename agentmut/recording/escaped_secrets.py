"""Secrets that are spelled by escapes: of addresses, JSON, HTML and Python, with colours or invisible characters."""

import html
import re
from urllib.parse import unquote

from agentmut.recording.spans import Finder, Span, View, merged

PASSES = 3
"""How often an escape may stand in an escape, such as JSON in an address in an address."""
REACH = 512
"""Characters around an escape in which it may be a part of a secret, of its name, or of what stands between them."""
_INVISIBLE = "\\x00\u200b-\u200d\u2060\ufeff\u00ad"
_WIDE = "\uff01-\uff5e\u00a0\u2007\u202f"
_ESCAPED = re.compile(  # the first character is the whole of what most places are tried for
    rf"[%\\&\x1b{_INVISIBLE}{_WIDE}](?:"
    r"(?P<address>(?<=%)[0-9A-Fa-f]{2}(?:%[0-9A-Fa-f]{2})*)"
    r"|(?<=\\)(?<!\\\\)\\*+(?:(?P<unicode>u[0-9A-Fa-f]{4})|(?P<byte>x[0-9A-Fa-f]{2})|(?P<slash>/))"
    r"|(?P<entity>(?<=&)(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|quot|amp|apos|lt|gt|nbsp|colon|equals|sol|commat);)"
    r"|(?P<colour>(?<=\x1b)\[[0-9;]{0,12}[mK])"
    rf"|(?P<invisible>(?<=[{_INVISIBLE}]))|(?P<wide>(?<=[{_WIDE}])))"
)
_EDGE = re.compile(r"[\s\"',;<>{}]")


def escaped_spans(text: str, finder: Finder) -> list[Span]:
    """Return the places in a text whose plain reading is a secret."""
    found: list[Span] = []
    for begin, end in _windows(text):
        part = text[begin:end]
        found += ((begin + a, begin + b) for a, b in _in_window(part, finder))
    return found


def _windows(text: str) -> list[Span]:
    """Return the parts of a text that are near an escape."""
    reach = ((found.start() - REACH, found.end() + REACH) for found in _ESCAPED.finditer(text))
    return [(_edge_before(text, max(0, begin)), _edge_behind(text, end)) for begin, end in merged(reach)]


def _edge_before(text: str, begin: int) -> int:
    found = _EDGE.search(text, begin, begin + REACH // 2) if begin else None
    return found.end() if found else begin


def _edge_behind(text: str, end: int) -> int:
    found = _EDGE.search(text, end, end + 4 * REACH)
    return found.start() if found else min(len(text), end + 4 * REACH)


def _in_window(text: str, finder: Finder) -> list[Span]:
    views: list[View] = []
    plain = text
    for _ in range(PASSES):
        view = _plainer(plain)
        if view is None:
            break
        views.append(view)
        plain = view.text
    if not views:
        return []
    return [_in_text(span, views) for span in finder(plain) if span[0] < span[1]]


def _in_text(span: Span, views: list[View]) -> Span:
    for view in reversed(views):
        span = view.in_source(span)
    return span


def _plainer(text: str) -> View | None:
    """Return a view of the text without its outermost escapes; None if it has none."""
    replacements = []
    for found in _ESCAPED.finditer(text):
        if found.lastgroup == "address":
            replacements += _of_address(found)
        else:
            replacements.append((found.start(), found.end(), _spelled(found)))
    return View(text, replacements) if replacements else None


def _of_address(found: re.Match[str]) -> list[tuple[int, int, str]]:
    """Return one replacement for each ASCII byte of an escape of an address. Other bytes stay one character."""
    made = []
    for at in range(found.start(), found.end(), 3):
        spelled = unquote(found.string[at : at + 3])
        made.append((at, at + 3, spelled if spelled.isascii() else "\ufffd"))
    return made


def _spelled(found: re.Match[str]) -> str:
    kind, text = found.lastgroup or "", found[0]
    if kind in {"unicode", "byte"}:
        return chr(int(found[kind][1:], 16))
    if kind == "slash":
        return "/"
    if kind == "entity":
        return html.unescape(text)
    if kind == "wide":
        return chr(ord(text) - 0xFEE0) if ord(text) >= 0xFF01 else " "
    return ""
