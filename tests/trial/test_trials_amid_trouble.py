"""A study: one request in five meets trouble of the service, and every trial still ends as without."""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import openai
import pytest

import agentmut
from agentmut.adapters.python_callable import CallableAdapter
from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.simulator.service.background import Simulator
from agentmut.simulator.service.service_settings import read_settings
from agentmut.simulator.service.trouble import FaultKind, trouble_of
from agentmut.trial.executor import LocalExecutor, RetryingExecutor, RunSettings, TrialRequest
from agentmut.trial.pricing import Pricer
from agentmut.trial.single_run import Case
from agentmut.trial.suite_config import SuiteConfig

PROMPT = """You work in a garden.
- You must look a plant up before you answer questions about it.
- You should say "happy growing".
- You may mention the weather."""
ASKED = "How moist is plant P-77?"
CONFIG = AgentConfig(prompt=PROMPT, model=ModelConfig(name="sim-small"))
SCENARIO = Scenario(name="s", turns=(ASKED,), evaluators=(EvaluatorSpec(name="contains", argument="81"),))
SCHEMA: Any = {
    "type": "object",
    "properties": {"plant": {"type": "string", "description": "Number such as P-12"}},
    "required": ["plant"],
}
TRIALS = 20
PATIENCE = 2.0
RATES = {kind: 0.005 if kind is FaultKind.HANG else 0.024375 for kind in FaultKind}


@agentmut.tool
def look_up_plant(plant: str) -> str:
    return json.dumps({"plant": plant, "moisture": 81})


Agent = Callable[[AgentConfig, Any], Awaitable[str]]


def chat_agent(simulator: Simulator, *, stream: bool) -> Agent:
    function = {
        "name": "look_up_plant",
        "description": "Look up a plant: how moist it is",
        "parameters": SCHEMA,
    }
    tools: Any = [{"type": "function", "function": function}]

    async def completion(sdk: openai.AsyncOpenAI, **asked: Any) -> Any:
        if not stream:
            return (await sdk.chat.completions.create(**asked)).choices[0].message
        async with sdk.chat.completions.stream(**asked) as events:
            return (await events.get_final_completion()).choices[0].message

    async def agent(config: AgentConfig, given: Any) -> str:
        said: Any = [{"role": "system", "content": config.prompt}, {"role": "user", "content": given}]
        url = simulator.openai_base_url
        http = openai.DefaultAsyncHttpxClient(verify=False, timeout=PATIENCE)  # no certificates to load
        async with openai.AsyncOpenAI(base_url=url, api_key="k", max_retries=0, http_client=http) as sdk:
            for _ in range(6):
                message = await completion(sdk, model=config.model.name, messages=said, tools=tools)
                if not message.tool_calls:
                    return str(message.content)
                said.append(
                    {"role": "assistant", "tool_calls": [call.model_dump() for call in message.tool_calls]}
                )
                for call in message.tool_calls:
                    result = look_up_plant(**json.loads(call.function.arguments))
                    said.append({"role": "tool", "tool_call_id": call.id, "content": result})
        raise AssertionError("no end")

    return agent


def claude_agent(simulator: Simulator, *, stream: bool) -> Agent:
    import anthropic  # slow

    tools: Any = [
        {"name": "look_up_plant", "description": "Look up a plant: how moist it is", "input_schema": SCHEMA}
    ]

    async def completion(sdk: anthropic.AsyncAnthropic, **asked: Any) -> Any:
        if not stream:
            return await sdk.messages.create(**asked)
        async with sdk.messages.stream(**asked) as events:
            return await events.get_final_message()

    async def agent(config: AgentConfig, given: Any) -> str:
        said: Any = [{"role": "user", "content": given}]
        url = simulator.anthropic_base_url
        http = anthropic.DefaultAsyncHttpxClient(verify=False, timeout=PATIENCE)
        async with anthropic.AsyncAnthropic(
            base_url=url, api_key="k", max_retries=0, http_client=http
        ) as sdk:
            for _ in range(6):
                asked = {
                    "model": config.model.name,
                    "system": config.prompt,
                    "messages": said,
                    "tools": tools,
                }
                message = await completion(sdk, max_tokens=1000, **asked)
                calls = [block for block in message.content if block.type == "tool_use"]
                if not calls:
                    return "".join(block.text for block in message.content)
                results = [
                    {"type": "tool_result", "tool_use_id": call.id, "content": look_up_plant(**call.input)}
                    for call in calls
                ]
                said += [
                    {"role": "assistant", "content": message.content},
                    {"role": "user", "content": results},
                ]
        raise AssertionError("no end")

    return agent


def run(agent: Agent) -> list[Execution]:
    inner = LocalExecutor(
        CallableAdapter(agent, CONFIG),
        SuiteConfig(CONFIG, [SCENARIO]),
        {"s": Case(SCENARIO, {})},
        Pricer({}),
        RunSettings(timeout=600.0),
    )
    executor = RetryingExecutor(inner, retries=12, wait=0.001)

    async def all_of_them() -> list[Execution]:
        async with executor.session():
            requests = [TrialRequest(None, "s", f"trial-{number}") for number in range(TRIALS)]
            return await asyncio.gather(*map(executor.execute, requests))

    return asyncio.run(all_of_them())


@pytest.mark.parametrize(("make", "stream"), [(chat_agent, False), (chat_agent, True), (claude_agent, True)])
def test_no_trouble_of_the_service_becomes_an_outcome(make: Any, stream: bool) -> None:
    trouble = trouble_of((f"{kind}:{rate}" for kind, rate in RATES.items()), seed=1, retry_after=0.0)
    with Simulator(read_settings(seed=5)) as clean, Simulator(read_settings(seed=5, trouble=trouble)) as bad:
        expected, found = run(make(clean, stream=stream)), run(make(bad, stream=stream))
        met = Counter(received.fault for received in bad.requests)
    assert [(e.ending, e.trace.text) for e in found] == [(e.ending, e.trace.text) for e in expected]
    assert [e.trace.tools_called for e in found] == [e.trace.tools_called for e in expected]
    assert {e.ending for e in found} == {Ending.ANSWERED}
    passes = ["81" in e.trace.text for e in expected]
    assert len(set(passes)) == 2  # the model is fallible: some trials pass, some do not
    assert max(e.attempts for e in found) > 1
    assert sum(met.values()) - met[None] > 5
    assert sum(rate for rate in RATES.values()) == pytest.approx(0.2)
