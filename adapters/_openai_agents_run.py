"""What a run of the OpenAI Agents SDK is told: where it is, for the trace; nothing is reported elsewhere."""

from typing import Any

from agents import RunConfig, RunHooks
from agents.run_config import CallModelData, ModelInputData

from agentmut.flow import END, START
from agentmut.trial import CallPlace, Trial, place_calls


class _Way(RunHooks[Any]):
    """Notes which agents ran, and which handed over to which."""

    def __init__(self, trial: Trial) -> None:
        self._recorder = trial.recorder
        self._last: str | None = None

    async def on_agent_start(self, context: Any, agent: Any) -> None:
        self._recorder.nodes.add(agent.name)
        if self._last != agent.name:
            self._recorder.edges[self._last or START, agent.name] = None
        self._last = agent.name

    async def on_agent_end(self, context: Any, agent: Any, output: Any) -> None:
        self._recorder.edges[agent.name, END] = None


def hooks_of(trial: Trial) -> RunHooks[Any]:
    """Hooks for one turn."""
    return _Way(trial)


def run_config_of(trial: Trial, turn: int) -> RunConfig:
    """Model requests and tool calls belong to the agent whose turn it is; the SDK's own tracing is off."""

    def note(data: CallModelData[Any]) -> ModelInputData:
        place_calls(CallPlace(turn=turn, node=data.agent.name))
        return data.model_data

    return RunConfig(tracing_disabled=True, call_model_input_filter=note)
