"""Carrying out work: the event loop, signals and garbage collection around the campaign's loop."""

import asyncio
import gc
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

from agentmut.campaign.preparation.plan import RunPlan
from agentmut.campaign.preparation.session import Session, make_executor
from agentmut.campaign.running.judges import judges_usd
from agentmut.campaign.running.loop import Clock, Guard, Loop, Ports
from agentmut.campaign.running.trial_store import TrialStore
from agentmut.campaign.running.work import Stop, Work
from agentmut.project import redactor
from agentmut.store import Store, StoredRun, write_cassette
from agentmut.trial import Executor, Pace


def register(store: Store, plan: RunPlan) -> None:
    """Note a run before its first trial, so that it can be resumed whatever happens."""
    store.add_run(StoredRun(plan.run_id, plan.started, plan.model_dump_json(), "planned"))


def run_work(
    session: Session,
    work: Work,
    store: TrialStore,
    *,
    progress: Callable[[], None] = lambda: None,
    now: Clock = time.time,
    executor: Executor | None = None,
    guard: Guard | None = None,
) -> Stop:
    """Run the trials that `work` asks for, to the end; Ctrl-C ends it cleanly with `Stop.INTERRUPTED`.

    `executor` runs them instead of the session's own. With a `guard` it may end with `Stop.QUARANTINED`.
    """
    plan = work.plan
    pace = None if executor else Pace(store.waits())
    executor = executor or make_executor(session, plan.seed, pace)
    keep = partial(write_cassette, session.project.runs / plan.run_id)
    judges = partial(judges_usd, session)
    clean = redactor(session.project)
    seconds = session.project.execution.evaluator_timeout
    ports = Ports(executor, store, session.tests, now, progress, clean, keep, judges, pace, seconds)
    with _little_garbage_collection():
        return asyncio.run(_run(Loop(work, ports, guard) if guard else Loop(work, ports)))


async def _run(loop: Loop) -> Stop:
    with _interruptible(asyncio.get_running_loop(), loop.interrupt):
        return await loop.run()


@contextmanager
def _little_garbage_collection() -> Iterator[None]:
    """Leave what is loaded by now (libraries, mostly) out of every collection during the block.

    Going through all of it again and again stopped every agent for tens of milliseconds at a time.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def _interruptible(loop: asyncio.AbstractEventLoop, interrupt: Callable[[], None]) -> Iterator[None]:
    """Let Ctrl-C (and SIGTERM) end the campaign; outside the main thread the caller handles signals."""
    handled = (signal.SIGINT, signal.SIGTERM)
    try:
        for number in handled:
            loop.add_signal_handler(number, interrupt)
    except (ValueError, NotImplementedError, RuntimeError):
        yield
        return
    try:
        yield
    finally:
        for number in handled:
            with suppress(ValueError):
                loop.remove_signal_handler(number)
