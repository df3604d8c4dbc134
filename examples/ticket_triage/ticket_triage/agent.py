"""The tool loop. Everything that can be mutated is taken from the config, at call time."""

import json
from typing import Any

from openai import AsyncOpenAI

import agentmut
from agentmut import AgentConfig
from ticket_triage.tools import TOOLS


async def run(config: AgentConfig, ticket: str) -> str:
    """Answer one ticket. Endpoint and key come from OPENAI_BASE_URL and OPENAI_API_KEY."""
    functions = agentmut.toolbox(config, TOOLS)
    messages: list[Any] = [
        {"role": "system", "content": config.system_text()},
        {"role": "user", "content": ticket},
    ]
    async with AsyncOpenAI(max_retries=0) as client:
        for step in range(int(str(config.orchestration.get("max_steps", 6)))):
            asked = await client.chat.completions.create(messages=messages, **_request(config, step))
            said = asked.choices[0].message
            if not said.tool_calls:
                return said.content or ""
            messages.append(said.model_dump(exclude_none=True))
            messages += [_answered(functions, call) for call in said.tool_calls]
    return "I could not finish this ticket."


def _request(config: AgentConfig, step: int) -> dict[str, Any]:
    """Return the settings of a request; a tool is demanded in the first one only."""
    settings = config.model.model_dump(exclude_defaults=True, exclude={"name", "provider", "tool_choice"})
    if config.model.tool_choice and step == 0:
        settings["tool_choice"] = config.model.tool_choice
    tools = [tool.to_openai() for tool in config.tools]
    return {"model": config.model.name, **({"tools": tools} if tools else {}), **settings}


def _answered(functions: Any, call: Any) -> dict[str, Any]:
    """Carry out one call. The model is told what goes wrong."""
    try:
        result = functions[call.function.name](**json.loads(call.function.arguments))
    except Exception as error:
        result = {"error": str(error)}
    return {"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)}
