"""Agents in the loops of Anthropic Messages and OpenAI Responses, and a service with scripted replies."""

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pytest
from aiohttp import web

from agentmut.adapters.anthropic import AnthropicAdapter
from agentmut.adapters.openai import OpenAIAdapter
from agentmut.nouns.config import AgentConfig, Document, ModelConfig
from agentmut.nouns.execution import Execution
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.recording.threads import TrialThreads
from agentmut.seams.protocols.adapter import Adapter, AgentSpec
from agentmut.trial.single_run import Case, attempt
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.codecs import all_codecs
from tests.loopback import ANY_PATH, served

LOOP = asyncio.new_event_loop()
LOOP.set_default_executor(TrialThreads())


@dataclass
class Scripted:
    """Gives one prepared body after the other, the last one again and again: an object, or events of a stream."""

    url: str = ""
    script: list[Any] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)

    async def handle(self, http: web.Request) -> web.StreamResponse:
        self.paths.append(http.path)
        self.bodies.append(json.loads(await http.read()))
        answer = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(answer, dict):
            return web.json_response(answer)
        events = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in answer)
        return web.Response(text="".join(events), content_type="text/event-stream")


@contextmanager
def scripted_service(loop_thread: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scripted]:
    """Yield a service on loopback that both SDKs ask, while the tools of the agents can be imported."""
    service = Scripted()
    module = ModuleType("other_loop_tools")
    module.__dict__["FUNCTIONS"] = [look_up]
    monkeypatch.setitem(sys.modules, "other_loop_tools", module)
    with served(loop_thread, {ANY_PATH: service.handle}) as address:
        service.url = address
        monkeypatch.setenv("OPENAI_BASE_URL", f"{address}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
        yield service


def look_up(order: str) -> dict[str, str]:
    """Look up an order by its number."""
    if order == "?":
        raise LookupError("no such order")
    return {"order": order, "status": "on its way"}


SCHEMA = {
    "type": "object",
    "properties": {"order": {"title": "Order", "type": "string"}},
    "required": ["order"],
}
CONFIG = AgentConfig(
    prompt="You help customers.",
    model=ModelConfig(name="m-1", temperature=0.7, top_p=0.9),
    context=(Document(name="policy", text="Gifts are final."),),
)
SYSTEM = 'You help customers.\n\n<document name="policy">\nGifts are final.\n</document>'


def anthropic(stream: bool = False, **changes: Any) -> Any:
    spec = AgentSpec(adapter="anthropic", functions="other_loop_tools:FUNCTIONS", stream=stream)
    return AnthropicAdapter.create(spec, CONFIG.model_copy(update=changes))


def responses(stream: bool = False, **changes: Any) -> Any:
    spec = AgentSpec(adapter="openai", functions="other_loop_tools:FUNCTIONS", api="responses", stream=stream)
    return OpenAIAdapter.create(spec, CONFIG.model_copy(update=changes))


def run(adapter: Adapter, *turns: Any) -> Execution:
    async def once() -> Execution:
        scenario = Scenario(name="s", turns=turns or ("Hi",), evaluators=(EvaluatorSpec(name="x"),))
        with Tap(all_codecs()).installed():
            return await attempt(adapter, Case(scenario, {}), "t1", 0, 600.0)

    found: Execution = LOOP.run_until_complete(once())
    return found


def message(*content: Any, stop: str = "end_turn") -> dict[str, Any]:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 3}
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m-1-exact", "content": list(content),
        "stop_reason": stop, "stop_sequence": None, "usage": usage,
    }  # fmt: skip


def use(number: int, order: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": "look_up", "input": {"order": order}}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def message_stream(whole: dict[str, Any]) -> list[dict[str, Any]]:
    """As the service streams it: an opened block, its deltas, its end; text and arguments in two pieces."""
    start = {**whole, "content": [], "stop_reason": None, "usage": {**whole["usage"], "output_tokens": 1}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(whole["content"]):
        is_text = block["type"] == "text"
        written = block["text"] if is_text else json.dumps(block["input"])
        opened = {**block, "text": ""} if is_text else {**block, "input": {}}
        events.append({"type": "content_block_start", "index": index, "content_block": opened})
        for piece in (written[:3], written[3:]):
            kind, key = ("text_delta", "text") if is_text else ("input_json_delta", "partial_json")
            delta = {"type": kind, key: piece}
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ended, "usage": {"output_tokens": 3}})
    return [*events, {"type": "message_stop"}]


streams = pytest.mark.parametrize("stream", [False, True])


def response(*output: Any, status: str = "completed", **fields: Any) -> dict[str, Any]:
    usage = {
        "input_tokens": 7,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 3,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 10,
    }
    return {
        "id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": "m-1-exact",
        "output": list(output), "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
        "usage": usage, "error": None, "incomplete_details": None, "instructions": None, "metadata": {},
        "temperature": 1.0, "top_p": 1.0, **fields,
    }  # fmt: skip


def spoken(said: str, kind: str = "output_text", key: str = "text") -> dict[str, Any]:
    content = {"type": kind, key: said, **({"annotations": []} if key == "text" else {})}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [content],
    }


def function_call(number: int, arguments: str) -> dict[str, Any]:
    return {
        "id": f"fc_{number}", "type": "function_call", "call_id": f"call_{number}", "name": "look_up",
        "arguments": arguments, "status": "completed",
    }  # fmt: skip


def response_stream(whole: dict[str, Any]) -> list[dict[str, Any]]:
    """The events that carry the whole response; those in between are for showing it as it comes."""
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    ended = f"response.{whole['status']}"
    return [
        {"type": "response.created", "sequence_number": 0, "response": begun},
        {"type": ended, "sequence_number": 1, "response": whole},
    ]
