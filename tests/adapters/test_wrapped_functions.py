"""Users' own functions that call an SDK, as they are: real SDKs, clients made at import, sync and async."""

import asyncio
import importlib.util
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from agentmut._base.errors import AdapterError, UsageError
from agentmut.adapters.anthropic import AnthropicAdapter
from agentmut.adapters.openai import OpenAIAdapter
from agentmut.adapters.python_callable import CallableAdapter
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import Action
from agentmut.seams.protocols.adapter import AgentSpec
from agentmut.trial.single_run import Case, attempt
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.codecs import all_codecs
from tests.loopback import served

AGENTS = Path(__file__).parents[1] / "testdata" / "sdk_agents.py"
CONFIG = AgentConfig(prompt="Be kind.")


@pytest.fixture
def claude_url(loop_thread: Any) -> Iterator[str]:
    async def handle(http: web.Request) -> web.Response:
        usage = {"input_tokens": 7, "output_tokens": 3}
        body = {"id": "1", "type": "message", "role": "assistant", "model": "m-1", "stop_reason": "end_turn"}
        content = [{"type": "text", "text": "Bonjour."}]
        return web.json_response({**body, "stop_sequence": None, "content": content, "usage": usage})

    with served(loop_thread, {"/v1/messages": handle}) as address:
        yield address


@pytest.fixture(autouse=True)
def agents(service: Any, claude_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", service.url)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", claude_url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    spec = importlib.util.spec_from_file_location("sdk_agents", AGENTS)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(sys.modules, "sdk_agents", module)


Create = Callable[[AgentSpec, AgentConfig], Any]


def made(create: Create, name: str, **keys: Any) -> Any:
    return create(AgentSpec(adapter="x", run=f"sdk_agents:{name}", **keys), CONFIG)


def run(adapter: Any, *turns: Any) -> Execution:
    async def once() -> Execution:
        scenario = Scenario(name="s", turns=turns or ("Hi",), evaluators=(EvaluatorSpec(name="x"),))
        with Tap(all_codecs()).installed():
            return await attempt(adapter, Case(scenario, {}), "t1", 0, 600.0)

    return asyncio.run(once())


@pytest.mark.parametrize(
    ("create", "name", "said"),
    [
        (OpenAIAdapter.create, "answer", "Hello."),
        (OpenAIAdapter.create, "streamed", "Hello."),
        (OpenAIAdapter.create, "later", "Hello."),
        (OpenAIAdapter.create, "configured", "Be kind. Hello."),
        (CallableAdapter.create, "later", "Hello."),
        (AnthropicAdapter.create, "claude", "Bonjour."),
    ],
)
def test_a_function_runs_as_it_is_and_its_requests_are_seen(create: Create, name: str, said: str) -> None:
    found = run(made(create, name))
    assert (found.ending, found.trace.output) == (Ending.ANSWERED, said)
    assert len(found.footprint.requests) == 1 and "Be kind." in found.footprint.requests[0].text
    assert [step.action for step in found.trace.steps] == [Action.REASON, Action.RESPOND]


def test_mutants_reach_wrapped_functions_on_the_wire(service: Any) -> None:
    assert made(OpenAIAdapter.create, "configured").default_route == "wire"
    assert made(AnthropicAdapter.create, "claude").default_route == "wire"
    assert made(CallableAdapter.create, "answer").default_route == "wire"
    assert made(CallableAdapter.create, "configured").default_route == "rebuild"
    assert set(made(OpenAIAdapter.create, "answer").versions()) == {"openai"}
    assert set(made(AnthropicAdapter.create, "answer").versions()) == {"anthropic"}
    assert made(CallableAdapter.create, "answer").versions() == {}
    kept = made(OpenAIAdapter.create, "answer").with_config(AgentConfig(prompt="Other."))
    assert kept.default_route == "wire" and run(kept).trace.output == "Hello."


def test_several_turns_come_as_a_list(service: Any) -> None:
    run(made(OpenAIAdapter.create, "answer"), "One", "Two")
    assert service.requests[0].messages[-1].text == "['One', 'Two']"


@pytest.mark.parametrize(
    ("name", "keys", "said"),
    [
        ("answer", {"route": "rebuild"}, "takes the input alone, so it cannot be built anew"),
        ("answer", {"stream": True}, "agent.stream is for the ready tool loop"),
        ("answer", {"api": "responses"}, "agent.api is for the ready tool loop"),
        ("no_place", {}, r"must take \(config, input\), or the input alone"),
    ],
)
def test_what_cannot_be_wrapped_is_said_at_once(name: str, keys: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        made(OpenAIAdapter.create, name, **keys)


@pytest.mark.parametrize("adapter, package", [(OpenAIAdapter, "openai"), (AnthropicAdapter, "anthropic")])
def test_only_the_ready_loop_needs_the_version_that_it_was_written_for(
    adapter: Any, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "version", lambda _: "1.40.0")
    own = AgentSpec(adapter=package, run="sdk_agents:answer", root=str(AGENTS.parent))
    assert adapter.create(own, CONFIG).versions() == {package: "1.40.0"}
    with pytest.raises(AdapterError, match=r"for its tool loop .*agent\.run.*found 1\.40\.0"):
        adapter.create(AgentSpec(adapter=package), CONFIG)
