"""Mutants on the wire, each SDK, plain and streamed, in process and through the proxy: what the simulator received.

Some operators of each class; `make slow` takes them all.
"""

import asyncio
import importlib.util
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from agentmut.adapters._shared.tool_loop.adapter import LoopAdapter
from agentmut.adapters._shared.tool_loop.dialect import Dialect
from agentmut.adapters._shared.tool_loop.dialect_messages import MessagesDialect
from agentmut.adapters._shared.tool_loop.dialect_openai import ChatDialect, ResponsesDialect
from agentmut.adapters.langgraph import LangGraphAdapter, bind_tools, model_settings
from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.execution import Execution
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.tools import read_tool
from agentmut.seams.plugins import Catalogue
from agentmut.seams.protocols.adapter import Adapter
from agentmut.seams.protocols.operator import OperatorOptions
from agentmut.simulator.service.background import Simulator
from agentmut.simulator.service.service_settings import read_settings
from agentmut.trial.single_run import Case, attempt
from agentmut.trial.witness.witness import Detector, Route
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.codecs import all_codecs

SOME = (
    "prompt.drop_instruction", "tool.rename", "tool.result_error", "model.raise_temperature", "context.drop_history",
)  # fmt: skip


@pytest.fixture(scope="module")
def matrix() -> Any:
    path = Path(__file__).parents[2] / "benchmarks" / "wire_matrix.py"
    spec = importlib.util.spec_from_file_location("wire_matrix", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_simulator_receives_each_mutant_and_record_and_witness_agree(matrix: Any) -> None:
    originals, runs = asyncio.run(matrix.all_runs(matrix.mutants(*SOME)))
    assert len(originals) == 16 and len(runs) == 16 * len(SOME)
    assert matrix.faults(originals, runs) == {}


def look_up(order: str) -> str:
    """Look up an order by its number."""
    return f"{order} is on its way"


PROMPT = "You must look up the order before you answer."
MODEL = ModelConfig(name="sim-large")
CONFIG = AgentConfig(prompt=PROMPT, model=MODEL, tools=(read_tool(look_up),), orchestration={"max_steps": 4})
SCENARIO = Scenario(
    name="s", turns=("Where is order A-1042?",), evaluators=(EvaluatorSpec(name="contains", argument="x"),)
)


def loop(dialect: Callable[..., Dialect], stream: bool) -> Any:
    return LoopAdapter(dialect(stream=stream), {"look_up": look_up}, CONFIG)


def langgraph(stream: bool) -> Adapter:
    offered = tool(look_up)

    def build(config: AgentConfig) -> Any:
        chat = ChatOpenAI(api_key="k", max_retries=0, streaming=stream, **model_settings(config))
        return create_agent(chat, bind_tools(config, [offered]), system_prompt=config.system_text())

    return LangGraphAdapter(build, CONFIG, "here:build").as_built()


STACKS: dict[str, Callable[[bool], Any]] = {
    "openai-chat": lambda stream: loop(ChatDialect, stream),
    "openai-responses": lambda stream: loop(ResponsesDialect, stream),
    "anthropic": lambda stream: loop(MessagesDialect, stream),
    "langgraph": langgraph,
}


def test_an_agent_that_is_cut_short_asks_less_and_the_witness_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Flow is the agent's own: it is built anew, whatever its requests pass."""
    operator = Catalogue.from_group("operators").load("orchestration.cut_max_steps")()
    (*_, mutant) = generate(CONFIG, [operator], OperatorOptions()).mutants

    async def run(stack: str, stream: bool, cut: bool) -> Execution:
        adapter = STACKS[stack](stream)
        running = adapter.with_config(mutant.apply(CONFIG)) if cut else adapter
        return await attempt(running, Case(SCENARIO, {}), f"{stack}, {stream}, {cut}", seed=1, timeout=600.0)

    async def all_of_them() -> list[tuple[Execution, Execution]]:
        pairs = product(STACKS, (False, True))
        return await asyncio.gather(
            *(asyncio.gather(run(stack, stream, False), run(stack, stream, True)) for stack, stream in pairs)
        )

    with Simulator(read_settings(seed=3)) as simulator, Tap(all_codecs()).installed():
        for name, value in simulator.environment.items():
            monkeypatch.setenv(name, value)
        found = asyncio.run(all_of_them())
        for (stack, stream), (whole, cut) in zip(product(STACKS, (False, True)), found, strict=True):
            asked = [len(simulator.requests_of(f"{stack}, {stream}, {way}")) for way in (False, True)]
            assert asked == [2, 1], (stack, stream, whole.reason, cut.reason)
            detector = Detector(mutant, CONFIG)
            witness = detector.witness(cut.footprint)
            assert witness and witness.route is Route.LIVE
            assert detector.witness(whole.footprint) is None
