"""Chat requests of an agent with three tools, rewritten for a mutant of it."""

import json
from typing import Any

import pytest

from agentmut.nouns.codec import HttpCall
from agentmut.nouns.config import AgentConfig, Document, ModelConfig
from agentmut.nouns.faults import FaultKind, ToolFault
from agentmut.nouns.messages import Message, ModelReply, ModelRequest, Role, ToolCall
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Usage
from agentmut.wire.codecs import all_codecs
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions
from agentmut.wire.rewriting.rewriter import ConfigRewriter

CHAT = ChatCompletions()


PATH = "/v1/chat/completions"


every_codec = pytest.mark.parametrize("codec", all_codecs(), ids=lambda codec: codec.name)


FIND = ToolSpec(name="find", description="Find an order.")


PAY = ToolSpec(name="pay", description="Pay money back.")


MAIL = ToolSpec(name="mail", description="Send a mail.")


PROMPT = "You are the clerk of a shop.\n\n- Always ask for the order number.\n- Never promise a date.\n"


BASE = AgentConfig(prompt=PROMPT, tools=(FIND, PAY), model=ModelConfig(name="sim-large", temperature=0.5))


def call(body: dict[str, Any]) -> HttpCall:
    return HttpCall(PATH, json.dumps(body, indent=1).encode())


def chat(*messages: dict[str, Any], tools: tuple[ToolSpec, ...] = (), **fields: Any) -> dict[str, Any]:
    offered = {"tools": [tool.to_openai() for tool in tools]} if tools else {}
    return {"model": "sim-large", "messages": list(messages), **offered, **fields}


def said(role: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **fields}


def asked_tool(name: str, call_id: str = "c1") -> dict[str, Any]:
    function = {"name": name, "arguments": "{}"}
    made = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [made]}


def answered(text: Any, call_id: str = "c1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def mutated(**update: Any) -> AgentConfig:
    return BASE.model_copy(update=update)


def rewritten(base: AgentConfig, after: AgentConfig, body: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ConfigRewriter(base, after).request(CHAT, call(body)).call.body)
    return found


def system_of(after_prompt: str, system: str, base_prompt: str = PROMPT) -> str:
    base = AgentConfig(prompt=base_prompt)
    body = chat(said("system", system), said("user", "Hello."))
    found = rewritten(base, AgentConfig(prompt=after_prompt), body)
    return str(found["messages"][0]["content"])


def names(body: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in body.get("tools", ())]


ONE = Document(name="one", text="Refunds take a day.")


def renamed(tool: ToolSpec, name: str) -> ToolSpec:
    return tool.model_copy(update={"name": name, "implemented_by": tool.name})


DECOY = ToolSpec(name="find_v2", description="Find. (new version)", fault=ToolFault(kind=FaultKind.DECOY))


def calling(*tools: str, text: str = "", first: int = 1) -> ModelReply:
    made = tuple(ToolCall(id=f"c{n}", name=name, arguments="{}") for n, name in enumerate(tools, first))
    usage = Usage(input_tokens=7, output_tokens=3)
    finish = "tool_calls" if made else "stop"
    return ModelReply(model="sim-large", text=text, tool_calls=made, finish_reason=finish, usage=usage)


def tool_messages(*tools: str) -> tuple[Message, ...]:
    made = tuple(ToolCall(id=f"h{n}", name=name, arguments="{}") for n, name in enumerate(tools))
    results = (Message(role=Role.TOOL, text="{}", tool_call_id=call.id) for call in made)
    return (Message(role=Role.ASSISTANT, tool_calls=made), *results)


def turn(
    earlier: tuple[Message, ...] = (), *, stream: bool = False, tools: tuple[ToolSpec, ...] = (FIND, PAY)
) -> ModelRequest:
    messages = (
        Message(role=Role.SYSTEM, text=PROMPT),
        Message(role=Role.USER, text="Where is it?"),
        *earlier,
    )
    return ModelRequest(model="sim-large", messages=messages, tools=tools, stream=stream)


def fault(kind: FaultKind, seconds: float = 0.0) -> AgentConfig:
    return mutated(tools=(FIND.model_copy(update={"fault": ToolFault(kind=kind, seconds=seconds)}), PAY))
