"""The tool loop of both agents. Everything that can be mutated is taken from the config."""

import json
import ssl
from collections.abc import Callable, Mapping
from typing import Any

from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from agentmut import AgentConfig

MAX_STEPS = 8
_CERTIFICATES = ssl.create_default_context()
"""Read once: a client for each run would read them each time, which takes longer than the run."""


async def converse(
    config: AgentConfig, functions: Mapping[str, Callable[..., Any]], said: str | list[str]
) -> str:
    """Return the answer to the user's last message. Endpoint and key come from OPENAI_BASE_URL and OPENAI_API_KEY."""
    messages: list[Any] = [{"role": "system", "content": config.system_text()}]
    answer = ""
    async with AsyncOpenAI(
        max_retries=0, http_client=DefaultAsyncHttpxClient(verify=_CERTIFICATES)
    ) as client:
        for message in [said] if isinstance(said, str) else said:
            messages.append({"role": "user", "content": message})
            answer = await _answered(client, config, functions, messages)
    return answer


async def _answered(
    client: AsyncOpenAI, config: AgentConfig, functions: Mapping[str, Callable[..., Any]], messages: list[Any]
) -> str:
    for _ in range(int(str(config.orchestration.get("max_steps", MAX_STEPS)))):
        asked = await client.chat.completions.create(messages=messages, **_request(config))
        reply = asked.choices[0].message
        messages.append(reply.model_dump(exclude_none=True))
        if not reply.tool_calls:
            return reply.content or ""
        messages += [_carried_out(functions, call) for call in reply.tool_calls]
    return "I could not finish this."


def _request(config: AgentConfig) -> dict[str, Any]:
    tools = [tool.to_openai() for tool in config.tools]
    settings = config.model.model_dump(exclude_defaults=True, exclude={"name", "provider"})
    return {"model": config.model.name, **({"tools": tools} if tools else {}), **settings}


def _carried_out(functions: Mapping[str, Callable[..., Any]], call: Any) -> dict[str, Any]:
    """Return the message with the result of a call. The model is told what goes wrong."""
    try:
        result = functions[call.function.name](**json.loads(call.function.arguments))
    except Exception as error:
        result = {"error": str(error)}
    return {"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)}
