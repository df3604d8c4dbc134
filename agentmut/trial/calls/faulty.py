"""Tool calls that meet the faults of their trial, for every adapter and hook."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from agentmut._base import jsonable
from agentmut.mutation import Change, ResultForm, copied, instead_of_call, spoiled
from agentmut.nouns import LATE, UNCALLED, FaultKind, ToolFault
from agentmut.recording import Trial, TrialOverError

Within = Callable[[Change, Any], Any]
"""Makes a change to the part of a result that the agent is given."""


def whole(change: Change, result: Any) -> Any:
    """Change the whole result, for agents that get the whole result."""
    return change(result)


def with_fault(
    trial: Trial, tool: str, call: Callable[[], Any], form: ResultForm, within: Within = whole
) -> Any:
    """Return the outcome of a call of `tool` (its own name), changed by the trial's fault if there is one.

    Raises `ToolFailure` where the fault does, and whatever the call raises.
    """
    fault = trial.fault(tool)
    if fault is None:
        return call()
    if fault.kind in UNCALLED:
        if fault.kind in LATE:
            _wait(trial, tool, fault.seconds)
        return _uncalled(trial, tool, fault, form)
    result = call()
    if fault.kind is FaultKind.SLOW:
        _wait(trial, tool, fault.seconds)
    return _returned(trial, tool, fault, result, within)


async def with_fault_async(
    trial: Trial, tool: str, call: Callable[[], Awaitable[Any]], form: ResultForm, within: Within = whole
) -> Any:
    """`with_fault` for a call that is awaited."""
    fault = trial.fault(tool)
    if fault is None:
        return await call()
    if fault.kind in UNCALLED:
        if fault.kind in LATE:
            trial.mark_fault(tool)
            await asyncio.sleep(fault.seconds)
        return _uncalled(trial, tool, fault, form)
    result = await call()
    if fault.kind is FaultKind.SLOW:
        trial.mark_fault(tool)
        await asyncio.sleep(fault.seconds)
    return _returned(trial, tool, fault, result, within)


def check_running(trial: Trial) -> None:
    """Raise `TrialOverError` when the trial is over: an abandoned run may call no tools."""
    if trial.recorder.closed:
        raise TrialOverError(f"trial {trial.id} is over; this run was abandoned at its timeout")


def _uncalled(trial: Trial, tool: str, fault: ToolFault, form: ResultForm) -> Any:
    trial.mark_fault(tool)
    return instead_of_call(fault.kind, form)


def _wait(trial: Trial, tool: str, seconds: float) -> None:
    """Sleep; in the thread of an event loop, where sleeping would delay other trials, only advance the clock."""
    trial.mark_fault(tool)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        time.sleep(seconds)
    else:
        trial.recorder.count(late=seconds)


def _returned(trial: Trial, tool: str, fault: ToolFault, result: Any, within: Within) -> Any:
    check_running(trial)
    return within(partial(_changed, trial, tool, fault.kind), result)


def _changed(trial: Trial, tool: str, kind: FaultKind, content: Any) -> Any:
    """Return what the agent is given. A fault that changes nothing has not taken effect."""
    first = content
    if kind is FaultKind.STALE:
        mine = copied(content)  # the agent may change what it is given
        first = trial.recorder.first_results.setdefault(tool, mine)
        if first is mine:
            return content
    given = spoiled(kind, content, first)
    if jsonable(given) != jsonable(content):
        trial.mark_fault(tool)
    return given
