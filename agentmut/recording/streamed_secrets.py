"""Secrets in streamed replies, whose text comes in pieces of a few characters, each in an event of its own."""

import base64
import binascii
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from agentmut.recording.spans import Finder, merged

_TEXTS = frozenset((
    "content", "text", "partial_json", "arguments", "delta", "thinking", "reasoning", "reasoning_content", "refusal",
    "input", "response", "output_text", "transcript", "completion", "generation",
))  # fmt: skip
"""Names of JSON values that are pieces of a reply, in the streams of model services."""
_INDICES = ("type", "index", "output_index", "content_index", "contentBlockIndex", "item_id")
_DATA = re.compile(r"^(data:[ ]?)?(\{.*\})[ \t]*\r?$", re.MULTILINE)
_TEXT_OF_FRAME = re.compile(rf'"(?:{"|".join(sorted(_TEXTS))})":"((?:[^"\\]|\\.)*)"')
_BYTES_OF_FRAME = re.compile(r'"bytes":"([A-Za-z0-9+/]+={0,2})"')


class _Piece(NamedTuple):
    event: int
    holder: Any
    """The dict or list that has the piece."""
    name: Any

    @property
    def text(self) -> str:
        return str(self.holder[self.name])


def masked_stream(text: str, finder: Finder, mask: str) -> str:
    """Return the events of a stream without the secrets that are divided over several of them."""
    lines = list(_DATA.finditer(text))
    if len(lines) < 2:
        return text
    events = [_parsed(line[2]) for line in lines]
    changed = {number for pieces in _joined(events).values() for number in _mask(pieces, finder, mask)}
    parts, end = [], 0
    for number in sorted(changed):
        line = lines[number]
        parts += [
            text[end : line.start(2)],
            json.dumps(events[number], ensure_ascii=False, separators=(",", ":")),
        ]
        end = line.end(2)
    return "".join((*parts, text[end:]))


def has_secret_frames(body: bytes, finder: Finder) -> bool:
    """Return whether a binary stream, such as that of Bedrock, holds a secret in a frame or over several."""
    read = body.decode("latin-1")
    inner = "\n".join(_inner(found[1]) for found in _BYTES_OF_FRAME.finditer(read))
    joined = "".join(_unescaped(found[1]) for found in _TEXT_OF_FRAME.finditer(f"{read}\n{inner}"))
    return any(finder(part) for part in (read, inner, joined))


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _joined(events: list[Any]) -> dict[tuple[Any, ...], list[_Piece]]:
    """Return the pieces of each text of a reply, in order."""
    found = defaultdict(list)
    for number, event in enumerate(events):
        for path, piece in _pieces(event, number, ()):
            found[path].append(piece)
    return found


def _pieces(value: Any, event: int, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], _Piece]]:
    if isinstance(value, dict):
        path = (*path, *(str(value[name]) for name in _INDICES if name in value))
        items: Any = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    else:
        return
    for name, item in items:
        if isinstance(item, str) and name in _TEXTS:
            yield (*path, name), _Piece(event, value, name)
        else:
            yield from _pieces(item, event, (*path, name))


def _mask(pieces: list[_Piece], finder: Finder, mask: str) -> Iterator[int]:
    """Mask the secrets that the pieces hold together. Yield the numbers of the changed events."""
    if len(pieces) < 2:
        return
    texts = [piece.text for piece in pieces]
    spans, begin = merged(finder("".join(texts))), 0
    for piece, text in zip(pieces, texts, strict=True):
        end = begin + len(text)
        inside = [(a, b) for a, b in spans if a < end and b > begin]
        if inside:
            piece.holder[piece.name] = _cut(text, begin, inside, mask)
            yield piece.event
        begin = end


def _cut(text: str, begin: int, spans: list[tuple[int, int]], mask: str) -> str:
    """Return a piece without the secrets; the mask stands where a secret begins."""
    parts, place = [], 0
    for first, last in spans:
        parts += [text[place : max(0, first - begin)], mask if first >= begin else ""]
        place = min(len(text), last - begin)
    return "".join((*parts, text[place:]))


def _inner(encoded: str) -> str:
    try:
        return base64.b64decode(encoded).decode("latin-1")
    except (binascii.Error, ValueError):
        return ""


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text
