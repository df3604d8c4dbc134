"""Changed texts put into the bytes of a request, so that everything else keeps its bytes and is not written anew."""

import json.encoder
from collections.abc import Callable, Iterable
from typing import Any

from agentmut.nouns import Body

_WRITERS: tuple[Callable[[str], str], ...] = (
    json.encoder.encode_basestring_ascii,  # Python's SDKs, where they escape
    json.encoder.encode_basestring,  # JavaScript's, and most others
)


class _ShapeError(Exception):
    """Two bodies differ in more than their texts."""


def spliced(written: bytes, before: Body, after: Body) -> bytes | None:
    """Return the bytes of `before` with the texts in which `after` differs; None where that cannot be done.

    Each old text has to stand in the bytes exactly once, as a JSON string in one of the usual spellings. Whoever
    calls this reads the new bytes and compares them with `after`: a body may spell the same text in two ways.

    >>> spliced(b'{"a": "one", "b": 1.0}', {"a": "one", "b": 1.0}, {"a": "two", "b": 1.0})
    b'{"a": "two", "b": 1.0}'
    """
    try:
        for old, new in dict(_texts(before, after)).items():
            token = _only(written, old)
            if token is None:
                return None
            written = written.replace(token, _WRITERS[0](new).encode("ascii"))
    except _ShapeError:
        return None
    return written


def _texts(before: Any, after: Any) -> list[tuple[str, str]]:
    """Return the texts that differ, old and new. Bodies share what is the same in both, and that is passed by."""
    if isinstance(before, str) and isinstance(after, str):
        return [(before, after)]
    found: list[tuple[str, str]] = []
    for old, new in _inner(before, after):
        if old is not new:
            found += _texts(old, new)
    return found


def _inner(before: Any, after: Any) -> Iterable[tuple[Any, Any]]:
    """Return the parts of two bodies of the same shape, in pairs. Raises `_ShapeError` for other bodies."""
    if isinstance(before, dict) and isinstance(after, dict) and list(before) == list(after):
        return zip(before.values(), after.values(), strict=True)
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return zip(before, after, strict=True)
    raise _ShapeError


def _only(written: bytes, text: str) -> bytes | None:
    """Return the text as it is spelled in the bytes, where it stands in them once."""
    for writer in _WRITERS:
        token = writer(text).encode("utf-8", "surrogatepass")
        if found := written.count(token):
            return token if found == 1 else None
    return None
