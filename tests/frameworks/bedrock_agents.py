"""Agents on Bedrock Converse, as a user writes them: functions for the ready loop, and a loop of one's own."""

import asyncio
import functools
import uuid
from typing import Any

from tests.frameworks.order_tools import FUNCTIONS, MARKED, PROMPT, look_up_order, order_tool, stock_tool

__all__ = ["FUNCTIONS", "order_tool", "stock_tool"]  # which specs name, and whose calls can be doubled


async def refund_order(order_id: str) -> str:
    """Issue the refund of an order."""
    return f"The money for {order_id} is on its way."


STEPS = (look_up_order, refund_order)
BY_PATH = {"GET /orders/{order_id}": look_up_order}
TOOLS = [
    {
        "toolSpec": {
            "name": "look_up_order",
            "description": "Look up an order by its number.",
            "inputSchema": {
                "json": {
                    "type": "object",
                    "properties": {"order_id": {"type": "string"}},
                    "required": ["order_id"],
                }
            },
        }
    },
    {
        "toolSpec": {
            "name": "check_stock",
            "description": "Find out how many pieces of an article are left.",
            "inputSchema": {"json": {"type": "object", "properties": {"article": {"type": "string"}}}},
        }
    },
]


def run(text: str) -> str:
    """Two agents: one says what the message is about, the other answers it with tools."""
    import boto3

    client = boto3.client("bedrock-runtime")
    _asked(client, "Name the topic of the message in one word.", [_user(text)], {})
    return converse(client, PROMPT, [_user(text)])


def converse(client: Any, system: str, messages: list[Any]) -> str:
    """Ask, carry out what is called, until there is an answer."""
    for _ in range(5):
        message = _asked(client, system, messages, {"toolConfig": {"tools": TOOLS}})["output"]["message"]
        uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
        if not uses:
            return "".join(block.get("text", "") for block in message["content"])
        messages = [*messages, message, {"role": "user", "content": list(map(_answer, uses))}]
    return "I give up."


@functools.cache
def client() -> Any:
    """A client of bedrock-runtime; it takes long to make, and serves any number of runs."""
    import boto3

    return boto3.client("bedrock-runtime")


@functools.cache
def agent_client() -> Any:
    """A client of bedrock-agent-runtime."""
    import boto3

    return boto3.client("bedrock-agent-runtime")


async def direct(agent: Any, text: str) -> str:
    """The agent by boto3 alone; `agent` is a client of bedrock-runtime."""
    return await asyncio.to_thread(converse, agent, PROMPT, [_user(text)])


async def direct_inline(agent: Any, text: str) -> str:
    """The same two tools of an inline agent by boto3 alone; `agent` is a client of bedrock-agent-runtime."""
    return await asyncio.to_thread(_inline, agent, text)


def _inline(client: Any, text: str) -> str:
    functions = [_function(tool["toolSpec"]) for tool in TOOLS]
    group = {
        "actionGroupName": "tools",
        "actionGroupExecutor": {"customControl": "RETURN_CONTROL"},
        "functionSchema": {"functions": functions},
    }
    agent = {"foundationModel": "sim-large", "instruction": PROMPT, "actionGroups": [group]}
    session = uuid.uuid4().hex
    more: dict[str, Any] = {"inputText": text}
    for _ in range(5):
        events = client.invoke_inline_agent(sessionId=session, enableTrace=True, **agent, **more)[
            "completion"
        ]
        said, control = b"", None
        for event in events:
            said += event.get("chunk", {}).get("bytes", b"")
            control = event.get("returnControl") or control
        if control is None:
            return said.decode()
        results = [_handed_back(one["functionInvocationInput"]) for one in control["invocationInputs"]]
        state = {"invocationId": control["invocationId"], "returnControlInvocationResults": results}
        more = {"inlineSessionState": state}
    return "I give up."


def _function(tool: dict[str, Any]) -> dict[str, Any]:
    schema = tool["inputSchema"]["json"]
    needed = schema.get("required", [])
    parameters = {key: {**value, "required": key in needed} for key, value in schema["properties"].items()}
    return {"name": tool["name"], "description": tool["description"], "parameters": parameters}


def _handed_back(asked: dict[str, Any]) -> dict[str, Any]:
    text = MARKED[asked["function"]](**{one["name"]: one["value"] for one in asked["parameters"]})
    kept = {key: asked[key] for key in ("actionGroup", "function")}
    return {"functionResult": {**kept, "responseBody": {"TEXT": {"body": text}}}}


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"text": text}]}


def _asked(client: Any, system: str, messages: list[Any], more: dict[str, Any]) -> Any:
    return client.converse(modelId="sim-large", system=[{"text": system}], messages=messages, **more)


def _answer(use: dict[str, Any]) -> dict[str, Any]:
    try:
        text, status = MARKED[use["name"]](**use["input"]), "success"
    except Exception as error:
        text, status = f"Error: {error}", "error"
    return {"toolResult": {"toolUseId": use["toolUseId"], "content": [{"text": text}], "status": status}}
