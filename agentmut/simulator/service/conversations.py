"""Responses that the simulator remembers, as `previous_response_id` goes on from them."""

from collections import OrderedDict
from typing import Any, NamedTuple

from agentmut.nouns import Body

MOST_RESPONSES = 10_000
MOST_BYTES = 64 * 2**20


class UnknownResponseError(LookupError):
    """A response that was never given, was not to be stored, or has been forgotten since."""


class _Kept(NamedTuple):
    items: list[Any]
    size: int


class Conversations:
    """The stored responses of one server. The oldest ones are forgotten when there are too many."""

    def __init__(self, most: int = MOST_RESPONSES, most_bytes: int = MOST_BYTES) -> None:
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def whole(self, body: Body) -> Body:
        """The request body with all that was said before. Raises `UnknownResponseError`."""
        previous = body.get("previous_response_id")
        if previous is None:
            return body
        if not isinstance(previous, str) or previous not in self._kept:
            raise UnknownResponseError(f"Previous response with id {previous!r:.80} not found.")
        return {**body, "input": [*self._kept[previous].items, *_items(body.get("input"))]}

    def keep(self, response_id: str, whole: Body, output: list[Any], size: int) -> None:
        """Remember a response, whose request was `whole`, unless the request does not want it stored."""
        if whole.get("store") is False:
            return
        previous = self._kept.get(str(whole.get("previous_response_id")))
        kept = _Kept([*_items(whole.get("input")), *output], size + (previous.size if previous else 0))
        self._drop(response_id)
        self._kept[response_id] = kept
        self._bytes += kept.size
        while len(self._kept) > self._most or self._bytes > self._most_bytes:
            self._drop(next(iter(self._kept)))

    def _drop(self, response_id: str) -> None:
        if (dropped := self._kept.pop(response_id, None)) is not None:
            self._bytes -= dropped.size


def _items(given: Any) -> list[Any]:
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return given if isinstance(given, list) else []
