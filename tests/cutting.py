"""A timeout that comes when a trial has got as far as a test wants it, however busy the machine is."""

import asyncio
from collections.abc import Callable

import pytest

from agentmut.nouns.trace import AgentTrace
from agentmut.recording.recorder import Recorder


def cut_once(monkeypatch: pytest.MonkeyPatch, ready: Callable[[Recorder], object]) -> None:
    """Let the timeout of trials come as soon as `ready` holds of what is recorded of them, and not before."""

    async def finished(task: asyncio.Task[AgentTrace], recorder: Recorder, timeout: float) -> bool:
        while not task.done() and not ready(recorder):
            await asyncio.sleep(0.005)
        return task.done()

    monkeypatch.setattr("agentmut.trial.single_run._finished", finished)
