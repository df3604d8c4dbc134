"""What an adapter adds to a trial of each framework: `python benchmarks/frameworks.py`, at most 2 ms at the median.

The two-tool agent of tests/frameworks is asked the same by the framework's own API (`direct`) and by its adapter, one
after the other, with the same simulator behind it and agentmut's carrier installed for both. Only frameworks that
are installed are measured; run it in both environments.
"""

import asyncio
import gc
import importlib
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from pydantic import JsonValue

from agentmut._base.errors import AdapterError
from agentmut.conformance.adapters.adapter_checks import endpoint
from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.recording.current import running
from agentmut.recording.trial import Trial
from agentmut.seams.plugins import Group, load
from agentmut.seams.protocols.adapter import AgentSpec
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.codecs import all_codecs
from tests.frameworks.order_tools import PROMPT

RUNS = 60
QUESTION = "Where is my order A-1042?"
LIMIT = 2.0
"""Milliseconds at the median."""


class Measured(NamedTuple):
    """An adapter, the package that its framework is imported as, and the agent."""

    adapter: str
    package: str
    agents: str
    factory: str
    question: JsonValue
    more: Mapping[str, str] = MappingProxyType({})
    """Keys of the agent section in the place of `factory`, which then only makes what `direct` is given."""
    config: AgentConfig = AgentConfig()
    options: Mapping[str, JsonValue] = MappingProxyType({})
    direct: str = "direct"


DESK = AgentConfig(prompt=PROMPT, model=ModelConfig(name="sim-large"))
ORDERS = {"functions": "tests.frameworks.order_tools:FUNCTIONS"}
FRAMEWORKS = (
    Measured("langgraph", "langgraph", "langgraph_agents", "desk", QUESTION, config=DESK),
    Measured("openai", "openai", "openai_sdk_agents", "client", QUESTION, ORDERS, DESK),
    Measured("anthropic", "anthropic", "anthropic_sdk_agents", "client", QUESTION, ORDERS, DESK),
    Measured("pydantic_ai", "pydantic_ai", "pydantic_ai_agents", "desk", QUESTION),
    Measured("smolagents", "smolagents", "smolagents_agents", "desk", QUESTION),
    Measured("google_adk", "google.adk", "google_adk_agents", "desk", QUESTION),
    Measured("openai_agents", "agents", "openai_agents_agents", "desk", QUESTION),
    Measured("semantic_kernel", "semantic_kernel", "semantic_kernel_agents", "desk", QUESTION),
    Measured("crewai", "crewai", "crewai_agents", "desk", QUESTION),
    Measured("autogen", "autogen_agentchat", "autogen_agents", "desk", QUESTION),
    Measured("llama_index", "llama_index", "llama_index_agents", "desk", QUESTION),
    Measured(
        "bedrock",
        "boto3",
        "bedrock_agents",
        "client",
        QUESTION,
        ORDERS,
        DESK,
    ),
    Measured(
        "bedrock_agents",
        "boto3",
        "bedrock_agents",
        "agent_client",
        QUESTION,
        ORDERS,
        DESK,
        {"inline": True},
        "direct_inline",
    ),
    Measured(
        "mcp", "mcp", "mcp_agents", "orders", {"tool": "look_up_order", "arguments": {"order_id": "A-1042"}}
    ),
)


async def seconds(run: Callable[[Trial], Awaitable[Any]], number: int) -> float:
    """Return how long one run takes, as a trial of its own."""
    trial = Trial(f"overhead-{number}")
    with running(trial):
        gc.collect()  # what earlier runs have left is nobody's time
        gc.disable()
        try:
            started = time.perf_counter()
            await run(trial)
            return time.perf_counter() - started
        finally:
            gc.enable()


async def measure(one: Measured) -> tuple[float, float, float]:
    """Return medians in milliseconds: by the framework alone, by the adapter, and of the differences of the pairs."""
    agents = importlib.import_module(f"tests.frameworks.{one.agents}")
    keys = dict(one.more) or {"factory": f"tests.frameworks.{one.agents}:{one.factory}"}
    adapter = load(Group.ADAPTERS, one.adapter).create(
        AgentSpec(adapter=one.adapter, options=dict(one.options), **keys), one.config
    )
    build, direct = getattr(agents, one.factory), getattr(agents, one.direct)
    alone, adapted = [], []
    gc.collect()
    gc.freeze()  # what is imported stays: to look at it before every run takes minutes
    with Tap(all_codecs()).installed():
        for number in range(RUNS):  # the same trial id gives the same replies
            alone.append(await seconds(lambda trial: direct(build(), one.question), number))
            adapted.append(await seconds(lambda trial: adapter.run((one.question,), trial), number))
    pairs = list(zip(alone, adapted, strict=True))[RUNS // 6 :]
    columns = (*zip(*pairs, strict=True), [b - a for a, b in pairs])
    first, second, third = (statistics.median(column) * 1000 for column in columns)
    return first, second, third


async def main() -> None:
    """Measure and print every framework that is installed."""
    print(
        f"{'adapter':<20} {'alone':>9} {'adapter':>9} {'overhead':>9}   (ms at the median of {RUNS}; at most {LIMIT})"
    )
    late = []
    async with endpoint():
        for one in FRAMEWORKS:
            try:
                with redirect_stdout(StringIO()):  # some frameworks say what they do
                    figures = await measure(one)
            except (ImportError, AdapterError):
                print(f"{one.adapter:<20} is not in this environment")
                continue
            print(f"{one.adapter:<20} {' '.join(f'{figure:9.2f}' for figure in figures)}")
            late += [one.adapter] if figures[-1] > LIMIT else []
    if late:
        sys.exit(f"above {LIMIT} ms: {', '.join(late)}")


if __name__ == "__main__":
    asyncio.run(main())
