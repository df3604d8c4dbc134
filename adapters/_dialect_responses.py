"""The tool loop's side of OpenAI Responses."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, ClassVar

from pydantic import JsonValue

from agentmut.adapters._dialect import Answer, Call, Items, Reply, StreamCutError, request_of
from agentmut.adapters._sdk_version import openai_client
from agentmut.config import AgentConfig, ModelConfig
from agentmut.tools import ToolSpec
from agentmut.trace import Usage

_CUT = {"max_output_tokens": "max_tokens", "content_filter": "content filter"}
_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


class ResponseFailedError(RuntimeError):
    """The service accepted the request and gave up on it."""


class ResponsesDialect:
    """`responses.create`, plain or streamed; the conversation is sent whole, and none is kept by the service."""

    package: ClassVar[str] = "openai"

    def __init__(self, *, stream: bool = False) -> None:
        self._stream = stream

    def refuses(self, model: ModelConfig) -> str:
        """A seed and stop sequences, which the API has no place for."""
        names = [name for name in ("seed", "stop") if getattr(model, name) not in (None, ())]
        return f"the Responses API has no {names[0]}" if names else ""

    def client(self) -> AbstractAsyncContextManager[Any]:
        """A new `AsyncOpenAI`."""
        return openai_client()

    async def ask(self, client: Any, config: AgentConfig, conversation: Items) -> Reply:
        """One request; a stream is read to its end."""
        options = {**_settings(config), "input": conversation}
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


def _settings(config: AgentConfig) -> dict[str, Any]:
    """Every setting that the config has, and no other."""
    request = request_of(config)
    settings = {
        "instructions": config.system_text() or None,
        "tools": [_tool(tool) for tool in request.tools] or None,
        "tool_choice": _tool_choice(request.tool_choice),
        "temperature": request.temperature,
        "top_p": request.top_p,
        "max_output_tokens": request.max_tokens,
        "reasoning": {"effort": request.reasoning_effort} if request.reasoning_effort else None,
        "text": {"format": _format(request.response_format)} if request.response_format else None,
    }
    return {"model": request.model, **{key: value for key, value in settings.items() if value is not None}}


def _tool(tool: ToolSpec) -> dict[str, Any]:
    described = {"description": tool.description} if tool.description else {}
    return {
        "type": "function",
        "name": tool.name,
        **described,
        "parameters": tool.parameters,
        "strict": False,  # the service's default is True, which refuses most schemas
    }


def _tool_choice(choice: JsonValue) -> JsonValue:
    function = choice.get("function") if isinstance(choice, dict) else None
    return {"type": "function", "name": function.get("name")} if isinstance(function, dict) else choice


def _format(wanted: JsonValue) -> JsonValue:
    """A response format of Chat Completions with its schema one level higher."""
    named = wanted.get("json_schema") if isinstance(wanted, dict) else None
    return {"type": "json_schema", **named} if isinstance(named, dict) else wanted


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
