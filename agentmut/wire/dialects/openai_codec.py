"""What the codecs of OpenAI's two dialects share. Each dialect names the modules that read and write its JSON."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from agentmut.nouns import Body, Framing, HttpCall, ModelReply, ModelRequest, OfferedTool, Path, Rename, Text
from agentmut.wire import bodies
from agentmut.wire.dialects import sse
from agentmut.wire.dialects.openai_common import error_body, with_texts


class Requests(Protocol):
    """The module that reads and writes requests."""

    def decode(self, body: Mapping[str, Any], /) -> ModelRequest:
        """Read a request."""
        ...

    def encode(self, request: ModelRequest, /) -> Body:
        """Write a request."""
        ...


class Replies(Protocol):
    """The module that reads and writes plain replies."""

    def decode(self, body: Mapping[str, Any], /) -> ModelReply:
        """Read a reply."""
        ...

    def encode(self, reply: ModelReply, reply_id: str, /) -> Body:
        """Write a reply."""
        ...


class Rewriting(Protocol):
    """The module that changes the parts of a body."""

    def texts(self, body: Body, /) -> Iterable[Text]:
        """List the texts."""
        ...

    def with_tools(self, body: Body, tools: Sequence[OfferedTool], /) -> Body:
        """Offer other tools."""
        ...

    def with_tool_names(self, body: Body, rename: Rename, /) -> Body:
        """Rename tools."""
        ...

    def with_setting(self, body: Body, name: str, value: Any, /) -> Body:
        """Change a setting."""
        ...

    def continued(self, body: Body, reply: Mapping[str, Any], results: Mapping[str, str], /) -> Body:
        """Continue after a reply."""
        ...

    def reply_with_tool_names(self, value: Any, rename: Rename, /) -> Any:
        """Rename tools in a reply."""
        ...


class OpenAICodec(ABC):
    """A codec of `POST .../<endpoint>`, with JSON bodies and replies that may be streamed as server-sent events."""

    endpoint: ClassVar[str]
    """The end of the path, with its slash."""
    _requests: ClassVar[Requests]
    _replies: ClassVar[Replies]
    _rewriting: ClassVar[Rewriting]

    @abstractmethod
    def _assembled(self, stream: bytes) -> Mapping[str, Any]:
        """Put a complete event stream together to a plain reply."""

    @abstractmethod
    def _streamed(self, reply: ModelReply, reply_id: str) -> bytes:
        """Write a reply as an event stream."""

    def matches(self, path: str) -> bool:
        """Whether a URL path is this dialect's, with any prefix, query or trailing slash."""
        return path.partition("?")[0].rstrip("/").endswith(self.endpoint)

    def decode_request(self, call: HttpCall) -> ModelRequest:
        """Read a request body. Raises `ValueError` naming the field that cannot be read."""
        return self._requests.decode(bodies.mapping(bodies.read_json(call.body), "the body"))

    def decode_reply(self, body: bytes) -> ModelReply:
        """Read a reply body, plain or a complete event stream.

        Raises `ValueError` for errors, streams that were cut off, and anything else unreadable.
        """
        return self._replies.decode(self._plain(body))

    def encode_request(self, request: ModelRequest) -> HttpCall:
        """Write a request; what the dialect has no words for is left out."""
        return HttpCall(f"/v1{self.endpoint}", bodies.write_json(self._requests.encode(request)))

    def encode_reply(self, reply: ModelReply, *, reply_id: str, stream: bool) -> bytes:
        """Write a reply body; with `stream`, the whole event stream."""
        if stream:
            return self._streamed(reply, reply_id)
        return bodies.write_json(self._replies.encode(reply, reply_id))

    def encode_error(self, status: int, message: str, code: str) -> bytes:
        """Write an error body as the service does."""
        return error_body(status, message, code)

    def content_type(self, *, stream: bool) -> str:
        """Return the media type of replies."""
        return sse.MEDIA_TYPE if stream else "application/json"

    def framing(self) -> Framing:
        """Return a new reader of one streamed reply."""
        return sse.SseFraming()

    def texts(self, body: Body) -> Sequence[Text]:
        """List the instructions and every text of messages and results of tools."""
        return list(self._rewriting.texts(body))

    def with_texts(self, body: Body, texts: Mapping[Path, str]) -> Body:
        """Return the body with these texts in their places."""
        return with_texts(body, texts)

    def with_tools(self, body: Body, tools: Sequence[OfferedTool]) -> Body:
        """Return the body with these tools on offer."""
        return self._rewriting.with_tools(body, tools)

    def with_tool_names(self, body: Body, rename: Rename) -> Body:
        """Return the body with tools renamed in the conversation and the tool choice."""
        return self._rewriting.with_tool_names(body, rename)

    def with_setting(self, call: HttpCall, body: Body, name: str, value: Any) -> tuple[str, Body]:
        """Return path and body with one setting of the model changed."""
        return call.path, self._rewriting.with_setting(body, name, value)

    def continued(self, body: Body, reply: bytes, results: Mapping[str, str]) -> Body:
        """Return the body that follows on a reply whose calls have these results."""
        return self._rewriting.continued(body, self._plain(reply), results)

    def reply_with_tool_names(self, value: Any, rename: Rename) -> Any:
        """Return a plain reply or one event of a stream with the tools that it calls renamed.

        A name must come whole, as the service sends it: a name that is split over events is not recognised.
        """
        return self._rewriting.reply_with_tool_names(value, rename)

    def _plain(self, body: bytes) -> Mapping[str, Any]:
        if sse.is_event_stream(body):
            return self._assembled(body)
        return bodies.mapping(bodies.read_json(body), "the body")
