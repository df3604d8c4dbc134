"""How agents of ADK are run by these tests."""

import asyncio
from typing import Any, NamedTuple

from pydantic import JsonValue

from agentmut.conformance.adapters.adapter_checks import endpoint
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.messages import Role
from agentmut.nouns.trace import AgentTrace
from agentmut.recording.current import running
from agentmut.recording.trial import Trial
from agentmut.seams.plugins import Group, load
from agentmut.seams.protocols.adapter import AgentSpec
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.codecs import all_codecs

AGENTS = "tests.frameworks.google_adk_agents"
OTHERS = "tests.frameworks.google_adk_others"
EMPTY = AgentConfig()


def adapter(name: str, config: AgentConfig = EMPTY, module: str = OTHERS, **options: JsonValue) -> Any:
    kind: Any = load(Group.ADAPTERS, "google_adk")
    return kind.create(AgentSpec(adapter="google_adk", factory=f"{module}:{name}", options=options), config)


class Seen(NamedTuple):
    trace: AgentTrace
    trial: Trial

    @property
    def told(self) -> list[Any]:
        """The tools of the first model request."""
        return [tool for tool in self.trial.recorder.exchanges[0].request.tools if tool is not None]

    @property
    def system(self) -> list[str]:
        """The instructions of every model request."""
        requests = (one.request for one in self.trial.recorder.exchanges)
        return [m.text for request in requests for m in request.messages if m.role is Role.SYSTEM]


def run(agent: Any, *turns: str, **trial: Any) -> Seen:
    async def once() -> Seen:
        async with endpoint():
            with Tap(all_codecs()).installed(), running(Trial("one", **trial)) as mine:
                return Seen(await agent.run(turns, mine), mine)

    return asyncio.run(once())


def changed(agent: Any, **changes: Any) -> Any:
    return agent.with_config(agent.get_config().model_copy(update=changes))
