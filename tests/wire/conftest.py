"""A model service that speaks every dialect, and a mutant of an agent with one tool."""

import asyncio
import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from agentmut.nouns.codec import Codec, HttpCall, OfferedTool
from agentmut.nouns.messages import ModelReply, ModelRequest, Role, ToolCall
from agentmut.nouns.trace import Usage
from agentmut.recording.trial import HandledReply, OutgoingRequest
from agentmut.wire.bodies import read_json, write_json
from agentmut.wire.codecs import codec_for
from tests.loopback import ANY_PATH, served


@dataclass
class Polyglot:
    """Answers what was asked: text echoes the user, tools are called where there are any and no result yet."""

    origin: str = ""
    requests: list[ModelRequest] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    trouble: Callable[[web.Request], Any] | None = None
    """Answers in place of the service where it returns a response."""
    calls: tuple[str, ...] = ()
    """Tools to call, one a reply, before it says anything."""
    packed: bool = False
    pause: float = 0.0

    async def handle(self, http: web.Request) -> web.StreamResponse:
        body = await http.read()
        self.headers.append({name.lower(): value for name, value in http.headers.items()})
        self.paths.append(http.raw_path)
        self.bodies.append(body)
        answer: web.StreamResponse | None = await self.trouble(http) if self.trouble else None
        if answer is not None:
            return answer
        codec = codec_for(http.raw_path)
        if codec is None:
            return web.json_response({"path": http.raw_path, "size": len(body)})
        request = codec.decode_request(HttpCall(http.raw_path, body))
        self.requests.append(request)
        encoded = codec.encode_reply(self.reply(request), reply_id="r-1", stream=request.stream)
        headers = {"content-type": codec.content_type(stream=request.stream), "x-request-id": "r-1"}
        if self.packed:
            headers["content-encoding"] = "gzip"
            encoded = gzip.compress(encoded)
        if not request.stream:
            return web.Response(body=encoded, headers=headers)
        return await self.stream(http, headers, encoded)

    def reply(self, request: ModelRequest) -> ModelReply:
        asked = next((m.text for m in request.messages if m.role is Role.USER), "")
        done = sum(m.role is Role.TOOL for m in request.messages)
        usage = Usage(input_tokens=7, output_tokens=3)
        if done < len(self.calls):
            call = ToolCall(id=f"call_{done}", name=self.calls[done], arguments='{"id":1}')
            return ModelReply(
                model=request.model, tool_calls=(call,), finish_reason="tool_calls", usage=usage
            )
        return ModelReply(model=request.model, text=f"You said: {asked}", usage=usage)

    async def stream(self, http: web.Request, headers: dict[str, str], body: bytes) -> web.StreamResponse:
        response = web.StreamResponse(headers=headers)
        await response.prepare(http)
        for start in range(0, len(body), 97):  # cut anywhere
            await response.write(body[start : start + 97])
            await asyncio.sleep(self.pause)
        return response


@pytest.fixture
def polyglot(loop_thread: Any) -> Iterator[Polyglot]:
    found = Polyglot()

    with served(loop_thread, {ANY_PATH: found.handle}, client_max_size=2**26) as address:
        found.origin = address
        yield found


class Renamed:
    """A mutant whose `look` is offered as `peek`, told to be brief, with a decoy tool that it answers itself."""

    def __init__(self, *, decoy: bool = False, pause: float = 0.0) -> None:
        self.needs_whole_replies = decoy
        self._pause = pause

    def request(self, codec: Codec, call: HttpCall) -> OutgoingRequest:
        body = read_json(call.body)
        tools = [self._offered(tool) for tool in codec.tools(body)]
        body = codec.with_tools(body, tools)
        body = codec.with_tool_names(body, _to_mutant)
        texts = {t.path: f"{t.text} Be brief." for t in codec.texts(body) if t.role is Role.SYSTEM}
        return OutgoingRequest(HttpCall(call.path, write_json(codec.with_texts(body, texts))), self._pause)

    def reply(self, codec: Codec, sent: HttpCall, body: bytes) -> HandledReply:
        decoys = [call for call in codec.decode_reply(body).tool_calls if call.name == "decoy"]
        if decoys:
            body_sent = codec.continued(read_json(sent.body), body, {call.id: "no" for call in decoys})
            return HandledReply(body, HttpCall(sent.path, write_json(body_sent)))
        if body.lstrip().startswith(b"{"):
            return HandledReply(write_json(self.event(codec, sent, read_json(body))))
        framing = codec.framing()
        frames = framing.feed(body)
        pieces = [
            framing.written(f, self.event(codec, sent, f.value)) if f.value is not None else f.raw
            for f in frames
        ]
        return HandledReply(b"".join(pieces) + framing.rest())

    def event(self, codec: Codec, sent: HttpCall, value: Any) -> Any:
        return codec.reply_with_tool_names(value, _to_agent)

    def _offered(self, tool: OfferedTool) -> OfferedTool:
        if tool.spec is None:
            return tool
        return tool._replace(spec=tool.spec.model_copy(update={"name": _to_mutant(tool.spec.name)}))


@pytest.fixture(scope="session")
def mutant() -> type[Renamed]:
    return Renamed


def _to_mutant(name: str) -> str:
    return {"look": "peek"}.get(name, name)


def _to_agent(name: str) -> str:
    return {"peek": "look"}.get(name, name)
