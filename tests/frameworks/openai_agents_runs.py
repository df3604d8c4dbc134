"""How tests run agents of the OpenAI Agents SDK: one by one, offline or with the simulator behind them."""

import asyncio
from typing import Any

from pydantic import JsonValue

from agentmut.conformance.adapters.adapter_checks import endpoint
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.trace import AgentTrace
from agentmut.recording.current import running
from agentmut.recording.threads import TrialThreads
from agentmut.recording.trial import Trial
from agentmut.seams.plugins import Group, load
from agentmut.seams.protocols.adapter import Adapter, AgentSpec
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.codecs import all_codecs

ODD = "tests.frameworks.openai_agents_odd_agents"


def adapter(factory: str, config: AgentConfig = AgentConfig(), **options: JsonValue) -> Adapter:  # noqa: B008
    """The adapter of what is named, in the module of odd agents unless another is."""
    reference = factory if ":" in factory else f"{ODD}:{factory}"
    kind: type[Adapter] = load(Group.ADAPTERS, "openai_agents")
    return kind.create(AgentSpec(adapter="openai_agents", factory=reference, options=options), config)


def changed(agent: Adapter, **parts: Any) -> Adapter:
    return agent.with_config(agent.get_config().model_copy(update=parts))


def first_tool(agent: Adapter, **parts: Any) -> Adapter:
    first, *rest = agent.get_tools()
    return changed(agent, tools=(first.model_copy(update=parts), *rest))


async def ran(agent: Adapter, *turns: JsonValue, trial: Trial | None = None) -> AgentTrace:
    asyncio.get_running_loop().set_default_executor(TrialThreads())
    with running(trial or Trial("one")) as one:
        return await agent.run(turns or ("Hello.",), one)


def run(agent: str | Adapter, *turns: JsonValue, trial: Trial | None = None) -> AgentTrace:
    return asyncio.run(ran(adapter(agent) if isinstance(agent, str) else agent, *turns, trial=trial))


def run_online(agent: Adapter, *turns: JsonValue, trial: Trial) -> AgentTrace:
    async def online() -> AgentTrace:
        async with endpoint():
            with Tap(all_codecs()).installed():
                return await ran(agent, *turns, trial=trial)

    return asyncio.run(online())
