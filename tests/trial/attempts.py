"""Attempts to run an agent that asks a service on loopback, with real clients."""

import asyncio
from typing import Any

import openai

from agentmut.adapters.python_callable import CallableAdapter
from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.execution import Execution
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.project.schema import Price
from agentmut.trial.executor import Executor, LocalExecutor, RunSettings, TrialRequest
from agentmut.trial.pricing import Pricer
from agentmut.trial.single_run import Case, attempt
from agentmut.trial.suite_config import SuiteConfig
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions

CONFIG = AgentConfig(prompt="Be kind.", model=ModelConfig(name="sim-large"))


SCENARIO = Scenario(name="s", turns=("Hi",), evaluators=(EvaluatorSpec(name="contains", argument="x"),))


def end(function: Any, *, timeout: float = 600.0, **hooks: Any) -> Execution:
    """One attempt, watched."""

    async def once() -> Execution:
        case = Case(SCENARIO, hooks.pop("doubles", {}), **hooks)
        with Tap((ChatCompletions(),)).installed():
            return await attempt(CallableAdapter(function, CONFIG), case, "t", 0, timeout)

    return asyncio.run(once())


def asking(url: str, **options: Any) -> Any:
    """An agent that asks a model once, with the OpenAI SDK."""
    options = {"max_retries": 0, **options}

    async def agent(config: AgentConfig, given: Any) -> Any:
        async with openai.AsyncOpenAI(base_url=url, api_key="k", **options) as client:
            reply = await client.chat.completions.create(
                model=config.model.name, messages=[{"role": "user", "content": str(given)}]
            )
        return reply.choices[0].message.content

    return agent


def blocking(url: str) -> Any:
    def agent(config: AgentConfig, given: Any) -> Any:
        with openai.OpenAI(base_url=url, api_key="k", max_retries=0) as client:
            reply = client.chat.completions.create(
                model=config.model.name, messages=[{"role": "user", "content": str(given)}]
            )
        return reply.choices[0].message.content

    return agent


RUDE = ("GeneratorExit", "KeyboardInterrupt", "SystemExit(1)", "BaseException", "asyncio.CancelledError")


def local(function: Any, setup: Any = None, teardown: Any = None, **settings: Any) -> LocalExecutor:
    adapter = CallableAdapter(function, CONFIG)
    cases = {"s": Case(SCENARIO, {}, setup, teardown)}
    suite = SuiteConfig(CONFIG, [SCENARIO])
    prices = {"sim-large": Price(input=1.0, output=2.0)}
    return LocalExecutor(adapter, suite, cases, Pricer(prices), RunSettings(**{"timeout": 600.0, **settings}))


def execute(executor: Executor, times: int = 1) -> list[Execution]:
    async def all_of_them() -> list[Execution]:
        async with executor.session():
            requests = [TrialRequest(None, "s", f"t{n}") for n in range(times)]
            return await asyncio.gather(*(executor.execute(request) for request in requests))

    return asyncio.run(all_of_them())
