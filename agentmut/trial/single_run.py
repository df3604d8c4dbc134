"""Run an agent once: setup, doubles, timeout, teardown, and the classification of the run's ending."""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from agentmut._base import AdapterError, described
from agentmut.nouns import (
    Action,
    AgentTrace,
    Ending,
    Execution,
    Fork,
    Player,
    Scenario,
    ServiceTime,
    Step,
    footprint,
    recalled,
)
from agentmut.recording import (
    OVER_BUDGET,
    AgentExitError,
    Double,
    Purse,
    Recorder,
    Rewriter,
    RunEndedError,
    ToolChange,
    Trial,
    altered_tools,
    beside,
    lost_seconds,
    running,
)
from agentmut.seams import Adapter, KnowsOriginal
from agentmut.trial.classification import ending_of_answer, ending_of_error, ending_of_timeout
from agentmut.trial.containment import ThisProcessOnly
from agentmut.trial.hooks import GRACE, Hook, call_hook, give_up, retrieved
from agentmut.wire import Gateway, steps_from_exchanges

Run = asyncio.Task[AgentTrace]
_log = logging.getLogger(__name__)


class Case(NamedTuple):
    """A scenario with its doubles and hooks resolved."""

    scenario: Scenario
    doubles: dict[str, Double]
    setup: Hook | None = None
    teardown: Hook | None = None


class Wiring(NamedTuple):
    """The way of a run's model requests through agentmut."""

    rewriter: Rewriter | None = None
    """Changes them on their way."""
    gateway: Gateway | None = None
    """Where those of other programs pass."""
    player: Player | None = None
    """Answers them, in the place of a service."""
    record: bool = False
    """Whether they are kept."""
    redact: Callable[[str], str] = str
    """Takes secrets out of a text that is to be cut: half of a secret could not be recognised."""
    fork: Fork | None = None
    """Answers what a recorded run asked alike, for as long as a mutant's run is like it."""
    prepared: Callable[[Trial], None] = lambda hooks: None
    """Told, before setup is called, of the record that the hooks' requests go to; not without hooks."""
    begun: Callable[[Trial, float], None] = lambda trial, timeout: None
    """Told of the trial, and of its timeout in seconds, before the agent runs."""
    concluded: Callable[[Execution], None] = lambda ended: None
    """Told how the run has ended, before teardown is called."""
    purse: Purse | None = None
    """Counts what its model calls and those of its hooks cost; None without a budget in money."""


_UNTOUCHED = Wiring()


async def attempt(
    adapter: Adapter,
    case: Case,
    trial_id: str,
    seed: int,
    timeout: float,
    wiring: Wiring = _UNTOUCHED,
    *,
    repeat: int = 0,
) -> Execution:
    """Run the agent once with a new recorder; setup and teardown get `timeout` seconds each.

    Teardown is called however the rest ended. When it fails, the log says so and the trial stands: what
    the agent did is known by then. What both ask of models is noted apart from the run. Raises only on cancellation.
    """
    if case.setup is None and case.teardown is None:
        return await _wired(adapter, case, _Identity(trial_id, seed, repeat), timeout, wiring)
    hooks = _record_of_hooks(case, trial_id, seed, wiring, repeat)
    wiring.prepared(hooks)
    ended = Execution(ending=Ending.SETUP_FAILED)
    try:
        ended = await _prepared_and_run(adapter, case, trial_id, timeout, wiring, hooks)
        if case.teardown:
            wiring.concluded(ended)
    finally:
        with beside(hooks):
            problem = await call_hook(case.teardown, case.scenario, timeout)
        if problem:
            _log.warning(
                "teardown of scenario %s failed: %s", case.scenario.name, ascii(wiring.redact(problem))
            )
    asked = asked_by(hooks)
    return ended.model_copy(update={"hooks": asked}) if asked else ended


def _record_of_hooks(case: Case, trial_id: str, seed: int, wiring: Wiring, repeat: int) -> Trial:
    """Return a trial of no agent, which records what setup and teardown ask of models."""
    return Trial(
        id=f"{trial_id}:hooks",
        seed=seed,
        scenario=case.scenario.name,
        repeat=repeat,
        redact=wiring.redact,
        purse=wiring.purse,
        is_agents=False,
    )


def asked_by(hooks: Trial | None) -> tuple[Step, ...]:
    """Return what hooks have asked of models so far: one step, without its price, for each answered request.

    May be called from another thread than the hooks'.
    """
    return tuple(steps_from_exchanges(list(hooks.recorder.exchanges), with_tools=False)) if hooks else ()


async def _prepared_and_run(
    adapter: Adapter, case: Case, trial_id: str, timeout: float, wiring: Wiring, hooks: Trial
) -> Execution:
    """Call setup as a part of `hooks`, then run the trial of the same seed and repeat."""
    begun = time.perf_counter()
    with beside(hooks):
        problem = await call_hook(case.setup, case.scenario, timeout)
    if problem:
        return Execution(ending=Ending.SETUP_FAILED, reason=f"setup: {problem}")
    seconds = round(time.perf_counter() - begun, 6) if case.setup else 0.0
    return await _wired(
        adapter, case, _Identity(trial_id, hooks.seed, hooks.repeat, seconds), timeout, wiring
    )


class _Identity(NamedTuple):
    """What tells a trial apart, and the seconds that its setup took."""

    id: str
    seed: int
    repeat: int
    setup_seconds: float = 0.0


async def _wired(
    adapter: Adapter, case: Case, identity: _Identity, timeout: float, wiring: Wiring
) -> Execution:
    """Run the trial, with its model requests led through agentmut."""
    config = adapter.get_config()
    original = adapter.original if isinstance(adapter, KnowsOriginal) else config
    led = wiring.gateway.attempt(identity.id) if wiring.gateway else None
    trial = Trial(
        id=identity.id,
        seed=identity.seed,
        scenario=case.scenario.name,
        repeat=identity.repeat,
        doubles=case.doubles,
        tools=altered_tools(config),
        tool_change=ToolChange(original.tools, config.tools),
        rewriter=wiring.rewriter,
        player=wiring.player,
        fork=wiring.fork,
        purse=wiring.purse,
        endpoints=led.endpoints if led else {},
        redact=wiring.redact,
        recorder=Recorder(takes=[] if wiring.record else None, setup_seconds=identity.setup_seconds),
    )
    wiring.begun(trial, timeout)
    if led is None:
        return await _run(adapter, case, trial, timeout)
    with led.admitted(trial):
        return await _run(adapter, case, trial, timeout)


async def _run(adapter: Adapter, case: Case, trial: Trial, timeout: float) -> Execution:
    recorder = trial.recorder
    with running(trial):
        task = asyncio.ensure_future(_contained(adapter, case.scenario, trial))
        task.add_done_callback(retrieved)
        cut_off: tuple[Ending, str] | None = None
        spent: ServiceTime | None = None
        try:
            ended_itself = await _finished(task, recorder, timeout)
            if recorder.over_budget:
                cut_off = (Ending.CUT, OVER_BUDGET)
                if recorder.threads:  # nobody can cancel a thread, and most end at a call that fails
                    await _done_within(task, GRACE)
            elif not ended_itself:
                spent = recorder.service_time(timeout)  # what it waits for shows before it is cancelled
                cut_off = ending_of_timeout(spent)
        finally:
            recorder.closed, recorder.cut_off = True, recorder.over_budget or not task.done()
            if not task.done():
                await give_up(task)
    ended, (ending, reason) = (_so_far(recorder), cut_off) if cut_off else _conclude(task, recorder)
    service = spent or recorder.service_time()
    seen = {"recalled": recalled(recorder.exchanges), "setup_seconds": recorder.setup_seconds}
    trace = ended.model_copy(update={"service": service, **seen})
    return Execution(
        ending=ending,
        reason=reason,
        trace=trace.with_own_names(trial.tools),
        footprint=footprint(
            recorder.exchanges,
            recorder.config_reads,
            _marks(trial),
            recorder.nodes,
            _files_of(adapter),
            recorder.unread,
        ),
        takes=tuple(recorder.takes or ()),
        judging=tuple(recorder.judging),
        abandoned=recorder.threads > 0 or not task.done(),
    )


def _files_of(adapter: Adapter) -> tuple[str, ...]:
    """Return the texts of the instruction files that the agent itself reads, in this trial's version."""
    config = adapter.get_config()
    return tuple(document.text for document in config.context if document.name in config.workspace)


def cut_off(trial: Trial, timeout: float, hooks: Trial | None) -> Execution:
    """Return the execution so far of a trial that still runs after its timeout and cannot be cancelled.

    `hooks` is the record of its setup and teardown, if it has any. Called from another thread than the trial's.
    """
    recorder = trial.recorder
    recorder.closed = True
    spent = recorder.service_time(timeout)
    ending, reason = (Ending.CUT, OVER_BUDGET) if recorder.over_budget else ending_of_timeout(spent)
    trace = _so_far(recorder).model_copy(update={"service": spent, "setup_seconds": recorder.setup_seconds})
    return Execution(
        ending=ending,
        reason=reason,
        trace=trace.with_own_names(trial.tools),
        footprint=footprint(
            list(recorder.exchanges), set(recorder.config_reads), _marks(trial), set(recorder.nodes)
        ),
        hooks=asked_by(hooks),
        abandoned=True,
    )


def _so_far(recorder: Recorder) -> AgentTrace:
    """Return the trace of a run without an answer. Its model calls were paid, whoever would have reported them."""
    trace = recorder.trace(())
    if any(step.action is Action.REASON for step in trace.steps):
        return trace
    asked = steps_from_exchanges(list(recorder.exchanges), with_tools=False)
    steps = sorted((*trace.steps, *asked), key=lambda step: step.started)
    return trace.model_copy(update={"steps": tuple(steps)}) if asked else trace


def _marks(trial: Trial) -> frozenset[str]:
    """Return the live changes that took effect, in the agent or on the wire."""
    return frozenset(trial.recorder.marks) | (trial.rewriter.marks if trial.rewriter else frozenset())


async def _contained(adapter: Adapter, scenario: Scenario, trial: Trial) -> AgentTrace:
    try:
        with ThisProcessOnly():
            trace = await adapter.run(scenario.turns, trial)
    except SystemExit as error:  # would end the campaign
        raise AgentExitError(f"the agent called sys.exit({error.code!r})") from error
    except KeyboardInterrupt as error:  # its own: a real one is a signal that the campaign handles
        raise AgentExitError("the agent raised KeyboardInterrupt") from error
    except RunEndedError as error:
        raise AgentExitError(str(error)) from error
    if not isinstance(trace, AgentTrace):
        kind = type(trace).__name__
        raise AdapterError(f"{type(adapter).__name__}.run() returned a {kind}; expected an AgentTrace")
    return trace


async def _finished(task: Run, recorder: Recorder, timeout: float) -> bool:
    """Wait for the run, or until the budget cuts it. Waits for the rate limit, and time lost to other trials, do not
    count.
    """
    before = lost_seconds()
    while not task.done() and not recorder.over_budget:
        left = timeout + recorder.held + lost_seconds() - before - recorder.now()
        if left <= 0:
            break
        await _done_within(task, left, recorder)
    return task.done()


async def _done_within(task: Run, seconds: float, recorder: Recorder | None = None) -> None:
    """Wait until a task is done, for so many seconds at most; `asyncio.wait` takes twice as long for one task.

    With a recorder, wait no longer than until the budget cuts the run.
    """
    loop = asyncio.get_running_loop()
    waiter = loop.create_future()

    def wake(done: Run | None = None) -> None:
        if not waiter.done():
            waiter.set_result(None)

    timer = loop.call_later(seconds, wake)
    task.add_done_callback(wake)
    try:
        if recorder is not None:
            recorder.ends_early = partial(_wake_from_thread, loop, wake)
        if recorder is None or not recorder.over_budget:
            await waiter
    finally:
        timer.cancel()
        task.remove_done_callback(wake)


def _wake_from_thread(loop: asyncio.AbstractEventLoop, wake: Callable[[], None]) -> None:
    with suppress(RuntimeError):  # the loop has ended, and with it whoever waits
        loop.call_soon_threadsafe(wake)


def _conclude(task: Run, recorder: Recorder) -> tuple[AgentTrace, tuple[Ending, str]]:
    error = asyncio.CancelledError("the agent cancelled itself") if task.cancelled() else task.exception()
    if error is None:
        trace = task.result()
        return trace, ending_of_answer(trace, recorder)
    failed = _so_far(recorder).model_copy(update={"error": described(error)})
    if isinstance(error, AdapterError):
        return failed, (Ending.UNBUILDABLE, str(error))
    return failed, ending_of_error(error, recorder)
