"""A conversation with a smolagents agent, each turn in a thread, since the framework blocks."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

from pydantic import JsonValue
from smolagents import ActionStep, AgentMaxStepsError, TaskStep
from smolagents.monitoring import Timing

from agentmut._base import jsonable
from agentmut.adapters._shared.change import Change
from agentmut.adapters._shared.framework import EarlierMessage, Session
from agentmut.adapters.smolagents.calls import OUT_OF_STEPS, out_of_steps
from agentmut.adapters.smolagents.team import Team, name_of
from agentmut.nouns import END, START
from agentmut.recording import CallPlace, Trial, answering, in_daemon_thread


class Conversation(Session):
    """Runs a copy of the team; a new conversation has a new copy, with its own variables."""

    def __init__(self, team: Team, change: Change, trial: Trial) -> None:
        self._team, self._change, self._trial = team, change, trial
        self._name = name_of(team.first)
        self._agent: Any = None

    def begin(self, earlier: Sequence[EarlierMessage]) -> None:
        """Return a fresh copy of the agent that remembers the conversation."""
        self._agent = self._team.changed(self._change, self._trial)
        self._agent.memory.steps = [_remembered(said) for said in earlier]

    async def ask(self, text: str, turn: int) -> JsonValue:
        """Return the answer. Raise `AgentMaxStepsError` if there is none."""
        agent, recorder = self._agent, self._trial.recorder
        recorder.nodes.add(self._name)
        recorder.edges[START, self._name] = None
        run = partial(agent.run, text, reset=False, return_full_result=False)
        try:
            with answering(CallPlace(turn, self._name)):
                answer = await in_daemon_thread(run)
        except asyncio.CancelledError:
            agent.interrupt()  # before its next step
            raise
        if out_of_steps(agent):
            raise AgentMaxStepsError(f"{OUT_OF_STEPS} ({agent.max_steps}): {answer!s:.200}", agent.logger)
        recorder.edges[self._name, END] = None
        return jsonable(answer)


def _remembered(message: EarlierMessage) -> TaskStep | ActionStep:
    if message.role == "user":
        return TaskStep(task=message.text)
    return ActionStep(step_number=0, timing=Timing(start_time=0.0, end_time=0.0), model_output=message.text)
