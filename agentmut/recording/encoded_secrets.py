"""Secrets in base64 and in hexadecimal digits, such as base64 of JSON that holds a password."""

import base64
import binascii
import re
from collections.abc import Iterator

from agentmut.recording.spans import Finder, Span

LEAST = 16
"""Characters of a run that is decoded: fewer hold no name with a value."""
_LINE = r"(?:\\+r)?\\+n|\r?\n"
_BASE64 = re.compile(
    rf"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{{{LEAST},}}(?:(?:{_LINE})[A-Za-z0-9+/_-]{{4,}})*={{0,2}}"
)
_HEX = re.compile(
    r"[0-9A-Fa-f](?<![0-9A-Fa-f]{2})[0-9A-Fa-f][: ]?(?:[0-9A-Fa-f]{2}[: ]?){11,}(?![0-9A-Fa-f])"
)
"""It begins with a digit, and looks back behind it, since so a search goes from digit to digit."""
_BREAKS = re.compile(_LINE)
_ESCAPE = re.compile(r"[nrtbf](?=.)|u[0-9a-fA-F]{4}")
_MOST_CONTROLS = 0.05
"""Share of control characters in a text; what is decoded from anything else has more."""


def encoded_spans(text: str, finder: Finder) -> list[Span]:
    """Return the places of encoded runs that hold a secret when they are decoded. A run is a secret as a whole."""
    return [span for span in (*_base64_runs(text), *_hex_runs(text)) if _holds_secret(text, span, finder)]


def _base64_runs(text: str) -> Iterator[Span]:
    for found in _BASE64.finditer(text):
        if found[0].isdigit():  # each is 52 or more, so every third byte would be 211 or more: no ASCII
            continue
        begin = found.start()
        escape = _ESCAPE.match(text, begin) if text[begin - 1 : begin] == "\\" else None
        begin = escape.end() if escape else begin
        yield begin, found.end()
        if line := _BREAKS.search(text, begin, found.end()):  # what follows may be a word of a text
            yield begin, line.start()


def _hex_runs(text: str) -> Iterator[Span]:
    yield from (found.span() for found in _HEX.finditer(text))


def _holds_secret(text: str, span: Span, finder: Finder) -> bool:
    return any(finder(plain) for plain in _readings(text[span[0] : span[1]]))


def _readings(run: str) -> Iterator[str]:
    """Yield the texts that a run may be the encoding of. Most runs are words, names or digests, and have none."""
    whole = _BREAKS.sub("", run)
    for decoded in (_of_base64(whole), _of_hex(run)):
        if decoded is not None and (plain := _text_of(decoded)) is not None:
            yield plain


def _of_base64(run: str) -> bytes | None:
    run = run.rstrip("=")
    padded = run[: len(run) - (len(run) % 4 == 1)].replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(padded + "=" * (-len(padded) % 4))
    except binascii.Error:
        return None


def _of_hex(run: str) -> bytes | None:
    try:
        return bytes.fromhex(run.replace(":", "").replace(" ", ""))
    except ValueError:
        return None


def _text_of(decoded: bytes) -> str | None:
    try:
        plain = decoded.decode()
    except UnicodeDecodeError:
        return None
    controls = sum(not (c.isprintable() or c in "\n\r\t") for c in plain[:2000])
    return plain if controls <= 3 + _MOST_CONTROLS * len(plain[:2000]) else None
