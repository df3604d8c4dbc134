"""The Bedrock InvokeModel dialect: a path that names the model, and a body in the model's own dialect."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import quote, unquote

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
from agentmut.wire.dialects.aws_event_stream import MEDIA_TYPE, is_event_stream
from agentmut.wire.dialects.converse.converse import Converse
from agentmut.wire.dialects.invoke import chunks, families

_PATH = re.compile(
    r"(?=.*/invoke(?:-with-response-stream)?/?\Z)"
    r"(?P<before>.*/model/)(?P<model>.+)(?P<verb>/invoke(?P<stream>-with-response-stream)?)/?"
)


class InvokeModel:
    """Codec of `POST /model/<id>/invoke` and `/model/<id>/invoke-with-response-stream`."""

    name: ClassVar[str] = "invoke_model"

    def matches(self, path: str) -> bool:
        """Return whether a URL path is this dialect's.

        >>> InvokeModel().matches("/t/42/model/anthropic.claude-x%3A0/invoke-with-response-stream")
        True
        >>> InvokeModel().matches("/model/anthropic.claude-x%3A0/converse")
        False
        """
        return _PATH.fullmatch(path.partition("?")[0]) is not None

    def decode_request(self, call: HttpCall) -> ModelRequest:
        """Read a request. Raises `ValueError` naming the field that cannot be read."""
        body, path = bodies.read_call(call), _PATH.fullmatch(call.path.partition("?")[0])
        if path is None:
            raise ValueError(f"the path names no model: {call.path:.200}")
        family = families.of_request(body)
        own = family.call(body, unquote(path["model"]), stream=path["stream"] is not None)
        return family.codec.decode_request(own)

    def decode_reply(self, body: bytes) -> ModelReply:
        """Read a reply, plain or a complete stream. Raises `ValueError` for errors and what was cut off.

        Only Claude's say which model answered.
        """
        family, reply = _own_reply(body)
        return family.codec.decode_reply(reply)

    def encode_request(self, request: ModelRequest) -> HttpCall:
        """Return a request's call in the model's dialect, by the model's id."""
        family = families.of_model(request.model)
        own = bodies.read_object(family.codec.encode_request(request).body)
        verb = "invoke-with-response-stream" if request.stream else "invoke"
        body = bodies.write_json(family.body(own))
        return HttpCall(f"/model/{quote(request.model, safe='')}/{verb}", body)

    def encode_reply(self, reply: ModelReply, *, reply_id: str, stream: bool) -> bytes:
        """Return a reply; with `stream`, all its frames. Raise `ValueError` if the reply names no model.

        The model's name alone tells the dialect.
        """
        if not reply.model:
            raise ValueError("model: a reply of InvokeModel that names no model can be in several dialects")
        family = families.of_model(reply.model)
        own = family.codec.encode_reply(reply, reply_id=reply_id, stream=stream)
        return chunks.write(family.events(own)) if stream else own

    def encode_error(self, status: int, message: str, code: str) -> bytes:
        """Return an error body in the service's form, which has no error code."""
        return Converse().encode_error(status, message, code)

    def content_type(self, *, stream: bool) -> str:
        """Return the media type of replies."""
        return MEDIA_TYPE if stream else "application/json"

    def framing(self) -> Framing:
        """Return a new reader of one streamed reply."""
        return chunks.ChunkFraming()

    def texts(self, body: Body) -> Sequence[Text]:
        """List instructions, messages and results of tools."""
        return families.of_request(body).codec.texts(body)

    def with_texts(self, body: Body, texts: Mapping[Path, str]) -> Body:
        """Return the body with these texts in their places."""
        return families.of_request(body).codec.with_texts(body, texts)

    def tools(self, body: Body) -> Sequence[OfferedTool]:
        """Return the tools on offer, in order."""
        return families.of_request(body).codec.tools(body)

    def with_tools(self, body: Body, tools: Sequence[OfferedTool]) -> Body:
        """Return the body with these tools on offer."""
        return families.of_request(body).codec.with_tools(body, tools)

    def with_tool_names(self, body: Body, rename: Rename) -> Body:
        """Return the body with renamed tools in the conversation and the tool choice."""
        return families.of_request(body).codec.with_tool_names(body, rename)

    def with_setting(self, call: HttpCall, body: Body, name: str, value: Any) -> tuple[str, Body]:
        """Return path and body with one setting changed; the model is part of the path."""
        if name == "name":
            return (_with_model(call.path, value) if value else call.path), body
        return call.path, families.of_request(body).codec.with_setting(call, body, name, value)[1]

    def roles(self, body: Body) -> tuple[str, Sequence[Role]]:
        """Return the conversation's list, and the role of each item."""
        return families.of_request(body).codec.roles(body)

    def continued(self, body: Body, reply: bytes, results: Mapping[str, str]) -> Body:
        """Return the request body that follows on a reply."""
        family, own = _own_reply(reply)
        return family.codec.continued(body, own, results)

    def reply_with_tool_names(self, value: Any, rename: Rename) -> Any:
        """Return a reply, or an event of a stream, with renamed tools."""
        return families.of_reply(value).codec.reply_with_tool_names(value, rename)


def _own_reply(body: bytes) -> tuple[families.Family, bytes]:
    """Return the dialect of a reply, and the reply in the form of the dialect's own service. Raise `ValueError`."""
    if is_event_stream(body):
        values = chunks.read(body)
        family = families.of_reply(values[0] if values else None)
        return family, family.stream(values)
    found = bodies.read_object(body)
    if "message" in found and not {"output", "choices", "content", "generation", "results"} & found.keys():
        raise ValueError(f"the service answered with an error: {found['message']!r:.200}")
    family, plain = families.of_reply(found), families.plain_reply(found)
    return family, body if plain is found else bodies.write_json(plain)


def _with_model(path: str, model: str) -> str:
    place, mark, query = path.partition("?")
    found = _PATH.fullmatch(place)
    if found is None or unquote(found["model"]) == model:
        return path
    return f"{found['before']}{quote(model, safe='')}{place[found.end('model') :]}{mark}{query}"
