"""Replies, plain or streamed, without the calls of some tools; every other part stays as the service sent it."""

from collections.abc import Set
from typing import Any

from agentmut.nouns import Codec
from agentmut.wire.rewriting.replies import calls_made, changed_reply, values_of

_DROPPED = "agentmut-call-of-no-tool"
_BLOCKS = ("contentBlockIndex", "output_index", "index")
"""Keys of events by which the blocks of a reply are counted."""
_ENDS = {"finish_reason": "stop", "stop_reason": "end_turn", "stopReason": "end_turn"}
_CALLED = ("tool_calls", "function_call", "tool_use")
"""Why replies end that call tools, and what those say that call none."""
_ALONE = -1
"""The place of the older form of a call, of which there is one only."""


def called_names(codec: Codec, body: bytes) -> frozenset[str]:
    """Return the tools that a reply calls, in any of its alternatives."""
    return frozenset(call.name for value in values_of(codec, body) for call in calls_made(value))


def without_calls(codec: Codec, body: bytes, names: Set[str]) -> bytes:
    """Return the reply without calls of these tools; without any call left, the model has simply ended its turn."""
    return changed_reply(codec, body, _Pruning(codec, names).value)


class _Pruning:
    """The parts of one reply that have been dropped so far."""

    def __init__(self, codec: Codec, names: Set[str]) -> None:
        self._codec = codec
        self._names = names
        self._dropped: set[tuple[int, int]] = set()
        """Alternative and place in it; dialects with blocks have one alternative."""
        self._calling: set[int] = set()
        """Alternatives with calls that stay."""

    def value(self, value: Any) -> Any:
        """Return a plain reply or an event without the dropped parts; None for an event that becomes empty."""
        try:
            marked = self._codec.reply_with_tool_names(value, self._marked)
        except ValueError:
            return value
        if isinstance(marked, list):
            return [self.value(item) for item in marked]
        if not isinstance(marked, dict):
            return marked
        if isinstance(marked.get("choices"), list):
            return {**marked, "choices": [self._choice(choice) for choice in marked["choices"]]}
        return self._block(marked)

    def _marked(self, name: str) -> str:
        return _DROPPED if name in self._names else name

    def _block(self, event: dict[str, Any]) -> Any:
        key = next((key for key in _BLOCKS if isinstance(event.get(key), int)), None)
        if key is not None:
            if _is_dropped(event):
                self._dropped.add((0, event[key]))
            if (0, event[key]) in self._dropped:
                return None
            event = {**event, key: self._place(0, event[key])}
        left = _pruned(event)
        if left != event:
            self._dropped.add((0, _ALONE))
        if any(calls_made(left)):
            self._calling.add(0)
        delta = left.get("delta")
        ended = self._ended(left, 0)
        return {**ended, "delta": self._ended(delta, 0)} if isinstance(delta, dict) else ended

    def _place(self, alternative: int, place: int) -> int:
        return place - sum(1 for found, at in self._dropped if found == alternative and 0 <= at < place)

    def _ended(self, value: dict[str, Any], alternative: int) -> dict[str, Any]:
        """Return the value with another finish reason, if it has one and no call is left."""
        if alternative in self._calling or all(found != alternative for found, _ in self._dropped):
            return value
        ends = {key: end for key, end in _ENDS.items() if value.get(key) in _CALLED}
        return {**value, **ends}

    def _choice(self, choice: Any) -> Any:
        if not isinstance(choice, dict):
            return choice
        number = choice.get("index") or 0
        for key in ("message", "delta"):
            if isinstance(choice.get(key), dict):
                choice = {**choice, key: self._message(choice[key], number)}
        return self._ended(choice, number)

    def _message(self, message: dict[str, Any], number: int) -> dict[str, Any]:
        calls = message.get("tool_calls")
        if isinstance(calls, list):
            found = (self._call(call, number, place) for place, call in enumerate(calls))
            left = [call for call in found if call is not None]
            others = {key: value for key, value in message.items() if key != "tool_calls"}
            message = {**message, "tool_calls": left} if left or not calls else others
        if self._call(message.get("function_call"), number, _ALONE) is None and "function_call" in message:
            message = {key: value for key, value in message.items() if key != "function_call"}
        return message

    def _call(self, call: Any, number: int, place: int) -> Any:
        """Return a call, or a piece of a call, at its new index; None if it is dropped."""
        if not isinstance(call, dict):
            return call
        place = call["index"] if isinstance(call.get("index"), int) else place
        if _is_dropped(call):
            self._dropped.add((number, place))
        if (number, place) in self._dropped:
            return None
        self._calling.add(number)
        return {**call, "index": self._place(number, place)} if "index" in call else call


def _pruned(value: Any) -> Any:
    """Return the value without the list items that are a dropped call."""
    if isinstance(value, dict):
        return {key: _pruned(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_pruned(item) for item in value if not _is_dropped(item)]
    return value


def _is_dropped(value: Any) -> bool:
    """Return whether an item is itself a dropped call, rather than a list of calls."""
    if isinstance(value, dict):
        return any(_is_dropped(item) for item in value.values() if not isinstance(item, list))
    return bool(value == _DROPPED)
