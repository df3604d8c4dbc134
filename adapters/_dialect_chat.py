"""The tool loop's side of OpenAI Chat Completions."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, ClassVar

from agentmut.adapters._dialect import (
    Answer,
    Call,
    Items,
    Reply,
    StreamCutError,
    body_of,
    refused,
    request_of,
)
from agentmut.adapters._sdk_version import Clients, openai_client
from agentmut.config import AgentConfig, ModelConfig
from agentmut.trace import Usage
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions

_CODEC = ChatCompletions()
_CUT = {"length": "max_tokens", "content_filter": "content filter"}


class ChatDialect:
    """`chat.completions.create`, plain or streamed."""

    package: ClassVar[str] = "openai"

    def __init__(self, *, stream: bool = False) -> None:
        self._stream = stream
        self._clients = Clients()

    def refuses(self, model: ModelConfig) -> str:
        """Nothing: the config's settings are in the terms of this API."""
        return refused(_CODEC, model, "Chat Completions")

    def client(self) -> AbstractAsyncContextManager[Any]:
        """A new `AsyncOpenAI`."""
        return openai_client(self._clients)

    async def ask(self, client: Any, config: AgentConfig, conversation: Items) -> Reply:
        """One request; a stream is read to its end."""
        body = body_of(_CODEC, request_of(config))
        options = {**body, "messages": [*body["messages"], *conversation]}
        create = client.chat.completions.create
        if not self._stream:
            return _reply(await create(**options))
        async with await create(**options, stream=True, stream_options={"include_usage": True}) as chunks:
            gathered = _Gathered()
            async for chunk in chunks:
                gathered.add(chunk)
        return gathered.reply()

    def answered(self, answers: Sequence[Answer]) -> Items:
        """A message for each call."""
        return [{"role": "tool", "tool_call_id": a.call.id, "content": a.text} for a in answers]


def _reply(completion: Any) -> Reply:
    choice = completion.choices[0]
    message = choice.message
    calls = (_call(call.id, call) for call in message.tool_calls or ())
    return _assembled(
        message.content or message.refusal or "",
        tuple(calls),
        choice.finish_reason,
        completion.model,
        completion.usage,
    )


def _call(call_id: str, call: Any) -> Call:
    function = getattr(call, "function", None)
    if function is None:  # a custom tool, which agentmut never offers
        return Call(call_id, call.custom.name, call.custom.input)
    return Call(call_id, function.name, function.arguments)


def _assembled(text: str, calls: tuple[Call, ...], finish: str, model: str, usage: Any) -> Reply:
    said: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        said["tool_calls"] = list(_written(calls))
    return Reply(text, calls, [said], _usage(usage), model, _CUT.get(finish, ""))


def _written(calls: Iterable[Call]) -> Iterable[dict[str, Any]]:
    for call in calls:
        function = {"name": call.name, "arguments": call.arguments}
        yield {"id": call.id, "type": "function", "function": function}


def _usage(usage: Any) -> Usage:
    if usage is None:
        return Usage()
    return Usage(input_tokens=usage.prompt_tokens or 0, output_tokens=usage.completion_tokens or 0)


class _Gathered:
    """A reply as its chunks come in."""

    def __init__(self) -> None:
        self._text = ""
        self._calls: dict[int, list[str]] = {}
        self._finish = ""
        self._model = ""
        self._usage: Any = None

    def add(self, chunk: Any) -> None:
        self._model = chunk.model or self._model
        self._usage = chunk.usage or self._usage
        for choice in chunk.choices[:1]:
            self._finish = choice.finish_reason or self._finish
            delta = choice.delta
            self._text += (delta.content or "") + (delta.refusal or "")
            for call in delta.tool_calls or ():
                self._add_call(call)

    def _add_call(self, call: Any) -> None:
        parts = self._calls.setdefault(call.index, ["", "", ""])
        parts[0] = call.id or parts[0]
        if call.function:
            parts[1] += call.function.name or ""
            parts[2] += call.function.arguments or ""

    def reply(self) -> Reply:
        if not self._finish:
            raise StreamCutError("the stream of the model's answer ended before the answer did")
        calls = tuple(Call(*parts) for _, parts in sorted(self._calls.items()))
        return _assembled(self._text, calls, self._finish, self._model, self._usage)
