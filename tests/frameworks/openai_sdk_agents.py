"""Agents on OpenAI's SDK, as a user writes them. The ready loop is given the functions of order_tools.py."""

import functools
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from openai import AsyncOpenAI

import agentmut
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.tools import ToolSpec, read_tool
from tests.frameworks.order_tools import FUNCTIONS, MARKED, PROMPT, SPECS, TRIAGE, order_tool, stock_tool

__all__ = ["order_tool", "stock_tool"]  # whose calls can be doubled
Functions = Mapping[str, Callable[..., Any]]


async def run(text: str) -> str:
    """Two agents: one says what the message is about, the other answers it with tools."""
    async with AsyncOpenAI() as client:
        await converse(client, {"model": "sim-large"}, [_system(TRIAGE), _user(text)], {})
        return await converse(client, _asked(SPECS), [_system(PROMPT), _user(text)], MARKED)


async def configured(config: AgentConfig, said: str | list[str]) -> str:
    """One that is as its config says."""
    settings = config.model.model_dump(include={"temperature", "max_tokens", "stop"}, exclude_defaults=True)
    asked = _asked(config.tools, config.model.name, **settings)
    turns = [said] if isinstance(said, str) else said
    async with AsyncOpenAI() as client:
        messages = [_system(config.system_text()), *map(_user, turns)]
        return await converse(client, asked, messages, agentmut.toolbox(config, FUNCTIONS))


@functools.cache
def client() -> AsyncOpenAI:
    """It takes long to make, and serves any number of runs."""
    return AsyncOpenAI()


async def direct(agent: AsyncOpenAI, text: str) -> str:
    """The agent by the SDK alone; `agent` is a client."""
    functions = {function.__name__: function for function in FUNCTIONS}
    asked = _asked(map(read_tool, FUNCTIONS))
    return await converse(agent, asked, [_system(PROMPT), _user(text)], functions)


async def converse(
    client: AsyncOpenAI, asked: Mapping[str, Any], messages: list[Any], functions: Functions
) -> str:
    """Ask, carry out what is called, until there is an answer."""
    for _ in range(5):
        reply = await client.chat.completions.create(messages=messages, **asked)
        said = reply.choices[0].message
        if not said.tool_calls:
            return said.content or ""
        results = [await _result(call, functions) for call in said.tool_calls]
        messages = [*messages, said.model_dump(exclude_none=True), *results]
    return "I give up."


async def _result(call: Any, functions: Functions) -> dict[str, str]:
    try:
        result = functions[call.function.name](**json.loads(call.function.arguments))
        text = str(await result if inspect.isawaitable(result) else result)
    except Exception as error:
        text = f"Error: {error}"
    return {"role": "tool", "tool_call_id": call.id, "content": text}


def _asked(tools: Iterable[ToolSpec], model: str = "sim-large", **settings: Any) -> dict[str, Any]:
    offered = [tool.to_openai() for tool in tools]
    return {"model": model, **settings, **({"tools": offered} if offered else {})}


def _system(text: str) -> dict[str, str]:
    return {"role": "system", "content": text}


def _user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}
