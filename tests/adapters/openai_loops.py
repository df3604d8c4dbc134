"""Agents in the loop of the OpenAI Chat Completions API, and their tools."""

import asyncio
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from agentmut.adapters.openai import OpenAIAdapter
from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig, Document, ModelConfig
from agentmut.nouns.execution import Execution
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.recording.threads import TrialThreads
from agentmut.seams.plugins import Catalogue
from agentmut.seams.protocols.adapter import Adapter, AgentSpec
from agentmut.seams.protocols.operator import OnDemand, OperatorOptions
from agentmut.trial.single_run import Case, attempt
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.codecs import all_codecs

LOOP = asyncio.new_event_loop()
LOOP.set_default_executor(TrialThreads())


def look_up(order: str) -> dict[str, str]:
    """Look up an order by its number."""
    return {"order": order, "status": "on its way"}


async def refund(order: str, amount: float) -> str:
    """Refund an order."""
    if amount > 100:
        raise ValueError("too much")
    return f"{amount} refunded"


CONFIG = AgentConfig(
    prompt="You help customers. Never refund gifts.",
    model=ModelConfig(name="sim-large", temperature=0.7, top_p=0.9, max_tokens=400, seed=7, stop=("END",)),
    context=(Document(name="policy", text="Refunds take 5 days. Gifts are final."),),
)


def install_tools(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return a module of tools that agents can import as `loop_tools`."""
    module = ModuleType("loop_tools")
    module.__dict__.update(FUNCTIONS=[look_up, refund], NAMED={"find": look_up}, NUMBER=5, WRONG=[look_up, 5])
    monkeypatch.setitem(sys.modules, "loop_tools", module)
    return module


def maker(url: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return a function that makes an adapter whose agents ask the service at this address."""
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    monkeypatch.setenv("OPENAI_API_KEY", "k")

    def build(config: AgentConfig = CONFIG, **spec: Any) -> Any:
        keys = {"functions": "loop_tools:FUNCTIONS", **spec}
        return OpenAIAdapter.create(AgentSpec(adapter="openai", **keys), config)

    return build


def run(
    adapter: Adapter, *turns: Any, doubles: Any = None, trial: str = "t1", timeout: float = 600.0
) -> Execution:
    async def once() -> Execution:
        scenario = Scenario(name="s", turns=turns or ("Hi",), evaluators=(EvaluatorSpec(name="x"),))
        with Tap(all_codecs()).installed():
            return await attempt(adapter, Case(scenario, doubles or {}), trial, 0, timeout)

    found: Execution = LOOP.run_until_complete(once())
    return found


def mutants(config: AgentConfig) -> tuple[Any, ...]:
    catalogue = Catalogue.from_group("operators")
    options = OperatorOptions(swap_models=("sim-small",), slow_seconds=0.01)
    usual = [x for name in catalogue.names if not isinstance(x := catalogue.load(name)(), OnDemand)]
    return generate(config, usual, options).mutants
