"""Changed texts put into the bytes of a request, so that everything else keeps its bytes and is not written anew."""

import json.encoder
from collections.abc import Callable, Iterator
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


def _texts(before: Any, after: Any) -> Iterator[tuple[str, str]]:
    """Yield the texts that differ, old and new. Bodies share what is the same in both, so most is passed by at once."""
    if before is after:
        return
    if isinstance(before, dict) and isinstance(after, dict) and list(before) == list(after):
        for key, old in before.items():
            yield from _texts(old, after[key])
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for old, new in zip(before, after, strict=True):
            yield from _texts(old, new)
    elif isinstance(before, str) and isinstance(after, str):
        yield before, after
    else:
        raise _ShapeError


def _only(written: bytes, text: str) -> bytes | None:
    """Return the text as it is spelled in the bytes, where it stands in them once."""
    for writer in _WRITERS:
        token = writer(text).encode("utf-8", "surrogatepass")
        if found := written.count(token):
            return token if found == 1 else None
    return None
