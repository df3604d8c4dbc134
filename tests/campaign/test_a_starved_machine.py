"""A machine so busy that agentmut's own code stands still is no agent that blocks the event loop."""

import asyncio
import signal
import sys
from types import FrameType

import pytest

from agentmut.campaign.running import signals
from agentmut.recording import LostTime, RunEndedError


def frame_of(module: str) -> FrameType:
    found: dict[str, FrameType] = {}
    exec("frame = sys._getframe()", {"__name__": module, "sys": sys}, found)
    return found["frame"]


def test_the_first_alarm_within_agentmut_is_passed_over_and_one_in_an_agent_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(signals, "runs_agent", lambda frame: True)
    monkeypatch.setattr(signal, "setitimer", lambda *_: None)
    loop, lost = asyncio.new_event_loop(), LostTime()
    guard = signals._Guard(loop, lambda: None, 10.0, lost)
    ours = frame_of("agentmut.adapters._shared.outside.programs")
    guard.alarm(14, ours)  # the machine is slow
    with pytest.raises(RunEndedError):
        guard.alarm(14, ours)  # a whole timeout later the loop still stands
    guard.beat()
    guard.alarm(14, ours)
    with pytest.raises(RunEndedError):
        guard.alarm(14, frame_of("my_agent"))
    assert lost.seconds == 20.0
    guard.end()
    loop.close()
