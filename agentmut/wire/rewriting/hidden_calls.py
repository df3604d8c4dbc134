"""Decoy calls that the model made together with other calls: the conversation with these calls and their results."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agentmut.nouns import Codec, Role
from agentmut.wire.rewriting.replies import calls_made, values_of

_LISTS = ("tool_calls", "content", "parts")
"""Keys under which an item of a conversation lists calls or results."""


class HiddenCalls(NamedTuple):
    """Decoy calls and their results, in the conversation's form."""

    key: str
    """Where an assistant's item lists its calls; empty where each call is an item."""
    calls: list[Any]
    answers: list[Any]


@dataclass
class RestoredConversation:
    """A conversation after hidden exchanges were put back."""

    items: list[Any] = field(default_factory=list)
    _open: HiddenCalls | None = None
    """Calls that have to be put in, and results that have to come after them."""

    def follow(self, hidden: Sequence[Any], beside: HiddenCalls | None) -> None:
        """Continue with a hidden exchange; `beside` belongs to the assistant's next part."""
        self.items += hidden
        self._open = beside

    def add(self, item: Any, role: Role) -> None:
        """Go on with an item of the agent."""
        if self._open and role is Role.ASSISTANT:
            item = self._with_calls(item, self._open)
        elif self._open:
            item = self._answered(item, role, self._open)
            self._open = None
        self.items.append(item)

    def _with_calls(self, item: Any, beside: HiddenCalls) -> Any:
        if not beside.calls or not isinstance(item.get(beside.key), list):
            return item
        self._open = beside._replace(calls=[])
        return {**item, beside.key: [*item[beside.key], *beside.calls]}

    def _answered(self, item: Any, role: Role, beside: HiddenCalls) -> Any:
        """Return the item with the hidden results in front, if it lists results; else add them as items before it."""
        key = beside.key
        if role is Role.TOOL and key in ("content", "parts") and isinstance(item.get(key), list):
            return {**item, key: [*(one for answer in beside.answers for one in answer[key]), *item[key]]}
        self.items += [*beside.calls, *beside.answers]
        return item


def beside(items: Sequence[Any], names: Set[str]) -> HiddenCalls | None:
    """Return the calls of these tools, and the results, among the items that a conversation goes on with."""
    answers = [item for item in items if _is_answer(item)]
    for item in items:
        for key in _LISTS:
            found = item.get(key)
            calls = [one for one in found if _is_of(one, names)] if isinstance(found, list) else []
            if calls:
                return HiddenCalls(key, calls, answers)
    calls = [item for item in items if _is_of(item, names)]
    return HiddenCalls("", calls, answers) if calls else None


def _is_of(value: Any, names: Set[str]) -> bool:
    return any(call.name in names for call in calls_made(value))


def _is_answer(item: Any) -> bool:
    return item.get("role") in ("tool", "function", "user") or str(item.get("type")).endswith("_output")


def reply_id_of(codec: Codec, reply: bytes) -> str | None:
    """Return the id of a reply, plain or streamed."""
    values = values_of(codec, reply)
    held = (value.get("response", value) for value in values if isinstance(value, dict))
    return next((one["id"] for one in held if isinstance(one, dict) and isinstance(one.get("id"), str)), None)
