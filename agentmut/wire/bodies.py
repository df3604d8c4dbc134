"""Reading untrusted bodies: every unexpected value is a `ValueError` that names its place."""

import json
import marshal
import re
from collections.abc import Mapping
from contextlib import suppress
from math import isfinite
from typing import Any, NoReturn, TypeVar

from pydantic import JsonValue
from pydantic_core import from_json

from agentmut.nouns import Body, HttpCall, Path

T = TypeVar("T")
_PLAIN = 2
"""The version of marshal that writes floats as their eight bytes."""
_INFINITE = re.compile(b"\xf0[\x7f\xff]")
"""The last two bytes of an infinite float as marshal writes it; no text in UTF-8 has them."""
DEEPEST = 128
"""Lists and objects in each other; what works on a body may then call itself for each."""


def read_json(body: bytes | str) -> Any:
    """Return one JSON value. Raises `ValueError` for anything else, absurd nesting and numbers included."""
    try:
        value = _quickly(body) if isinstance(body, bytes) else _DECODER.decode(body)
    except RecursionError:
        raise ValueError("the body is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"the body is not JSON: {error}") from None
    if _may_be_deeper(body) and _is_deeper(value):
        raise ValueError(
            f"the body is nested too deeply: more than {DEEPEST} lists and objects in each other"
        )
    return value


def read_object(body: bytes) -> Body:
    """Return one JSON object. Raises `ValueError` for anything else."""
    return dict(mapping(read_json(body), "the body"))


def read_as(body: bytes, expected: Body) -> Body | None:
    """Return the JSON object of a body if it equals the expected one; None if the bytes say anything else.

    What equals an object that `read_object` accepts is itself no deeper, and has no number beyond a float's range.
    """
    found: Body | None = None
    try:
        found = from_json(body, allow_inf_nan=False)
    except ValueError:  # such as a lone surrogate, which only Python's own parser reads
        with suppress(ValueError):
            found = read_object(body)
    return found if found == expected else None


class ReadCall(HttpCall):
    """A request whose body has been read already: `read` is what its bytes say."""

    read: Body

    @classmethod
    def from_call(cls, call: HttpCall, read: Body) -> "ReadCall":
        """Return the request with its body as it was read."""
        found = cls(*call)
        found.read = read
        return found


def read_call(call: HttpCall) -> Body:
    """Return the JSON object of a request, which is read from its bytes once. Raises `ValueError`."""
    return call.read if isinstance(call, ReadCall) else read_object(call.body)


def write_json(value: JsonValue) -> bytes:
    """Return compact JSON in ASCII, so that lone surrogates of untrusted text survive."""
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")
    except RecursionError:
        raise ValueError("the body is nested too deeply") from None


def mapping(value: Any, where: str | Path) -> Mapping[str, Any]:
    """Return `value` if it is an object; raise `ValueError` otherwise."""
    return value if isinstance(value, dict) else _wrong(value, where, "an object")


def listing(value: Any, where: str | Path) -> list[Any]:
    """Return `value` if it is a list; null counts as an empty list."""
    if value is None:
        return []
    return value if isinstance(value, list) else _wrong(value, where, "a list")


def text(value: Any, where: str | Path) -> str:
    """Return `value` if it is a string; null counts as an empty string."""
    if value is None:
        return ""
    return value if isinstance(value, str) else _wrong(value, where, "a string")


def name(value: Any, where: str | Path) -> str:
    """Return `value` if it is a string that is not empty."""
    return value if isinstance(value, str) and value else _wrong(value, where, "a non-empty string")


def one_of(value: Any, known: Mapping[str, T], where: str | Path) -> T:
    """Return the meaning of `value`, which has to be one of the known words."""
    found = known.get(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"{shown(where)}: expected one of {', '.join(known)}, found {value!r:.80}")
    return found


def count(value: Any, where: str | Path) -> int:
    """Return `value` if it is a whole number from 0; null counts as 0."""
    if value is None:
        return 0
    good = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return int(value) if good else _wrong(value, where, "a whole number from 0")


def shown(where: str | Path) -> str:
    """Return a place in the form that errors show.

    >>> shown(("messages", 0, "content"))
    'messages[0].content'
    """
    if isinstance(where, str):
        return where
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in where).removeprefix(".")


def _wrong(value: Any, where: str | Path, expected: str) -> NoReturn:
    raise ValueError(f"{shown(where)}: expected {expected}, found {value!r:.80}")


def _may_be_deeper(body: bytes | str) -> bool:
    """Return whether a body has more openings than lists and objects may be in each other.

    It is split, and not counted: to look for the next of few takes a tenth of the time of looking at each byte.
    """
    if isinstance(body, str):
        parts = len(body.split("[", DEEPEST + 1)) + len(body.split("{", DEEPEST + 1))
    else:
        parts = len(body.split(b"[", DEEPEST + 1)) + len(body.split(b"{", DEEPEST + 1))
    return parts - 2 > DEEPEST


def _is_deeper(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        inner = (item.values() if isinstance(item, dict) else item for item in level)
        level = [item for items in inner for item in items if isinstance(item, dict | list)]
        if not level:
            return False
    return True


def _finite(number: str) -> float:
    """Return a number as a float; raise `ValueError` for one beyond a float's range, which JSON cannot hold."""
    found = float(number)
    return found if isfinite(found) else _no_constant(number)


def _quickly(body: bytes) -> Any:
    """Return one JSON value, by a parser in machine code where that says the same as Python's own.

    That parser refuses lone surrogates and encodings other than UTF-8, and takes numbers beyond a float's range for
    infinite. Python's own parser has the last word on such bodies, and on all that is no JSON.
    """
    try:
        value = from_json(body, allow_inf_nan=False)
    except ValueError:
        return _DECODER.decode(_text_of(body))
    written = marshal.dumps(value, _PLAIN)
    may_be_infinite = b"\xf0" in written and _INFINITE.search(written)
    return _DECODER.decode(_text_of(body)) if may_be_infinite else value


def _text_of(body: bytes) -> str:
    """Return a body as text, in the encoding that `json.loads` detects."""
    return body.decode(json.detect_encoding(body), "surrogatepass")


def _no_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON value")


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)
