"""Codecs with one planted fault each, which the conformance kit has to find."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from agentmut.nouns.codec import Body, Frame, HttpCall, OfferedTool, Path, Rename, Text
from agentmut.nouns.messages import ModelReply, ModelRequest, Role
from agentmut.wire.dialects import sse
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions


class NoSeed(ChatCompletions):
    def decode_request(self, call: HttpCall) -> ModelRequest:
        return super().decode_request(call).model_copy(update={"seed": None})

    def with_setting(self, call: HttpCall, body: Body, name: str, value: Any) -> tuple[str, Body]:
        return (call.path, body) if name == "seed" else super().with_setting(call, body, name, value)


class NoFraming(ChatCompletions):
    framing: Any = None


class OtherParameters(ChatCompletions):
    def with_texts(self, body: Body, changes: Mapping[Path, str]) -> Body:
        return super().with_texts(body, changes)


class AnyPath(ChatCompletions):
    def matches(self, path: str) -> bool:
        return True


class NoPrefix(ChatCompletions):
    def matches(self, path: str) -> bool:
        return path == "/v1/chat/completions"


class DropsCalls(ChatCompletions):
    def decode_reply(self, body: bytes) -> ModelReply:
        found = super().decode_reply(body)
        return found.model_copy(update={"tool_calls": found.tool_calls[:1]})


class TakesErrors(ChatCompletions):
    def decode_reply(self, body: bytes) -> ModelReply:
        return ModelReply(model="") if b'"error"' in body else super().decode_reply(body)


class TakesCutStreams(ChatCompletions):
    def decode_reply(self, body: bytes) -> ModelReply:
        end = b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n'
        try:
            return super().decode_reply(body)
        except ValueError:
            if b'"error"' in body or not body.startswith(b"data: {"):
                raise
            return super().decode_reply(body[: body.rfind(b"\n\n") + 2] + end)


class Sorts(ChatCompletions):
    def with_texts(self, body: Body, texts: Mapping[Path, str]) -> Body:
        return dict(sorted(super().with_texts(body, texts).items()))


class WritesIntoTheBody(ChatCompletions):
    def with_tools(self, body: Body, tools: Sequence[OfferedTool]) -> Body:
        changed = super().with_tools(body, tools)
        body.update(changed)
        return changed


class WritesIntoTheReply(ChatCompletions):
    def reply_with_tool_names(self, value: Any, rename: Rename) -> Any:
        changed = super().reply_with_tool_names(value, rename)
        if isinstance(value, dict) and "choices" in value:
            value["choices"] = changed["choices"]
        return changed


class ForgetsResults(ChatCompletions):
    def texts(self, body: Body) -> Sequence[Text]:
        return [text for text in super().texts(body) if text.role is not Role.TOOL]


class ForgetsWhoseResult(ChatCompletions):
    def texts(self, body: Body) -> Sequence[Text]:
        return [text._replace(tool=None) for text in super().texts(body)]


class OtherPlaces(ChatCompletions):
    def texts(self, body: Body) -> Sequence[Text]:
        return [text._replace(text=text.text + " ") for text in super().texts(body)]


class ChangesFirstTextOnly(ChatCompletions):
    def with_texts(self, body: Body, texts: Mapping[Path, str]) -> Body:
        first = self.texts(body)[0].path if self.texts(body) else ()
        return super().with_texts(body, {path: text for path, text in texts.items() if path == first})


class KeepsEmptied(ChatCompletions):
    def with_texts(self, body: Body, texts: Mapping[Path, str]) -> Body:
        return super().with_texts(body, {path: text for path, text in texts.items() if text})


class WritesToolsAnew(ChatCompletions):
    def with_tools(self, body: Body, tools: Sequence[OfferedTool]) -> Body:
        return super().with_tools(body, [OfferedTool(tool.spec) for tool in tools])


class SameForPython(ChatCompletions):
    """Takes a schema for unchanged where Python does: 1 for true."""

    def with_tools(self, body: Body, tools: Sequence[OfferedTool]) -> Body:
        was = {json.dumps(tool.raw): tool.spec for tool in self.tools(body)}
        return super().with_tools(
            body,
            [
                OfferedTool(was[json.dumps(tool.raw)], tool.raw)
                if was.get(json.dumps(tool.raw)) == tool.spec
                else tool
                for tool in tools
            ],
        )


class KeepsChoice(ChatCompletions):
    def with_tools(self, body: Body, tools: Sequence[OfferedTool]) -> Body:
        choice = {key: body[key] for key in ("tool_choice",) if key in body}
        return {**super().with_tools(body, tools), **choice}


class KeepsNamesOfChoice(ChatCompletions):
    def with_tool_names(self, body: Body, rename: Rename) -> Body:
        choice = {key: body[key] for key in ("tool_choice",) if key in body}
        return {**super().with_tool_names(body, rename), **choice}


class RenamesOffers(ChatCompletions):
    def with_tool_names(self, body: Body, rename: Rename) -> Body:
        changed = super().with_tool_names(body, rename)
        tools = [tool for tool in self.tools(body) if tool.spec]
        fresh = [
            OfferedTool(tool.spec.model_copy(update={"name": rename(tool.spec.name)}), tool.raw)
            for tool in tools
            if tool.spec
        ]
        return super().with_tools(changed, fresh) if fresh else changed


class SetsNothing(ChatCompletions):
    def with_setting(self, call: HttpCall, body: Body, name: str, value: Any) -> tuple[str, Body]:
        return (call.path, body) if name == "top_p" else super().with_setting(call, body, name, value)


class SetsMore(ChatCompletions):
    def with_setting(self, call: HttpCall, body: Body, name: str, value: Any) -> tuple[str, Body]:
        path, changed = super().with_setting(call, body, name, value)
        return path, {**changed, "seed": 1} if name == "top_p" and value is not None else changed


class NeverTakesOut(ChatCompletions):
    def with_setting(self, call: HttpCall, body: Body, name: str, value: Any) -> tuple[str, Body]:
        return (call.path, body) if value is None else super().with_setting(call, body, name, value)


class OneSpeaker(ChatCompletions):
    def roles(self, body: Body) -> tuple[str, Sequence[Role]]:
        key, roles = super().roles(body)
        return key, [Role.USER] * len(roles)


class GoesOnWithPlainRepliesOnly(ChatCompletions):
    def continued(self, body: Body, reply: bytes, results: Mapping[str, str]) -> Body:
        return body if sse.is_event_stream(reply) else super().continued(body, reply, results)


class GoesOnWithoutResults(ChatCompletions):
    def continued(self, body: Body, reply: bytes, results: Mapping[str, str]) -> Body:
        return super().continued(body, reply, {})


class MapsPlainRepliesOnly(ChatCompletions):
    def reply_with_tool_names(self, value: Any, rename: Rename) -> Any:
        is_chunk = isinstance(value, dict) and value.get("object") == "chat.completion.chunk"
        return value if is_chunk else super().reply_with_tool_names(value, rename)


class MapsFirstCallOnly(ChatCompletions):
    def reply_with_tool_names(self, value: Any, rename: Rename) -> Any:
        seen: list[str] = []

        def first(name: str) -> str:
            seen.append(name)
            return rename(name) if len(seen) == 1 else name

        return super().reply_with_tool_names(value, first)


class CutsFieldsOff(ChatCompletions):
    def with_tool_names(self, body: Body, rename: Rename) -> Body:
        known = {"messages", "model", "tools", "tool_choice"}
        changed = super().with_tool_names(body, rename)
        return {key: value for key, value in changed.items() if key in known or rename is str}


class CrashesOnOddRoles(ChatCompletions):
    def roles(self, body: Body) -> tuple[str, Sequence[Role]]:
        return "messages", [Role(message["role"]) for message in body["messages"]]


class NeedsMessages(ChatCompletions):
    def with_setting(self, call: HttpCall, body: Body, name: str, value: Any) -> tuple[str, Body]:
        return super().with_setting(call, {**body, "messages": body["messages"]}, name, value)


class ForgetsTheModel(ChatCompletions):
    def decode_reply(self, body: bytes) -> ModelReply:
        return super().decode_reply(body).model_copy(update={"model": ""})


class ByLines:
    """Takes each line that comes for a frame, wherever it was cut."""

    def __init__(self) -> None:
        self._framing = sse.SseFraming()

    def feed(self, piece: bytes) -> list[Frame]:
        return [Frame(line, None) for line in piece.splitlines(keepends=True)]

    def rest(self) -> bytes:
        return b""

    def written(self, frame: Frame, value: Any) -> bytes:
        return self._framing.written(frame, value)


class Loses(sse.SseFraming):
    def feed(self, piece: bytes) -> list[Frame]:
        return [frame for frame in super().feed(piece) if frame.value is not None]


class Waits(sse.SseFraming):
    def __init__(self) -> None:
        super().__init__()
        self._kept: list[Frame] = []

    def feed(self, piece: bytes) -> list[Frame]:
        self._kept += super().feed(piece)
        if b"[DONE]" not in (self._kept[-1].raw if self._kept else b""):
            return []
        found, self._kept = self._kept, []
        return found


class WritesAlways(sse.SseFraming):
    def written(self, frame: Frame, value: Any) -> bytes:
        return b"data: " + json.dumps(value).encode() + b"\n\n"


class WritesNever(sse.SseFraming):
    def written(self, frame: Frame, value: Any) -> bytes:
        return frame.raw


def framed(framing_type: Any) -> type[ChatCompletions]:
    class Framed(ChatCompletions):
        def framing(self) -> Any:
            return framing_type()

    return Framed


class Unnamed:
    name: ClassVar[str] = "unnamed"

    def matches(self, path: str) -> bool:
        return False
