"""Arguments of calls and token counts, which services write in several forms, and streams that end too early."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agentmut._base import canonical_json
from agentmut.nouns import ToolCall, Usage
from agentmut.wire import bodies


class CutOffError(ValueError):
    """A stream ends before the event that its dialect ends an answer with."""


def ended_early(end: str, begun: object) -> ValueError:
    """Return the error of a stream that lacks its `end`; a stream that is not `begun` is one of another kind."""
    return (CutOffError if begun else ValueError)(f"the stream ends before its {end}: it was cut off")


class TokenKeys(NamedTuple):
    """The places of the token counts in a dialect's report; `a.b` is the key `b` of the object under `a`."""

    read: Sequence[str]
    """All of the input: the counts under these keys are added up."""
    written: Sequence[str]
    cached: Sequence[str] = ()
    """The part of the input that the service's prompt cache held."""
    cache_written: Sequence[str] = ()


MOST_TOKENS = 10**9
"""Tokens of one kind in one reply: a larger number is no count, and sums of it fit no database."""


def tokens(usage: Any, keys: TokenKeys, where: str = "usage") -> Usage:
    """Return the token counts under these keys, added up by kind; an absent report counts as zero.

    A report that cannot be read, such as a negative count, counts as zero too: the rest of the reply is as good as
    ever, and a run without tokens has no known price.
    """
    try:
        return _tokens(usage, keys, where)
    except ValueError:
        return Usage()


def _tokens(usage: Any, keys: TokenKeys, where: str) -> Usage:
    found = {} if usage is None else bodies.mapping(usage, where)

    def total(names: Sequence[str]) -> int:
        return sum([_count(found, key, where) for key in names]) if names else 0

    read, cached = total(keys.read), total(keys.cached)
    cached = min(cached, read)
    return Usage(
        input_tokens=read,
        output_tokens=total(keys.written),
        cached_tokens=cached,
        cache_written_tokens=min(total(keys.cache_written), read - cached),
    )


def _count(found: Mapping[str, Any], key: str, where: str) -> int:
    value = found.get(key)
    if type(value) is int and 0 <= value <= MOST_TOKENS:  # the usual case first, since many replies are read
        return value
    outer, _, inner = key.rpartition(".")
    if outer:
        found = bodies.mapping(found.get(outer) or {}, f"{where}.{outer}")
    value = found.get(inner)
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    counted = bodies.count(whole, f"{where}.{key}")
    if counted > MOST_TOKENS:
        raise ValueError(f"{where}.{key}: {counted} is no number of tokens")
    return counted


def arguments_text(arguments: Any) -> str:
    """Return an object of arguments as JSON text; absent arguments are empty, and cut-off text stays text."""
    if isinstance(arguments, str):
        return arguments
    return bodies.write_json({} if arguments is None else arguments).decode("ascii")


def read_arguments(call: ToolCall) -> dict[str, Any] | str:
    """Return the arguments of a call as an object; a text that is not an object, such as a cut-off one, stays text."""
    try:
        found = bodies.read_json(call.arguments or "{}")
    except ValueError:
        return call.arguments
    return found if isinstance(found, dict) else call.arguments


class MadeUpIds:
    """Ids for calls without one, made of the name, the arguments and the number of equal earlier calls.

    So a call has the same id in a reply and in the requests that repeat it.
    """

    def __init__(self) -> None:
        self._calls_seen: Counter[str] = Counter()

    def new(self, name: str, arguments: Any) -> str:
        """Return the id of the next call."""
        text = canonical_json(_as_sent(arguments or {}))
        data = f"{name}\n{text}".encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(data, digest_size=6).hexdigest()
        self._calls_seen[digest] += 1
        return f"{name}:{digest}:{self._calls_seen[digest]}"


def _as_sent(value: Any) -> Any:
    """Write numbers as every client does: some clients turn 1.0 into 1."""
    if isinstance(value, dict):
        return {key: _as_sent(found) for key, found in value.items()}
    if isinstance(value, list):
        return [_as_sent(found) for found in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
