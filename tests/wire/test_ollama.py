"""Bodies are written by hand as Ollama's reference shows them; the real client is led through proxy and process."""

import asyncio
import json
from contextlib import ExitStack
from typing import Any

import pytest

from agentmut._base import UsageError
from agentmut.nouns.codec import Codec, HttpCall
from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.messages import ModelRequest, Role, ToolCall
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Action, Usage
from agentmut.recording.current import running
from agentmut.recording.trial import Trial
from agentmut.simulator.service.background import Simulator
from agentmut.simulator.service.service_settings import read_settings
from agentmut.wire.carriers.proxy.roster import Everyone
from agentmut.wire.carriers.proxy.server import Proxy
from agentmut.wire.carriers.proxy.upstream import doors_of
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.codecs import all_codecs
from agentmut.wire.dialects.ollama.ollama_chat import OllamaChat
from agentmut.wire.recorded import dialect_of
from agentmut.wire.rewriting.rewriter import ConfigRewriter
from agentmut.wire.steps import steps_from_exchanges

CODEC: Codec = OllamaChat()
SCHEMA = {"type": "object", "properties": {"plant": {"type": "string"}}, "required": ["plant"]}
TOOL = {
    "type": "function",
    "function": {"name": "water_plant", "description": "Water a plant", "parameters": SCHEMA},
}
CALL = {"function": {"name": "water_plant", "arguments": {"plant": "P-77"}}}
REQUEST: dict[str, Any] = {
    "model": "qwen3",
    "messages": [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "And this?", "images": ["aQ=="]},
        {"role": "assistant", "content": "", "thinking": "Hm.", "tool_calls": [CALL, CALL]},
        {"role": "tool", "content": "wet", "tool_name": "water_plant"},
        {"role": "tool", "content": "wetter"},
    ],
    "tools": [TOOL],
    "format": "json",
    "options": {"temperature": 0.5, "num_ctx": 4096, "num_predict": -1, "stop": "END"},
    "think": True,
    "keep_alive": "5m",
}


def read(body: dict[str, Any]) -> ModelRequest:
    return CODEC.decode_request(HttpCall("/api/chat", json.dumps(body).encode()))


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def test_a_request_is_read_and_streams_unless_it_says_otherwise() -> None:
    request = read(REQUEST)
    assert request.model == "qwen3" and request.stream and not read({**REQUEST, "stream": False}).stream
    assert (request.temperature, request.max_tokens, request.stop) == (0.5, None, ("END",))
    assert request.response_format == {"type": "json_object"} and request.reasoning_effort is None
    assert [message.role for message in request.messages[2:]] == [Role.ASSISTANT, Role.TOOL, Role.TOOL]
    first, second = request.messages[2].tool_calls
    assert (first.name, json.loads(first.arguments)) == ("water_plant", {"plant": "P-77"})
    assert first.id != second.id  # the same call twice: the second result has no name, and answers the second
    assert [message.tool_call_id for message in request.messages[3:]] == [first.id, second.id]


def test_a_stream_adds_up_to_its_lines() -> None:
    head = {"model": "qwen3", "created_at": "2026-01-01T00:00:00Z"}
    pieces = [
        {**head, "message": {"role": "assistant", "content": "", "thinking": "Hm"}, "done": False},
        {**head, "message": {"role": "assistant", "content": "Right"}, "done": False},
        {**head, "message": {"role": "assistant", "content": " away."}, "done": False},
        {**head, "message": {"role": "assistant", "content": "", "tool_calls": [CALL]}, "done": False},
    ]
    end = {**head, "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
    stream = lines(*pieces, {**end, "prompt_eval_count": 26, "eval_count": 7})
    reply = CODEC.decode_reply(stream)
    assert (reply.text, reply.finish_reason) == ("Right away.", "tool_calls")
    assert reply.usage == Usage(input_tokens=26, output_tokens=7)
    (call,) = reply.tool_calls
    followed = read(CODEC.continued(REQUEST, stream, {call.id: "wet"}))
    assert followed.messages[-2].tool_calls[0].arguments == call.arguments
    assert followed.messages[-1].tool_call_id == followed.messages[-2].tool_calls[0].id
    with pytest.raises(ValueError, match="cut off"):
        CODEC.decode_reply(lines(*pieces))
    with pytest.raises(ValueError, match="out of memory"):
        CODEC.decode_reply(lines(*pieces, {"error": "out of memory"}))


def test_a_setting_changes_alone_and_other_options_stay() -> None:
    call = HttpCall("/api/chat", b"")
    _, warm = CODEC.with_setting(call, REQUEST, "temperature", 1.0)
    assert warm == {**REQUEST, "options": {**REQUEST["options"], "temperature": 1.0}}
    assert CODEC.with_setting(call, REQUEST, "stop", ("END",))[1] is REQUEST
    _, other = CODEC.with_setting(call, REQUEST, "name", "llama3.2")
    assert other == {**REQUEST, "model": "llama3.2"}


def test_a_kept_body_is_known_by_the_keys_of_its_own() -> None:
    assert dialect_of(REQUEST) == "ollama_chat"
    assert dialect_of({"model": "m", "messages": [], "options": {}}) == "ollama_chat"
    assert dialect_of({"model": "m", "messages": [], "temperature": 1}) == "chat_completions"


@pytest.mark.parametrize(
    ("value", "base"),
    [
        ("", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:8000", "http://127.0.0.1:8000"),
        (":8000", "http://127.0.0.1:8000"),
        ("gpu-box", "http://gpu-box:11434"),
        ("[::1]", "http://[::1]:11434"),
        ("[::1]:8000/ollama", "http://[::1]:8000/ollama"),
        ("https://gpu-box.example", "https://gpu-box.example"),
    ],
)
def test_the_variable_may_name_a_host_alone(value: str, base: str) -> None:
    (door,) = (door for door in doors_of({"OLLAMA_HOST": value}) if door.service.name == "ollama")
    assert str(door.upstream.base).rstrip("/") == base
    assert door.variables("http://127.0.0.1:1/t/x")["OLLAMA_HOST"].startswith("http://127.0.0.1:1/t/x/ollama")


WATER = ToolSpec(name="water_plant", description="Water a plant", parameters=SCHEMA)
BASE = AgentConfig(
    prompt="You help in a garden.\n\nBe kind.",
    model=ModelConfig(name="sim-large", temperature=0.0),
    tools=(WATER,),
)
MUTANT = BASE.model_copy(
    update={
        "prompt": "You help in a garden.",
        "model": ModelConfig(name="sim-large", temperature=1.5),
        "tools": (WATER.model_copy(update={"description": ""}),),
    }
)


def test_a_path_of_that_name_that_is_another_programs_passes_as_it_is() -> None:
    said = [{"role": "system", "content": BASE.prompt}, {"role": "user", "content": "Hi"}]
    body = {"messages": said, "tools": [WATER.to_openai()]}
    rewriter, codec = ConfigRewriter(BASE, MUTANT), OllamaChat()
    call = HttpCall("/api/chat", json.dumps(body).encode())
    assert rewriter.request(codec, call).call is call
    own = HttpCall("/api/chat", json.dumps({**body, "model": "sim-large"}).encode())
    assert b"Be kind" not in rewriter.request(codec, own).call.body


async def agent(host: str, stream: bool) -> list[str]:
    """Water a plant by Ollama's own client; return the tools that it called."""
    ollama = pytest.importorskip("ollama")
    client, called = ollama.AsyncClient(host, verify=False), []
    said: list[Any] = [
        {"role": "system", "content": BASE.prompt},
        {"role": "user", "content": "Water plant P-77 please"},
    ]
    for _ in range(4):
        asked = {"model": "sim-large", "messages": said, "tools": [TOOL], "options": {"temperature": 0.0}}
        given = await client.chat(**asked, stream=stream)
        pieces = [piece async for piece in given] if stream else [given]
        calls = [call for piece in pieces for call in piece.message.tool_calls or ()]
        if not calls:
            break
        called += [call.function.name for call in calls]
        text = "".join(piece.message.content or "" for piece in pieces)
        said.append({"role": "assistant", "content": text, "tool_calls": calls})
        said += [{"role": "tool", "content": "81 %", "tool_name": call.function.name} for call in calls]
    return called


async def attempt(simulator: Simulator, trial: Trial, way: str, stream: bool) -> list[str]:
    if way == "in process":
        with ExitStack() as stack:
            stack.enter_context(Tap(all_codecs()).installed())
            stack.enter_context(running(trial))
            return await agent(simulator.of(trial.id).ollama_host, stream)
    doors = doors_of(simulator.environment)
    async with Proxy([door.upstream for door in doors], Everyone(lambda name: trial)).serving() as origin:
        (host,) = (d.variables(f"{origin}/t/{trial.id}") for d in doors if d.service.name == "ollama")
        return await agent(host["OLLAMA_HOST"], stream)


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
@pytest.mark.parametrize("way", ["in process", "by proxy"])
def test_the_real_client_is_made_a_mutant_and_seen(way: str, stream: bool) -> None:
    with Simulator(read_settings(seed=1)) as simulator:
        plain, changed = Trial("plain"), Trial("changed", rewriter=ConfigRewriter(BASE, MUTANT))
        for trial in (plain, changed):
            assert asyncio.run(attempt(simulator, trial, way, stream)) == ["water_plant"]
        for trial, config in ((plain, BASE), (changed, MUTANT)):
            seen = [request for found in simulator.requests_of(trial.id) if (request := found.request)]
            assert len(seen) == 2
            assert [exchange.request for exchange in trial.recorder.exchanges] == seen
            for request in seen:
                assert request.system_text.strip() == config.prompt
                assert request.temperature == config.model.temperature
                assert [tool.description for tool in request.tools] == [t.description for t in config.tools]
    steps = steps_from_exchanges(plain.recorder.exchanges, with_tools=True)
    (step,) = [step for step in steps if step.action is Action.CALL_TOOL]
    # the client drops the ids of calls; a result is found all the same
    assert (step.tool, step.arguments, step.output) == ("water_plant", {"plant": "P-77"}, "81 %")


def test_a_host_with_an_odd_port_is_said() -> None:
    with pytest.raises(UsageError, match=r"0\.0\.0\.0:99x"):
        doors_of({"OLLAMA_HOST": "0.0.0.0:99x"})


def test_an_id_that_a_service_gives_is_kept() -> None:
    body = {**REQUEST, "messages": [{"role": "assistant", "tool_calls": [{"id": "call_9", **CALL}]}]}
    assert read(body).messages[0].tool_calls == (
        ToolCall(id="call_9", name="water_plant", arguments='{"plant":"P-77"}'),
    )
