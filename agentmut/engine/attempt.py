"""Run an agent once: setup, doubles, timeout, teardown, and the classification of how it ended."""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from agentmut.engine.classification import ending_of_answer, ending_of_error, ending_of_timeout
from agentmut.errors import AdapterError
from agentmut.execution import Ending, Execution
from agentmut.protocols import Adapter
from agentmut.scenario import Scenario
from agentmut.threads import in_daemon_thread
from agentmut.trace import AgentTrace
from agentmut.trial import Double, Recorder, Trial, running
from agentmut.wire.footprint import footprint

GRACE = 1.0
"""Seconds a cancelled run has to clean up before it is abandoned."""
Hook = Callable[[Scenario], Any]


class Case(NamedTuple):
    """A scenario with its doubles and hooks resolved."""

    scenario: Scenario
    doubles: dict[str, Double]
    setup: Hook | None = None
    teardown: Hook | None = None


async def attempt(adapter: Adapter, case: Case, trial_id: str, seed: int, timeout: float) -> Execution:
    """Run once, with a recorder of its own. Raises only on cancellation."""
    if case.setup is not None:
        try:
            await _call(case.setup, case.scenario)
        except Exception as error:
            return Execution(ending=Ending.SETUP_FAILED, reason=f"setup: {type(error).__name__}: {error}")
    try:
        return await _run(adapter, case, Trial(id=trial_id, seed=seed, doubles=case.doubles), timeout)
    finally:
        if case.teardown is not None:
            await _call(case.teardown, case.scenario)


async def _run(adapter: Adapter, case: Case, trial: Trial, timeout: float) -> Execution:
    recorder = trial.recorder
    with running(trial):
        task = asyncio.ensure_future(adapter.run(case.scenario.turns, trial))
        try:
            await asyncio.wait({task}, timeout=timeout)
        finally:
            recorder.closed = True
            if not task.done():
                await _give_up(task)
    trace, (ending, reason) = _conclude(task, recorder, timeout)
    return Execution(
        ending=ending,
        reason=reason,
        trace=trace,
        footprint=footprint(recorder.exchanges, recorder.config_reads),
        abandoned=recorder.threads > 0 or not task.done(),
    )


async def _give_up(task: "asyncio.Task[AgentTrace]") -> None:
    task.cancel()
    await asyncio.wait({task}, timeout=GRACE)


def _conclude(
    task: "asyncio.Task[AgentTrace]", recorder: Recorder, timeout: float
) -> tuple[AgentTrace, tuple[Ending, str]]:
    cut_short = AgentTrace(steps=recorder.timeline(), seconds=recorder.now())
    if not task.done() or task.cancelled():
        return cut_short, ending_of_timeout(timeout, recorder)
    error = task.exception()
    if error is None:
        trace = task.result()
        return trace, ending_of_answer(trace, recorder)
    failed = cut_short.model_copy(update={"error": f"{type(error).__name__}: {error}"})
    if isinstance(error, AdapterError):
        return failed, (Ending.UNBUILDABLE, str(error))
    return failed, ending_of_error(error, recorder)


async def _call(hook: Hook, scenario: Scenario) -> None:
    result = hook(scenario) if inspect.iscoroutinefunction(hook) else await in_daemon_thread(hook, scenario)
    if inspect.isawaitable(result):
        await result
