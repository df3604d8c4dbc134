"""Simulated Bedrock agents: one simulated model, and the sessions that the service keeps."""

from collections import OrderedDict
from typing import Any, ClassVar, NamedTuple

from agentmut.nouns import Body, HttpCall, Message, ModelReply, ModelRequest, Role
from agentmut.wire import Converse
from agentmut.wire.dialects import bedrock_agent
from agentmut.wire.dialects.bedrock_agent import AgentCall

MOST_SESSIONS = 10_000


class BedrockAgents:
    """The dialect of InvokeAgent and InvokeInlineAgent, as far as a service needs it."""

    name: ClassVar[str] = "bedrock_agents"

    def matches(self, path: str) -> bool:
        """Return whether a URL path calls an agent."""
        return bedrock_agent.matches(path)

    def decode_request(self, call: HttpCall) -> ModelRequest:
        """Return what is asked of the agent in this turn."""
        return bedrock_agent.decode(call).request

    def encode_error(self, status: int, message: str, code: str) -> bytes:
        """Return an error body; all services of AWS have the same form."""
        return Converse().encode_error(status, message, code)


class Turn(NamedTuple):
    """A turn of a session."""

    key: tuple[str, str]
    call: AgentCall
    request: ModelRequest
    """With all that was said before."""


class Sessions:
    """The sessions of one server. The least recently used sessions are forgotten."""

    def __init__(self, most: int = MOST_SESSIONS) -> None:
        self._said: OrderedDict[tuple[str, str], tuple[Message, ...]] = OrderedDict()
        self._most = most

    def turn(self, trial: str, call: HttpCall) -> Turn:
        """Return the turn that a call asks for. Raise `ValueError` if the call is unreadable."""
        found = bedrock_agent.decode(call)
        key = (trial, found.session)
        given = found.request.messages
        system = tuple(message for message in given if message.role is Role.SYSTEM)
        rest = tuple(message for message in given if message.role is not Role.SYSTEM)
        whole = found.request.model_copy(update={"messages": (*system, *self._said.get(key, ()), *rest)})
        return Turn(key, found, whole)

    def answered(self, turn: Turn, reply: ModelReply, invocation_id: str, *, kept: bool) -> bytes:
        """Return the event stream of a reply, which is stored for the next turn unless its sending is known to fail."""
        if kept:
            ids = bedrock_agent.call_ids(invocation_id, len(reply.tool_calls))
            calls = [
                call.model_copy(update={"id": name}) for call, name in zip(reply.tool_calls, ids, strict=True)
            ]
            said = [message for message in turn.request.messages if message.role is not Role.SYSTEM]
            last = Message(role=Role.ASSISTANT, text=reply.text, tool_calls=tuple(calls))
            self._said[turn.key] = (*said, last)
            self._said.move_to_end(turn.key)
            while len(self._said) > self._most:
                self._said.popitem(last=False)
        return bedrock_agent.encode(reply, turn.call, invocation_id=invocation_id)


MOST_RESPONSES = 10_000
MOST_BYTES = 64 * 2**20


class UnknownResponseError(LookupError):
    """A response that was never given, was not to be stored, or has been forgotten since."""


class _StoredItems(NamedTuple):
    items: list[Any]
    size: int


class Conversations:
    """The stored responses of one server. The oldest responses are forgotten when there are too many."""

    def __init__(self, most: int = MOST_RESPONSES, most_bytes: int = MOST_BYTES) -> None:
        self._kept: OrderedDict[str, _StoredItems] = OrderedDict()
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def whole(self, body: Body) -> Body:
        """Return the request body with the earlier conversation. Raise `UnknownResponseError`."""
        previous = body.get("previous_response_id")
        if previous is None:
            return body
        if not isinstance(previous, str) or previous not in self._kept:
            raise UnknownResponseError(f"Previous response with id {previous!r:.80} not found.")
        return {**body, "input": [*self._kept[previous].items, *_items(body.get("input"))]}

    def keep(self, response_id: str, whole: Body, output: list[Any], size: int) -> None:
        """Store a response to the request `whole`, unless the request forbids it."""
        if whole.get("store") is False:
            return
        previous = self._kept.get(str(whole.get("previous_response_id")))
        kept = _StoredItems([*_items(whole.get("input")), *output], size + (previous.size if previous else 0))
        self._drop(response_id)
        self._kept[response_id] = kept
        self._bytes += kept.size
        while len(self._kept) > self._most or self._bytes > self._most_bytes:
            self._drop(next(iter(self._kept)))

    def _drop(self, response_id: str) -> None:
        if (dropped := self._kept.pop(response_id, None)) is not None:
            self._bytes -= dropped.size


def _items(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    return value if isinstance(value, list) else []
