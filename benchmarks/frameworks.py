"""What an adapter adds to a trial of each framework: `python benchmarks/frameworks.py`, at most 2 ms at the median.

The two-tool agent of tests/frameworks is asked the same by the framework's own API (`direct`) and by its adapter, one
after the other, with the same simulator behind it and agentmut's carrier installed for both. Only frameworks that
are installed are measured; run it in both environments.
"""

import asyncio
import importlib
import importlib.util
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from pydantic import JsonValue

from agentmut.config import AgentConfig
from agentmut.conformance.adapter import endpoint
from agentmut.plugins import Group, load
from agentmut.protocols import AgentSpec
from agentmut.trial import Trial, running
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.codecs import all_codecs

RUNS = 60
LIMIT = 2.0
"""Milliseconds at the median."""


class Measured(NamedTuple):
    """An adapter, the package that its framework is imported as, and the agent."""

    adapter: str
    package: str
    agents: str
    factory: str
    question: JsonValue


FRAMEWORKS = (
    Measured("openai_agents", "agents", "openai_agents_agents", "desk", "Where is my order A-1042?"),
    Measured(
        "semantic_kernel", "semantic_kernel", "semantic_kernel_agents", "desk", "Where is my order A-1042?"
    ),
    Measured("crewai", "crewai", "crewai_agents", "desk", "Where is my order A-1042?"),
    Measured("autogen", "autogen_agentchat", "autogen_agents", "desk", "Where is my order A-1042?"),
    Measured("llama_index", "llama_index", "llama_index_agents", "desk", "Where is my order A-1042?"),
    Measured(
        "mcp", "mcp", "mcp_agents", "orders", {"tool": "look_up_order", "arguments": {"order_id": "A-1042"}}
    ),
)


async def seconds(run: Callable[[Trial], Awaitable[Any]], number: int) -> float:
    """How long one run takes, as a trial of its own."""
    trial = Trial(f"overhead-{number}")
    with running(trial):
        started = time.perf_counter()
        await run(trial)
        return time.perf_counter() - started


async def measure(one: Measured) -> tuple[float, float]:
    """Medians in milliseconds: by the framework alone, and by the adapter."""
    agents = importlib.import_module(f"tests.frameworks.{one.agents}")
    spec = AgentSpec(adapter=one.adapter, factory=f"tests.frameworks.{one.agents}:{one.factory}")
    adapter = load(Group.ADAPTERS, one.adapter).create(spec, AgentConfig())
    build = getattr(agents, one.factory)
    alone, adapted = [], []
    with Tap(all_codecs()).installed():
        for number in range(RUNS):  # the same trial id gives the same replies
            alone.append(await seconds(lambda trial: agents.direct(build(), one.question), number))
            adapted.append(await seconds(lambda trial: adapter.run((one.question,), trial), number))
    warm = RUNS // 6
    return statistics.median(alone[warm:]) * 1000, statistics.median(adapted[warm:]) * 1000


async def main() -> None:
    """Measure and print every framework that is installed."""
    print(
        f"{'adapter':<20} {'alone':>9} {'adapter':>9} {'overhead':>9}   (ms at the median of {RUNS}; at most {LIMIT})"
    )
    async with endpoint():
        for one in FRAMEWORKS:
            if importlib.util.find_spec(one.package) is None:
                print(f"{one.adapter:<20} not installed here")
                continue
            alone, adapted = await measure(one)
            print(f"{one.adapter:<20} {alone:9.2f} {adapted:9.2f} {adapted - alone:9.2f}")


asyncio.run(main())
