"""An agent on LiteLLM: a loop of our own around `acompletion`."""

import json

import litellm

from examples.libraries.tools import PROMPT, look_up_order

PARAMETERS = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
FUNCTION = {"name": "look_up_order", "description": look_up_order.__doc__, "parameters": PARAMETERS}


async def run(text: str) -> str:
    """Ask until there is an answer, at most five times."""
    messages = [{"role": "system", "content": PROMPT}, {"role": "user", "content": text}]
    for _ in range(5):
        tools = [{"type": "function", "function": FUNCTION}]
        reply = await litellm.acompletion(model="openai/sim-large", messages=messages, tools=tools)
        said = reply.choices[0].message
        if not said.tool_calls:
            return said.content or ""
        messages.append(said.model_dump(exclude_none=True))
        for call in said.tool_calls:
            result = look_up_order(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return "I give up."
