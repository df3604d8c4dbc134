"""JSON-RPC messages of the tool protocol, single and in batches, and the reply to a tool call."""

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from agentmut.recording import Trial, TrialOverError, belonging
from agentmut.trial.mcp.passage import answers_itself, call_reply, list_reply

Message = dict[str, Any]
LIST, CALL, CANCELLED = "tools/list", "tools/call", "notifications/cancelled"
_SERVER_ERROR = -32000
_AS_A_TASK = (
    "agentmut: {0} is called as a task, whose result comes later, where it can be neither doubled nor go wrong. Have "
    "the client call {0} without a task"
)


class RefusedError(Exception):
    """The error message for a request that is not carried out."""

    def __init__(self, error: Any) -> None:
        said = error.get("message") if isinstance(error, dict) else error
        super().__init__(str(said))
        self.error = error


def read(raw: bytes) -> Any:
    """Return the JSON of a message; None if it is not JSON."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def written(message: Any) -> bytes:
    """Return a message on one line, ready to be sent."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def asks_for(message: Any) -> str | None:
    """Return which of `LIST` and `CALL` a message is a sound request for, if any."""
    if not isinstance(message, dict) or _number(message.get("id")) is None:
        return None
    params = message.get("params") or {}
    if message.get("method") == LIST:
        return LIST
    named = isinstance(params, dict) and isinstance(params.get("name"), str)
    sound = named and isinstance(params.get("arguments") or {}, dict)
    return CALL if message.get("method") == CALL and sound else None


def replies_to(message: Any) -> Any:
    """Return the id of the request that a message replies to; None for other messages."""
    if not isinstance(message, dict) or "method" in message:
        return None
    return _number(message.get("id"))


def takes_back(message: Any) -> Any:
    """Return the id of the request that a client cancels; None for other messages."""
    if not isinstance(message, dict) or message.get("method") != CANCELLED:
        return None
    params = message.get("params")
    return _number(params.get("requestId")) if isinstance(params, dict) else None


def is_request(message: Any) -> bool:
    """Return whether a message waits for a reply."""
    return isinstance(message, dict) and "method" in message and _number(message.get("id")) is not None


def refused(number: Any, error: Any) -> Message:
    """Return the reply that explains why a request was not carried out."""
    return {"jsonrpc": "2.0", "id": number, "error": error}


def trouble(text: str, code: int = _SERVER_ERROR) -> dict[str, Any]:
    """Return an error in the protocol's form."""
    return {"code": code, "message": text}


TAKEN_BACK = trouble("the client took the call back")


def _number(value: Any) -> Any:
    """Return the value if the protocol allows it as an id; None otherwise."""
    return value if isinstance(value, str | int | float) else None


def list_answer(trial: Trial, reply: Message) -> Message:
    """Return the reply to `tools/list` that the client is given."""
    result = reply.get("result")
    if not isinstance(result, dict):
        return reply
    tools = result.get("tools")
    if not (
        isinstance(tools, list)
        and all(isinstance(tool, dict) and isinstance(tool.get("name"), str) for tool in tools)
    ):
        return reply
    return {**reply, "result": list_reply(trial, result)}


async def call_answer(
    trial: Trial, message: Message, forward: Callable[[Message], Awaitable[Message]]
) -> Message:
    """Return the reply to `tools/call` for the client; `forward` calls the server's tool by its own name.

    Raises what `forward` raises.
    """
    params = message["params"]

    async def ask(own: str) -> Mapping[str, Any]:
        reply = await forward({**message, "params": {**params, "name": own}})
        if not isinstance(reply.get("result"), dict):
            raise RefusedError(reply.get("error"))
        result: Mapping[str, Any] = reply["result"]
        return result

    number, name = message["id"], params["name"]
    if params.get("task") and answers_itself(trial, name):
        return refused(number, trouble(_AS_A_TASK.format(name)))
    with belonging(trial):
        try:
            result = await call_reply(trial, name, params.get("arguments") or {}, ask)
            return {"jsonrpc": "2.0", "id": number, "result": result}
        except RefusedError as error:
            return refused(number, error.error)
        except TrialOverError as error:
            return refused(number, trouble(str(error)))


class Batch:
    """The requests of a batch that wait for replies, and the replies so far."""

    def __init__(self, waiting: set[Any]) -> None:
        self.waiting = waiting
        self.replies: list[Message] = []

    @classmethod
    def from_messages(cls, messages: list[Any]) -> "list[Batch]":
        """Return a batch that waits for replies, or none if no message is a request."""
        numbers = {message["id"] for message in messages if is_request(message)}
        return [cls(numbers)] if numbers else []

    def complete_with(self, number: Any, reply: Message | None) -> bool:
        """Return whether no reply is missing any more; None for `reply` stands for a reply that never comes."""
        self.waiting.discard(number)
        self.replies += [] if reply is None else [reply]
        return not self.waiting


def each_of(message: Any, raw: bytes) -> Iterator[tuple[Any, bytes]]:
    """Yield the messages of a batch, each with its wire form.

    >>> list(each_of([{"id": 1}, {"id": 2}], b""))
    [({'id': 1}, b'{"id":1}'), ({'id': 2}, b'{"id":2}')]
    """
    if isinstance(message, list) and message:
        yield from ((one, written(one)) for one in message)
    else:
        yield message, raw
