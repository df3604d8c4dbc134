"""The OpenAI Responses dialect: requests and replies, plain and streamed.

What the service keeps for itself (earlier turns behind `previous_response_id`, stored prompts) is not in a
request, so it is neither read nor rewritten.
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
from agentmut.wire.dialects.openai_common import error_body, with_texts
from agentmut.wire.dialects.responses import (
    responses_replies,
    responses_requests,
    responses_rewriting,
    responses_stream,
)


class Responses:
    """Codec of `POST .../responses`."""

    name: ClassVar[str] = "responses"

    def matches(self, path: str) -> bool:
        """Whether a URL path is this dialect's, with any prefix, query or trailing slash.

        >>> Responses().matches("/t/42/v1/responses?x=1"), Responses().matches("/v1/responses/resp_1")
        (True, False)
        """
        return path.partition("?")[0].rstrip("/").endswith("/responses")

    def decode_request(self, call: HttpCall) -> ModelRequest:
        """Read a request body. Raises `ValueError` naming the field that cannot be read."""
        return responses_requests.decode(bodies.mapping(bodies.read_json(call.body), "the body"))

    def decode_reply(self, body: bytes) -> ModelReply:
        """Read a reply body, plain or a complete event stream.

        Raises `ValueError` for errors, streams that were cut off, and anything else unreadable.
        """
        return responses_replies.decode(_whole(body))

    def encode_request(self, request: ModelRequest) -> HttpCall:
        """Write a request; a seed and stop sequences are left out, as the dialect has no words for them."""
        return HttpCall("/v1/responses", bodies.write_json(responses_requests.encode(request)))

    def encode_reply(self, reply: ModelReply, *, reply_id: str, stream: bool) -> bytes:
        """Write a reply body; with `stream`, the whole event stream."""
        if stream:
            return sse.write_named_events(responses_stream.events(reply, reply_id))
        return bodies.write_json(responses_replies.encode(reply, reply_id))

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
        """The instructions and every text of messages and results of tools."""
        return list(responses_rewriting.texts(body))

    def with_texts(self, body: Body, texts: Mapping[Path, str]) -> Body:
        """The body with these texts in their places."""
        return with_texts(body, texts)

    def tools(self, body: Body) -> Sequence[OfferedTool]:
        """The tools on offer."""
        return responses_requests.offers(body)

    def with_tools(self, body: Body, tools: Sequence[OfferedTool]) -> Body:
        """The body with these tools on offer."""
        return responses_rewriting.with_tools(body, tools)

    def with_tool_names(self, body: Body, rename: Rename) -> Body:
        """The body with tools called otherwise in the conversation and the tool choice."""
        return responses_rewriting.with_tool_names(body, rename)

    def with_setting(self, call: HttpCall, body: Body, name: str, value: Any) -> tuple[str, Body]:
        """Return the body with one setting of the model changed."""
        return call.path, responses_rewriting.with_setting(body, name, value)

    def roles(self, body: Body) -> tuple[str, Sequence[Role]]:
        """Who speaks in each item of the input; nobody where it is one text."""
        found = enumerate(responses_requests.items(body))
        roles = [responses_requests.role_of(item, f"input[{index}]") for index, item in found]
        return ("input", roles) if isinstance(body.get("input"), list) else ("", ())

    def continued(self, body: Body, reply: bytes, results: Mapping[str, str]) -> Body:
        """The body that follows on a reply whose calls have these results."""
        return responses_rewriting.continued(body, _whole(reply), results)

    def reply_with_tool_names(self, value: Any, rename: Rename) -> Any:
        """A plain reply or an event, with the tools that it calls named otherwise."""
        return responses_rewriting.reply_with_tool_names(value, rename)


def _whole(body: bytes) -> Mapping[str, Any]:
    if sse.is_event_stream(body):
        return responses_stream.assembled(body)
    return bodies.mapping(bodies.read_json(body), "the body")
