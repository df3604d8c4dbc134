"""The seam of the wire: the protocol of a codec for a service's dialect.

`decode_*` and `encode_*` translate to and from the normal form of `agentmut.nouns.messages`. Everything else
works on the parsed body itself (`Body`), so that whatever is not named passes as it was: key order, unknown
fields, images, cache markers. None of these functions changes what it is given.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

from agentmut.nouns.messages import ModelReply, ModelRequest, Role
from agentmut.nouns.tools import ToolSpec


class Frame(NamedTuple):
    """One event of a stream. `raw` has all its bytes, so that the bytes of all frames make the stream."""

    raw: bytes
    value: Any = None
    """The JSON value of its data; None where it has none that can be read (comments, the end mark)."""


class Framing(Protocol):
    """Reads one stream from pieces of any size."""

    def feed(self, piece: bytes) -> list[Frame]:
        """Return the frames that are complete now."""
        ...

    def rest(self) -> bytes:
        """Return the bytes after the last complete frame."""
        ...

    def written(self, frame: Frame, value: Any) -> bytes:
        """Return the frame with another JSON value; everything else of it (event name, id, headers) stays."""
        ...


Body = dict[str, Any]
"""A parsed JSON object, as it was sent."""
Path = tuple[str | int, ...]
"""Keys and indexes that lead to a place in a body."""
Rename = Callable[[str], str]
"""From one name of a tool to another; names that it does not know it gives back."""


class HttpCall(NamedTuple):
    """A request in the form of HTTP. In some dialects the path has the model and the choice to stream."""

    path: str
    """With the query, without scheme and host."""
    body: bytes


class Text(NamedTuple):
    """A text of a request that the model reads."""

    path: Path
    """Where it stands in the body."""
    role: Role
    text: str
    call_id: str | None = None
    """The call that a tool's result answers."""
    tool: str | None = None
    """The offered name of the tool whose result this is, where the request itself tells."""


class OfferedTool(NamedTuple):
    """A tool of a request. A tool of the service itself (web search) has no `spec` and is never changed."""

    spec: ToolSpec | None
    raw: Any = None
    """Its entry in the body; None for a tool that is to be added."""


@runtime_checkable
class Codec(Protocol):
    """Reads, rewrites and writes one service dialect. Raises `ValueError` on bodies that it cannot read."""

    name: ClassVar[str]
    """Such as `chat_completions`."""

    def matches(self, path: str) -> bool:
        """Return whether a URL path (any prefix, a query or not) belongs to this dialect."""
        ...

    def decode_request(self, call: HttpCall) -> ModelRequest:
        """Read a request."""
        ...

    def decode_reply(self, body: bytes) -> ModelReply:
        """Read a reply body, plain or a complete stream."""
        ...

    def encode_request(self, request: ModelRequest) -> HttpCall:
        """Return a request's call; `decode_request` reads it back, as far as the dialect can express the request."""
        ...

    def encode_reply(self, reply: ModelReply, *, reply_id: str, stream: bool) -> bytes:
        """Write a reply body; with `stream`, the whole stream."""
        ...

    def encode_error(self, status: int, message: str, code: str) -> bytes:
        """Write an error body as the service does."""
        ...

    def content_type(self, *, stream: bool) -> str:
        """Return the media type of replies."""
        ...

    def framing(self) -> Framing:
        """Return a new reader of one streamed reply."""
        ...

    def texts(self, body: Body) -> Sequence[Text]:
        """Return every text that the model reads, in order: instructions, messages, tool results."""
        ...

    def with_texts(self, body: Body, texts: Mapping[Path, str]) -> Body:
        """Return the body with these texts in their places; an empty one is left out where services refuse it."""
        ...

    def tools(self, body: Body) -> Sequence[OfferedTool]:
        """Return the tools on offer, in order."""
        ...

    def with_tools(self, body: Body, tools: Sequence[OfferedTool]) -> Body:
        """Return the body with these tools on offer.

        An entry whose `spec` reads differently from its `raw` is written anew in what differs; one without `raw`
        is written as the dialect does. With no tool left, what goes with tools (the list, a tool choice) goes too.
        """
        ...

    def with_tool_names(self, body: Body, rename: Rename) -> Body:
        """Return the request body with renamed tools wherever the conversation or a tool choice names them.

        The list of tools itself is left alone.
        """
        ...

    def with_setting(self, call: HttpCall, body: Body, name: str, value: Any) -> tuple[str, Body]:
        """Return path and body with one model setting (a field of `ModelConfig`) changed; None or () removes it.

        Settings that the dialect does not know leave both as they are.
        """
        ...

    def roles(self, body: Body) -> tuple[str, Sequence[Role]]:
        """Return the key of the conversation's list, and the role of each item; ("", ()) without a list.

        A user's item that holds tool results counts as `Role.TOOL`, whatever else it says: without them, the calls
        before it would be left unanswered.
        """
        ...

    def continued(self, body: Body, reply: bytes, results: Mapping[str, str]) -> Body:
        """Return the request body that follows on a plain or complete streamed `reply`: with it, and the results of its
        calls by call id, added to the conversation."""
        ...

    def reply_with_tool_names(self, value: Any, rename: Rename) -> Any:
        """Return a plain reply, or one event of a stream, with renamed tools."""
        ...


def system_text(texts: Sequence[Text]) -> str:
    """Return all instructions of a request, joined by blank lines."""
    return "\n\n".join(text.text for text in texts if text.role is Role.SYSTEM)
