"""The tool loop's side of Anthropic Messages."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, ClassVar

from agentmut.adapters._dialect import (
    Answer,
    Call,
    Items,
    Reply,
    StreamCutError,
    arguments_of,
    body_of,
    refused,
    request_of,
)
from agentmut.adapters._sdk_version import Clients, anthropic_client
from agentmut.config import AgentConfig, ModelConfig
from agentmut.trace import Usage
from agentmut.wire.dialects.anthropic.anthropic_messages import AnthropicMessages

MAX_TOKENS = 1024
"""Of an answer where the config says nothing, as the service must be told."""
HOTTEST = 1.0
_CODEC = AnthropicMessages()
_CUT = {
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "the context window is full",
    "refusal": "the model refused",
}
_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class MessagesDialect:
    """`messages.create`, plain or streamed."""

    package: ClassVar[str] = "anthropic"

    def __init__(self, *, stream: bool = False) -> None:
        self._stream = stream
        self._clients = Clients()

    def refuses(self, model: ModelConfig) -> str:
        """A seed, JSON without a schema, efforts below low, and temperatures above 1."""
        if model.temperature is not None and model.temperature > HOTTEST:
            return (
                f"the Anthropic Messages API takes temperatures up to {HOTTEST:g}, not {model.temperature:g}"
            )
        complete = model.model_copy(update={"max_tokens": model.max_tokens or MAX_TOKENS})
        return refused(_CODEC, complete, "Anthropic Messages")

    def client(self) -> AbstractAsyncContextManager[Any]:
        """A new `AsyncAnthropic`."""
        return anthropic_client(self._clients)

    async def ask(self, client: Any, config: AgentConfig, conversation: Items) -> Reply:
        """One request; a stream is read to its end."""
        request = request_of(config)
        complete = request.model_copy(update={"max_tokens": request.max_tokens or MAX_TOKENS})
        body = {**body_of(_CODEC, complete), "messages": conversation}
        options = arguments_of(client.messages.create, body)
        if not self._stream:
            return _reply(await client.messages.create(**options))
        async with client.messages.stream(**options) as stream:
            message = await stream.get_final_message()
        if message.stop_reason is None:
            raise StreamCutError("the stream of the model's answer ended before the answer did")
        return _reply(message)

    def answered(self, answers: Sequence[Answer]) -> Items:
        """One message of the user with all results."""
        return [{"role": "user", "content": [_result(answer) for answer in answers]}] if answers else []


def _result(answer: Answer) -> dict[str, Any]:
    failed = {"is_error": True} if answer.failed else {}
    return {"type": "tool_result", "tool_use_id": answer.call.id, "content": answer.text, **failed}


def _reply(message: Any) -> Reply:
    blocks = message.content
    content = [block.to_dict() for block in blocks]
    return Reply(
        text="".join(block.text for block in blocks if block.type == "text"),
        calls=tuple(Call(block.id, block.name, block.input) for block in blocks if block.type == "tool_use"),
        said=[{"role": "assistant", "content": content}] if content else [],
        usage=_usage(message.usage),
        model=message.model,
        cut=_CUT.get(message.stop_reason, ""),
        unfinished=message.stop_reason == "pause_turn",
    )


def _usage(usage: Any) -> Usage:
    """What is written to and read from the prompt cache is input too."""
    read = sum(getattr(usage, name, None) or 0 for name in _INPUT)
    return Usage(input_tokens=read, output_tokens=usage.output_tokens or 0)
