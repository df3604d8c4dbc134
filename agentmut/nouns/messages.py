"""One normalised request and reply; each codec translates them to and from a service's dialect."""

from enum import StrEnum
from typing import NamedTuple

from pydantic import JsonValue

from agentmut._base import Frozen
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Usage


class Role(StrEnum):
    """The role of a message's author. A `developer` message is read as `system`."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class ToolCall(Frozen):
    """A model's request to call a tool; `arguments` is JSON text, as the model wrote it."""

    id: str
    name: str
    arguments: str


class Message(Frozen):
    """One entry of the conversation."""

    role: Role
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    """The call that a tool's result answers."""


class ModelRequest(Frozen):
    """An agent's request to a model."""

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    reasoning_effort: str | None = None
    tool_choice: JsonValue = None
    """In the terms of Chat Completions, whatever the dialect: auto, none, required, or {type: function, ...}."""
    response_format: JsonValue = None
    """In the terms of Chat Completions: {type: json_object}, or {type: json_schema, json_schema: {...}}."""
    stream: bool = False

    @property
    def system_text(self) -> str:
        """Return all system messages, joined by blank lines."""
        return "\n\n".join(m.text for m in self.messages if m.role is Role.SYSTEM)


class ModelReply(Frozen):
    """A model's reply."""

    model: str
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = "stop"
    usage: Usage = Usage()


RETRYABLE_STATUS = frozenset({408, 409, 425, 429})


def is_trouble(status: int | None) -> bool:
    """Return whether a failed request's HTTP status (None: no reply) shows trouble of the service."""
    return status is None or status < 400 or status >= 500 or status in RETRYABLE_STATUS


class Exchange(NamedTuple):
    """One HTTP attempt at a model service, as a carrier saw it."""

    request: ModelRequest
    """As it was sent, with the mutation."""
    reply: ModelReply | None
    """As the agent was given it, under its own names of the tools; None where it could not be read."""
    status: int | None
    """HTTP status; None when the connection failed."""
    error: str | None
    started: float
    """Seconds since the trial began."""
    seconds: float
    dialect: str = ""
    """The name of the codec that read it."""
    host: str = ""
    """The service it went to, without the port."""
    turn: int = 0
    node: str | None = None
    """Which agent or node asked, where an adapter has said so with `agentmut.recording.answering`."""
    recalled: bool = False
    """Whether a recorded run answered it, and no service was asked."""
    cancelled: bool = False
    """Whether the agent's side cancelled the request, so that `error` is its cancellation."""

    @property
    def answered(self) -> bool:
        """Return whether the service accepted the request and replied; a cut or damaged reply does not count."""
        return self.status is not None and self.status < 400 and self.error is None

    @property
    def in_trouble(self) -> bool:
        """Return whether trouble of the service or the network, not an invalid request, prevented a reply.

        One that was accepted without a reply had its stream cut off.
        """
        return not self.answered and is_trouble(self.status)

    @property
    def given_up(self) -> bool:
        """Return whether the agent cancelled the request before a reply came."""
        return self.status is None and self.cancelled
