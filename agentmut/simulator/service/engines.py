"""A simulated agent engine of Google's: one simulated model, and the sessions that the engine keeps.

The id of an engine, the end of its resource name, is that of the model. The agent has neither prompt nor tools: it
knows what it is told, documents among it.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any, ClassVar, NamedTuple
from urllib.parse import unquote

from pydantic import JsonValue

from agentmut.nouns import HttpCall, Message, ModelReply, ModelRequest, Role
from agentmut.simulator.mind.situation import documents_of, own_words
from agentmut.simulator.service.sending import Reply
from agentmut.wire import Gemini, bodies

MOST_SESSIONS = 10_000
_PATH = re.compile(r".*/reasoningEngines/(?P<engine>[^/:]+):(?:query|streamQuery)")
_METHODS = ("async_create_session", "async_delete_session", "async_stream_query", "query")


class Session(NamedTuple):
    """The conversation of a session."""

    documents: tuple[str, ...] = ()
    messages: tuple[Message, ...] = ()

    def with_message(self, message: str) -> "Session":
        """Return the session with a further user message. The simulated model reads documents in its prompt."""
        new = Message(role=Role.USER, text=own_words(message).strip())
        return Session((*self.documents, *documents_of(message)), (*self.messages, new))

    def request(self, model: str) -> ModelRequest:
        """Return the agent's request to its model."""
        system = Message(role=Role.SYSTEM, text="\n".join(self.documents))
        return ModelRequest(model=model, messages=(system, *self.messages))


class AgentEngines:
    """The engines of one server, with their sessions. The least recently used engines are forgotten."""

    name: ClassVar[str] = "agent_engines"

    def __init__(self, most: int = MOST_SESSIONS) -> None:
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._numbers = count(1)
        self._most = most

    def matches(self, path: str) -> bool:
        """Return whether a URL path asks an engine."""
        return _PATH.fullmatch(path.partition("?")[0]) is not None

    def decode_request(self, call: HttpCall) -> ModelRequest:
        """Return the agent's request in this call. Raise `ValueError` for an empty one."""
        _, told = _read(call)
        return Session().with_message(_message(told)).request(_model(call))

    def encode_error(self, status: int, message: str, code: str) -> bytes:
        """Return an error body; all services of Google have the same form."""
        return Gemini().encode_error(status, message, code)

    def answer(self, call: HttpCall, say: Callable[[ModelRequest], ModelReply], *, kept: bool) -> Reply:
        """Return the reply to a call, which is stored for the next turn unless its sending is known to fail."""
        method, told = _read(call)
        if method == "async_create_session":
            return _output({"id": self._begun(), "userId": str(told.get("user_id") or "")})
        key = str(told.get("session_id"))
        if method == "async_delete_session":
            self._sessions.pop(key, None)
            return _output(None)
        if method == "query":
            return _output(say(Session().with_message(_message(told)).request(_model(call))).text)
        if key not in self._sessions:
            raise ValueError(f"there is no session {key[:80]!r}")
        session = self._sessions[key].with_message(_message(told))
        reply = say(session.request(_model(call)))
        if kept:
            last = Message(role=Role.ASSISTANT, text=reply.text)
            self._sessions[key] = session._replace(messages=(*session.messages, last))
            self._sessions.move_to_end(key)
        return Reply("text/event-stream", [bodies.write_json(_event(reply)) + b"\n"], streamed=True)

    def _begun(self) -> str:
        name = f"session-{next(self._numbers)}"
        self._sessions[name] = Session()
        while len(self._sessions) > self._most:
            self._sessions.popitem(last=False)
        return name


def _event(reply: ModelReply) -> dict[str, JsonValue]:
    """Return an event in the spelling of ADK, which uses Python's."""
    usage = {
        "prompt_token_count": reply.usage.input_tokens,
        "candidates_token_count": reply.usage.output_tokens,
        "total_token_count": reply.usage.total,
    }
    content: JsonValue = {"role": "model", "parts": [{"text": reply.text}]}
    return {"author": "agent", "content": content, "model_version": reply.model, "usage_metadata": {**usage}}


def _read(call: HttpCall) -> tuple[str, Mapping[str, Any]]:
    body = bodies.mapping(bodies.read_json(call.body), "the body")
    method = body.get("classMethod", body.get("class_method", "query"))
    if method not in _METHODS:
        raise ValueError(f"method {method!r:.80} not found. Available methods are: {', '.join(_METHODS)}")
    return method, bodies.mapping(body.get("input") or {}, "input")


def _message(body: Mapping[str, Any]) -> str:
    """Read the message of `async_stream_query` or of `query`."""
    key = "input" if "input" in body else "message"
    return bodies.name(body.get(key), f"input.{key}")


def _model(call: HttpCall) -> str:
    found = _PATH.fullmatch(call.path.partition("?")[0])
    if found is None:
        raise ValueError(f"the path asks no engine: {call.path:.200}")
    return unquote(found["engine"])


def _output(value: JsonValue) -> Reply:
    return Reply("application/json", [bodies.write_json({"output": value})])
