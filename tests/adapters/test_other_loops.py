"""The ready loops on OpenAI Responses and Anthropic Messages: the real SDKs against a scripted service."""

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pytest
from aiohttp import web

from agentmut._base.errors import UsageError
from agentmut.adapters.anthropic import AnthropicAdapter
from agentmut.adapters.openai import OpenAIAdapter
from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig, Document, History, ModelConfig
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.mutant import Edit, Mutant, OperatorClass
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import Action, Usage
from agentmut.recording.threads import TrialThreads
from agentmut.seams.plugins import Catalogue
from agentmut.seams.protocols.adapter import Adapter, AgentSpec
from agentmut.seams.protocols.operator import OnDemand, OperatorOptions
from agentmut.trial.single_run import Case, attempt
from agentmut.trial.witness.witness import Detector
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


@pytest.fixture
def scripted(loop_thread: Any) -> Iterator[Scripted]:
    found = Scripted()

    with served(loop_thread, {ANY_PATH: found.handle}) as address:
        found.url = address
        yield found


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


@pytest.fixture(autouse=True)
def environment(scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("other_loop_tools")
    module.__dict__["FUNCTIONS"] = [look_up]
    monkeypatch.setitem(sys.modules, "other_loop_tools", module)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{scripted.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", scripted.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")


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


@streams
def test_anthropic_asks_calls_at_once_and_answers(scripted: Scripted, stream: bool) -> None:
    asked = message(text("Let me see."), use(1, "A-1"), use(2, "?"), stop="tool_use")
    given = [asked, message(text("On its way."))]
    scripted.script = [message_stream(one) if stream else one for one in given]
    found = run(anthropic(stream), "Where?")
    assert (found.ending, found.trace.output) == (Ending.ANSWERED, "On its way.")
    first, second = scripted.bodies
    assert set(scripted.paths) == {"/v1/messages"}
    assert (first["system"], first["max_tokens"], first["model"]) == (SYSTEM, 1024, "m-1")
    assert (first["temperature"], first["top_p"]) == (0.7, 0.9)
    assert first["messages"] == [{"role": "user", "content": "Where?"}]
    assert first["tools"] == [
        {"name": "look_up", "description": "Look up an order by its number.", "input_schema": SCHEMA}
    ]
    assert "tool_choice" not in first and "stop_sequences" not in first
    assert second["messages"][1] == {"role": "assistant", "content": asked["content"]}
    assert second["messages"][2] == {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "toolu_1",
                "content": '{"order": "A-1", "status": "on its way"}',
            },
            {
                "type": "tool_result",
                "tool_use_id": "toolu_2",
                "content": "Error: LookupError: no such order",
                "is_error": True,
            },
        ],
    }
    calls = {(s.call_id, s.error) for s in found.trace.tool_calls}
    assert calls == {("toolu_1", None), ("toolu_2", "LookupError: no such order")}
    reason = found.trace.steps[0]
    assert (reason.model, reason.usage) == (
        "m-1-exact",
        Usage(input_tokens=7, output_tokens=3, cached_tokens=2),
    )


def test_every_setting_reaches_anthropic_in_its_own_terms(scripted: Scripted) -> None:
    scripted.script = [message(text("{}"))]
    model = ModelConfig(
        name="m-1",
        temperature=1.0,
        top_p=0.5,
        max_tokens=77,
        stop=("END",),
        reasoning_effort="low",
        tool_choice={"type": "function", "function": {"name": "look_up"}},
        response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}},
    )
    run(anthropic(model=model))
    sent = scripted.bodies[0]
    assert (sent["temperature"], sent["top_p"], sent["max_tokens"]) == (1.0, 0.5, 77)
    assert sent["stop_sequences"] == ["END"] and sent["tool_choice"] == {"type": "tool", "name": "look_up"}
    assert sent["output_config"] == {
        "effort": "low",
        "format": {"type": "json_schema", "schema": {"type": "object"}},
    }


@pytest.mark.parametrize(
    ("make", "model", "said"),
    [
        (anthropic, {"seed": 1}, "the Anthropic Messages API has no seed 1"),
        (anthropic, {"response_format": {"type": "json_object"}}, "has no response_format"),
        (anthropic, {"temperature": 1.5}, "takes temperatures up to 1, not 1.5"),
        (anthropic, {"reasoning_effort": "minimal"}, "has no reasoning_effort 'minimal'"),
        (responses, {"seed": 1}, "the Responses API has no seed"),
        (responses, {"stop": ("END",)}, "the Responses API has no stop"),
    ],
)
def test_settings_that_the_api_lacks_are_refused_and_not_dropped(make: Any, model: Any, said: str) -> None:
    changed = CONFIG.model.model_copy(update=model)
    with pytest.raises(UsageError, match=said):
        make(model=changed)
    name, value = next(iter(model.items()))
    after = list(value) if isinstance(value, tuple) else value
    before = CONFIG.model.model_dump(mode="json")[name]
    edit = Edit(pointer=f"/model/{name}", before=before, after=after)
    mutant = Mutant(
        id="m", operator="model.x", version=1, operator_class=OperatorClass.MODEL, intent="degrade",
        reach="sent", description="d", edits=(edit,),
    )  # fmt: skip
    assert said in make().cannot_express(mutant)


def test_anthropic_stops_and_refusals(scripted: Scripted) -> None:
    scripted.script = [message(text("It is o"), stop="max_tokens")]
    found = run(anthropic())
    assert (found.trace.output, found.trace.steps[-1].error) == (
        "It is o", "the answer was cut off: max_tokens"
    )  # fmt: skip
    scripted.script = [message(stop="refusal")]
    found = run(anthropic())
    assert found.ending is Ending.EMPTY_ANSWER
    assert found.trace.steps[-1].error == "the answer was cut off: the model refused"
    scripted.script = [message(text("Wait."), stop="pause_turn"), message(text("Done."))]
    assert run(anthropic()).trace.output == "Done."
    scripted.script = [message_stream(message(text("It is on")))[:3]]
    assert run(anthropic(stream=True)).ending is Ending.INFRASTRUCTURE


@pytest.mark.parametrize(
    ("history", "seen"),
    [
        (History.KEPT, [("user", "One"), ("assistant", [text("First.")]), ("user", "Two")]),
        (History.DROPPED, [("user", "Two")]),
        (History.SWAPPED, [("assistant", "One"), ("user", "First."), ("user", "Two")]),
    ],
)
def test_anthropic_is_given_the_earlier_turns_as_the_config_says(
    scripted: Scripted, history: History, seen: Any
) -> None:
    scripted.script = [message(text("First.")), message(text("Second."))]
    run(anthropic(history=history), "One", "Two")
    assert [(m["role"], m["content"]) for m in scripted.bodies[1]["messages"]] == seen


def test_anthropic_without_a_key_runs_nothing(scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("HOME", "/nonexistent")
    found = run(anthropic())
    assert found.ending is Ending.UNBUILDABLE and "Set ANTHROPIC_API_KEY" in found.reason
    assert not scripted.bodies


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


@streams
def test_responses_asks_calls_at_once_and_answers(scripted: Scripted, stream: bool) -> None:
    asked = response(function_call(1, '{"order": "A-1"}'), function_call(2, '{"order"'))
    given = [asked, response(spoken("On its way."))]
    scripted.script = [response_stream(one) if stream else one for one in given]
    found = run(responses(stream), "Where?")
    assert (found.ending, found.trace.output) == (Ending.ANSWERED, "On its way.")
    first, second = scripted.bodies
    assert set(scripted.paths) == {"/v1/responses"}
    assert (first["instructions"], first["model"]) == (SYSTEM, "m-1")
    assert (first["temperature"], first["top_p"]) == (0.7, 0.9)
    assert first["input"] == [{"role": "user", "content": "Where?"}]
    assert first["tools"] == [
        {
            "type": "function",
            "name": "look_up",
            "description": "Look up an order by its number.",
            "parameters": SCHEMA,
            "strict": False,
        }
    ]
    assert second["input"][1:3] == asked["output"]
    assert second["input"][3]["output"] == '{"order": "A-1", "status": "on its way"}'
    assert [item["call_id"] for item in second["input"][3:]] == ["call_1", "call_2"]
    assert second["input"][4]["output"].startswith("Error: the arguments of 'look_up' are not JSON")
    reason = found.trace.steps[0]
    assert (reason.model, reason.usage) == ("m-1-exact", Usage(input_tokens=7, output_tokens=3))
    assert [step.action for step in found.trace.steps].count(Action.CALL_TOOL) == 2


def test_every_setting_reaches_responses_in_its_own_terms(scripted: Scripted) -> None:
    scripted.script = [response(spoken("{}"))]
    schema = {"name": "x", "schema": {"type": "object"}, "strict": True}
    model = ModelConfig(
        name="m-1",
        max_tokens=77,
        reasoning_effort="low",
        tool_choice={"type": "function", "function": {"name": "look_up"}},
        response_format={"type": "json_schema", "json_schema": schema},
    )
    run(responses(model=model))
    sent = scripted.bodies[0]
    assert (sent["max_output_tokens"], sent["reasoning"]) == (77, {"effort": "low"})
    assert sent["tool_choice"] == {"type": "function", "name": "look_up"}
    assert sent["text"] == {"format": {"type": "json_schema", **schema}}
    run(
        responses(
            model=ModelConfig(name="m-1", tool_choice="required", response_format={"type": "json_object"})
        )
    )
    assert (scripted.bodies[1]["tool_choice"], scripted.bodies[1]["text"]) == (
        "required", {"format": {"type": "json_object"}}
    )  # fmt: skip


def test_responses_stops_refusals_and_failures(scripted: Scripted) -> None:
    cut = {"incomplete_details": {"reason": "max_output_tokens"}}
    scripted.script = [response(spoken("It is o"), status="incomplete", **cut)]
    found = run(responses())
    assert (found.trace.output, found.trace.steps[-1].error) == (
        "It is o", "the answer was cut off: max_tokens"
    )  # fmt: skip
    scripted.script = [response(spoken("I cannot.", "refusal", "refusal"))]
    assert run(responses()).trace.output == "I cannot."
    failed = response(status="failed", error={"code": "server_error", "message": "sorry"})
    scripted.script = [failed]
    assert "ResponseFailedError: server_error: sorry" in run(responses()).reason
    scripted.script = [response_stream(failed)]
    assert "server_error: sorry" in run(responses(stream=True)).reason
    scripted.script = [response_stream(response(spoken("It")))[:1]]
    assert run(responses(stream=True)).ending is Ending.INFRASTRUCTURE


def test_responses_keeps_the_conversation_itself(scripted: Scripted) -> None:
    scripted.script = [response(spoken("First.")), response(spoken("Second."))]
    found = run(responses(), "One", "Two")
    assert found.trace.outputs == ("First.", "Second.")
    assert scripted.bodies[1]["input"] == [
        {"role": "user", "content": "One"}, spoken("First."), {"role": "user", "content": "Two"}
    ]  # fmt: skip
    assert "previous_response_id" not in scripted.bodies[1]


def first_mutants(adapter: Any) -> dict[str, Mutant]:
    catalogue = Catalogue.from_group("operators")
    options = OperatorOptions(swap_models=("m-2",), slow_seconds=0.01)
    usual = [x for name in catalogue.names if not isinstance(x := catalogue.load(name)(), OnDemand)]
    found = generate(adapter.get_config(), usual, options)
    return {m.operator: m for m in reversed(found.mutants) if not adapter.cannot_express(m)}


Tool = Callable[[int, str], dict[str, Any]]


CALLS: dict[Any, Tool] = {
    anthropic: lambda number, order: message(use(number, order), stop="tool_use"),
    responses: lambda number, order: response(function_call(number, json.dumps({"order": order}))),
}
SAYS: dict[Any, Callable[[str], Any]] = {
    anthropic: lambda said: message(text(said)),
    responses: lambda said: response(spoken(said)),
}


@pytest.mark.parametrize("make", [anthropic, responses])
def test_mutants_of_every_class_arrive(make: Any, scripted: Scripted) -> None:
    call, say = CALLS[make], SAYS[make]
    adapter = make(history=History.KEPT)
    base = adapter.get_config()
    chosen = first_mutants(adapter)
    assert {name.partition(".")[0] for name in chosen} == {
        "prompt", "tool", "model", "context", "orchestration"
    }  # fmt: skip
    for mutant in chosen.values():
        scripted.script = [call(1, "A-1"), call(2, "B-2"), say("First."), say("Second.")]
        found = run(adapter.with_config(mutant.apply(base)), "One", "Two")
        assert Detector(mutant, base).witness(found.footprint), (mutant.operator, found)
