"""Runs of Semantic Kernel agents against the simulator."""

import asyncio
from dataclasses import replace
from typing import Any

from pydantic import JsonValue

from agentmut.nouns.config import AgentConfig
from agentmut.nouns.trace import AgentTrace
from agentmut.recording.current import running
from agentmut.recording.trial import Trial, altered_tools
from agentmut.seams.plugins import Group, load
from agentmut.seams.protocols.adapter import AgentSpec

ODD = "tests.frameworks.semantic_kernel_odd_agents"


def adapter(factory: str, **options: JsonValue) -> Any:
    kind: Any = load(Group.ADAPTERS, "semantic_kernel")
    spec = AgentSpec(adapter="semantic_kernel", factory=f"{ODD}:{factory}", options=options)
    return kind.create(spec, AgentConfig())


def changed(agent: Any, **parts: Any) -> Any:
    return agent.with_config(agent.get_config().model_copy(update=parts))


class Ran:
    """A run, with what the first agent asked of its model."""

    def __init__(self, agent: Any, *turns: JsonValue) -> None:
        self.trial = Trial("one", tools=altered_tools(agent.get_config()))
        self.trace, built = asyncio.run(self._run(agent, turns or ("Hello.",)))
        self.asked: list[dict[str, Any]] = next(iter(built.kernel.services.values())).asked

    async def _run(self, agent: Any, turns: tuple[JsonValue, ...]) -> tuple[AgentTrace, Any]:
        built = agent.source.build(agent.get_config())
        other = agent.with_config(agent.get_config())
        other.source = replace(agent.source, found=built)  # itself, so that its service can be looked at
        with running(self.trial) as trial:
            return await other.run(turns, trial), built

    @property
    def offered(self) -> list[str]:
        return [one["function"]["name"] for one in self.asked[0].get("tools", ())]

    @property
    def system(self) -> str:
        return str(next(text for role, text in self.asked[0]["messages"] if role == "system"))
