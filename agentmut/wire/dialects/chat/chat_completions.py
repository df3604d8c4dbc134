"""The OpenAI Chat Completions dialect: requests and replies, plain and streamed.

Only the parts that `agentmut.nouns.messages` names are read; a request's other fields pass unseen.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from agentmut.nouns import (
    Body,
    Framing,
    HttpCall,
    ModelReply,
    ModelRequest,
    OfferedTool,
    Path,
    Rename,
    Role,
    Text,
)
from agentmut.wire import bodies
from agentmut.wire.dialects import sse
from agentmut.wire.dialects.chat import chat_replies, chat_requests, chat_rewriting, chat_stream
from agentmut.wire.dialects.openai_common import error_body, with_texts


class ChatCompletions:
    """Codec of `POST .../chat/completions`, OpenAI's and everybody's who speaks it."""

    name: ClassVar[str] = "chat_completions"

    def matches(self, path: str) -> bool:
        """Whether a URL path is this dialect's, with any prefix, query or trailing slash.

        >>> ChatCompletions().matches("/t/42/v1/chat/completions?api-version=1")
        True
        >>> ChatCompletions().matches("/v1/completions")
        False
        """
        return path.partition("?")[0].rstrip("/").endswith("/chat/completions")

    def decode_request(self, call: HttpCall) -> ModelRequest:
        """Read a request body. Raises `ValueError` naming the field that cannot be read."""
        return chat_requests.decode(bodies.mapping(bodies.read_json(call.body), "the body"))

    def decode_reply(self, body: bytes) -> ModelReply:
        """Read a reply body, plain or a complete event stream.

        Raises `ValueError` for errors, streams that were cut off, and anything else unreadable.
        """
        return chat_replies.decode(_whole(body))

    def encode_request(self, request: ModelRequest) -> HttpCall:
        """Write a request."""
        return HttpCall("/v1/chat/completions", bodies.write_json(chat_requests.encode(request)))

    def encode_reply(self, reply: ModelReply, *, reply_id: str, stream: bool) -> bytes:
        """Write a reply body; with `stream`, the whole event stream."""
        if stream:
            return sse.write_events(chat_stream.chunks(reply, reply_id))
        return bodies.write_json(chat_replies.encode(reply, reply_id))

    def encode_error(self, status: int, message: str, code: str) -> bytes:
        """Write an error body as the service does."""
        return error_body(status, message, code)

    def content_type(self, *, stream: bool) -> str:
        """The media type of replies."""
        return sse.MEDIA_TYPE if stream else "application/json"

    def framing(self) -> Framing:
        """A new reader of one streamed reply."""
        return sse.SseFraming()

    def texts(self, body: Body) -> Sequence[Text]:
        """Every text of every message; a result of a tool with its call and the tool's name."""
        return list(chat_rewriting.texts(body))

    def with_texts(self, body: Body, texts: Mapping[Path, str]) -> Body:
        """The body with these texts in their places."""
        return with_texts(body, texts)

    def tools(self, body: Body) -> Sequence[OfferedTool]:
        """The tools on offer, also in the older list `functions`."""
        return [tool for _, tool in chat_requests.offers(body)]

    def with_tools(self, body: Body, tools: Sequence[OfferedTool]) -> Body:
        """The body with these tools on offer."""
        return chat_rewriting.with_tools(body, tools)

    def with_tool_names(self, body: Body, rename: Rename) -> Body:
        """The body with tools called otherwise in the conversation and the tool choice."""
        return chat_rewriting.with_tool_names(body, rename)

    def with_setting(self, call: HttpCall, body: Body, name: str, value: Any) -> tuple[str, Body]:
        """Return the body with one setting of the model changed."""
        return call.path, chat_rewriting.with_setting(body, name, value)

    def roles(self, body: Body) -> tuple[str, Sequence[Role]]:
        """Who speaks in each message."""
        found = [(f"messages[{i}]", message) for i, message in enumerate(chat_requests.conversation(body))]
        roles = [chat_requests.role_of(bodies.mapping(message, where), where) for where, message in found]
        return "messages", roles

    def continued(self, body: Body, reply: bytes, results: Mapping[str, str]) -> Body:
        """The body that follows on a reply whose calls have these results."""
        return chat_rewriting.continued(body, _whole(reply), results)

    def reply_with_tool_names(self, value: Any, rename: Rename) -> Any:
        """A plain reply or a chunk, with the tools that it calls named otherwise.

        A name must come whole, as the service sends it: one that is split over chunks cannot be told.
        """
        return chat_rewriting.reply_with_tool_names(value, rename)


def _whole(body: bytes) -> Mapping[str, Any]:
    if sse.is_event_stream(body):
        return chat_stream.assembled(body)
    return bodies.mapping(bodies.read_json(body), "the body")
