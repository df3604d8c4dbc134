"""The tool loop's side of OpenAI Responses."""

from collections.abc import Sequence
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
from agentmut.wire.dialects.responses.responses import Responses

_CODEC = Responses()
_CUT = {"max_output_tokens": "max_tokens", "content_filter": "content filter"}
_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


class ResponseFailedError(RuntimeError):
    """The service accepted the request and gave up on it."""


class ResponsesDialect:
    """`responses.create`, plain or streamed; the conversation is sent whole, and none is kept by the service."""

    package: ClassVar[str] = "openai"

    def __init__(self, *, stream: bool = False) -> None:
        self._stream = stream
        self._clients = Clients()

    def refuses(self, model: ModelConfig) -> str:
        """A seed and stop sequences."""
        return refused(_CODEC, model, "Responses")

    def client(self) -> AbstractAsyncContextManager[Any]:
        """A new `AsyncOpenAI`."""
        return openai_client(self._clients)

    async def ask(self, client: Any, config: AgentConfig, conversation: Items) -> Reply:
        """One request; a stream is read to its end."""
        options = {**body_of(_CODEC, request_of(config)), "input": conversation}
        if not self._stream:
            return _reply(await client.responses.create(**options))
        final = None
        async with await client.responses.create(**options, stream=True) as events:
            async for event in events:
                if event.type == "error":
                    raise ResponseFailedError(event.message)
                final = event.response if event.type in _ENDS else final
        if final is None:
            raise StreamCutError("the stream of the model's answer ended before the answer did")
        return _reply(final)

    def answered(self, answers: Sequence[Answer]) -> Items:
        """An item for each call."""
        return [{"type": "function_call_output", "call_id": a.call.id, "output": a.text} for a in answers]


def _reply(response: Any) -> Reply:
    if response.status == "failed":
        error = response.error
        raise ResponseFailedError(f"{error.code}: {error.message}" if error else "the response failed")
    calls = (item for item in response.output if item.type == "function_call")
    details = response.incomplete_details
    return Reply(
        text=response.output_text or "".join(_refusals(response.output)),
        calls=tuple(Call(item.call_id, item.name, item.arguments) for item in calls),
        said=[item.to_dict() for item in response.output],
        usage=_usage(response.usage),
        model=response.model,
        cut=_CUT.get(details.reason, str(details.reason)) if details else "",
    )


def _refusals(output: Any) -> list[str]:
    parts = (part for item in output if item.type == "message" for part in item.content)
    return [part.refusal for part in parts if part.type == "refusal"]


def _usage(usage: Any) -> Usage:
    if usage is None:
        return Usage()
    return Usage(input_tokens=usage.input_tokens or 0, output_tokens=usage.output_tokens or 0)
