"""One normalised request and reply; each codec translates a service's dialect to and from these."""

from enum import StrEnum
from typing import NamedTuple, Protocol

from pydantic import JsonValue

from agentmut.frozen import Frozen
from agentmut.tools import ToolSpec
from agentmut.trace import Usage


class Role(StrEnum):
    """Who speaks. A `developer` message is read as `system`."""

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


class ModelRequest(Frozen):
    """What an agent asks of a model."""

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
    response_format: JsonValue = None
    stream: bool = False

    @property
    def system_text(self) -> str:
        """All system messages, joined by blank lines."""
        return "\n\n".join(m.text for m in self.messages if m.role is Role.SYSTEM)


class ModelReply(Frozen):
    """What a model answers."""

    model: str
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = "stop"
    usage: Usage = Usage()


class Exchange(NamedTuple):
    """One HTTP attempt at a model service, as a carrier saw it."""

    request: ModelRequest
    reply: ModelReply | None
    status: int | None
    """HTTP status; None when the connection failed."""
    error: str | None
    started: float
    """Seconds since the trial began."""
    seconds: float

    @property
    def answered(self) -> bool:
        """True when the service accepted the request and replied."""
        return self.status is not None and self.status < 400


class Codec(Protocol):
    """Reads and writes one service dialect. Raises `ValueError` on bodies it cannot read."""

    def matches(self, path: str) -> bool:
        """Whether a URL path belongs to this dialect."""
        ...

    def decode_request(self, body: bytes) -> ModelRequest:
        """Read a request body."""
        ...

    def decode_reply(self, body: bytes) -> ModelReply:
        """Read a reply body, plain or a complete event stream."""
        ...

    def encode_reply(self, reply: ModelReply, *, reply_id: str, stream: bool) -> bytes:
        """Write a reply body; with `stream`, the whole event stream."""
        ...

    def encode_error(self, status: int, message: str, code: str) -> bytes:
        """Write an error body as the service does."""
        ...
