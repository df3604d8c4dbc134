"""A run of the OpenAI Agents SDK: turn by turn, with its agents recorded for the trace; the SDK's tracing is off."""

import asyncio
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from agents import (
    Agent,
    InputGuardrailTripwireTriggered,
    OutputGuardrailTripwireTriggered,
    RunConfig,
    RunHooks,
    Runner,
    RunResult,
    ToolInputGuardrailTripwireTriggered,
    ToolOutputGuardrailTripwireTriggered,
)
from agents.models import openai_provider
from agents.run_config import CallModelData, ModelInputData
from pydantic import JsonValue

from agentmut._base import jsonable
from agentmut.adapters._shared.change import Change
from agentmut.adapters._shared.framework import EarlierMessage, Session
from agentmut.adapters.openai_agents.mcp import Connections
from agentmut.adapters.openai_agents.team import Team
from agentmut.nouns import END, START
from agentmut.recording import CallPlace, Trial, place_calls


class Conversation(Session):
    """A clone of a team with connected servers; a later turn goes to the agent that answered last."""

    def __init__(
        self,
        team: Team,
        change: Change,
        limit: int | None,
        trial: Trial,
        context: Callable[[], Any] | None = None,
    ) -> None:
        self._team, self._change, self._trial = team, change, trial
        self._context = context() if context else None
        self._connections = Connections(team.members)
        self._options: dict[str, Any] = {} if limit is None else {"max_turns": limit}
        self._first: Agent[Any] | None = None
        self._agent: Agent[Any] | None = None
        self._items: list[Any] = []

    def begin(self, earlier: Sequence[EarlierMessage]) -> None:
        """Go back to the first agent."""
        self._agent = None
        self._items = [{"role": said.role, "content": said.text} for said in earlier]

    async def ask(self, text: str, turn: int) -> JsonValue:
        """Return the final output, or the text of the guardrail that stopped the run."""
        agent = self._agent or await self._begun()
        try:
            result = await Runner.run(
                agent,
                [*self._items, {"role": "user", "content": text}],
                context=self._context,
                hooks=_AgentPath(self._trial),
                run_config=_run_config(turn),
                **self._options,
            )
        except (InputGuardrailTripwireTriggered, OutputGuardrailTripwireTriggered) as stopped:
            return _stopped(stopped.guardrail_result.guardrail, stopped.guardrail_result.output)
        except (ToolInputGuardrailTripwireTriggered, ToolOutputGuardrailTripwireTriggered) as stopped:
            return _stopped(stopped.guardrail, stopped.output)
        _check_finished(result)
        self._agent, self._items = result.last_agent, result.to_input_list()
        return jsonable(result.final_output)

    async def close(self) -> None:
        """End the connections of this trial."""
        await self._connections.close()

    async def _begun(self) -> Agent[Any]:
        if self._first is None:
            keep_to_this_loop()
            team = replace(self._team, served=await self._connections.tools())
            self._first = team.changed(self._change)
        return self._first


def _stopped(guardrail: Any, output: Any) -> JsonValue:
    """Return the user's answer of an agent that a guardrail has stopped: the guardrail's name and text."""
    return {"guardrail": guardrail.get_name(), "info": jsonable(output.output_info)}


def _check_finished(result: RunResult) -> None:
    """Raise an error for a run that waits for an approval, since it has no answer."""
    if result.interruptions:
        names = ", ".join(str(item.name) for item in result.interruptions)
        raise RuntimeError(
            f"the run waits for an approval of {names}, which nobody gives in a trial; build the agent without "
            "needs_approval, or run it by a function that approves (adapter python with agent.run)"
        )


class _AgentPath(RunHooks[Any]):
    """Notes which agents ran, and which handed over to which."""

    def __init__(self, trial: Trial) -> None:
        self._recorder = trial.recorder
        self._last: str | None = None

    async def on_agent_start(self, context: Any, agent: Any) -> None:
        """Record that the run comes to this agent."""
        self._recorder.nodes.add(agent.name)
        if self._last != agent.name:
            self._recorder.edges[self._last or START, agent.name] = None
        self._last = agent.name

    async def on_agent_end(self, context: Any, agent: Any, output: Any) -> None:
        """Record that the run can end with this agent."""
        self._recorder.edges[agent.name, END] = None


def _run_config(turn: int) -> RunConfig:
    """Return a run config that attributes requests and calls to the current agent, without the SDK's tracing."""

    def note(data: CallModelData[Any]) -> ModelInputData:
        place_calls(CallPlace(turn=turn, node=data.agent.name))
        return data.model_data

    return RunConfig(tracing_disabled=True, call_model_input_filter=note)


_LOOP = "_agentmut_loop"


def keep_to_this_loop() -> None:
    """Make the SDK create a new client if its own may belong to another event loop.

    Its connections end with the loop that they were made in; whoever meets one of them later is told that the event
    loop is closed. Each campaign, and each run of a suite under pytest, has a loop of its own.
    """
    loop = asyncio.get_running_loop()
    client: Any = getattr(openai_provider, "_http_client", None)
    known = getattr(client, _LOOP, None)
    if known is not None and known() is loop:
        return
    if client is not None:
        openai_provider._http_client = None
    setattr(openai_provider.shared_http_client(), _LOOP, weakref.ref(loop))
