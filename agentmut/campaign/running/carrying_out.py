"""Carrying out work: the event loop, signals and garbage collection around the campaign's loop."""

import asyncio
import gc
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial

from agentmut._base import SecondProcess, gone_again, signs_of_life
from agentmut.campaign.preparation.engines import make_executor
from agentmut.campaign.preparation.executors import is_contained
from agentmut.campaign.preparation.plan import RunPlan
from agentmut.campaign.preparation.plan_texts import stored_plan_text
from agentmut.campaign.preparation.session import Session
from agentmut.campaign.running.forks import Forks
from agentmut.campaign.running.judges import judges_usd
from agentmut.campaign.running.loop import Loop
from agentmut.campaign.running.ports import Clock, Guard, Ports
from agentmut.campaign.running.signals import guarded
from agentmut.campaign.running.trial_store import TrialStore
from agentmut.campaign.running.work import Stop, Work
from agentmut.judging import judges_apart
from agentmut.project import redactor
from agentmut.recording import Purse, TextKeeping, count_lost_time
from agentmut.store import Store, StoredRun, Unshared, write_cassette
from agentmut.trial import Executor, Pace, make_task

ALL_TEXTS = TextKeeping()
OBJECTS_BETWEEN_COLLECTIONS = 10_000
"""New objects after which Python looks for cycles among them: those of some 30 trials of an agent that does nothing."""


def register(store: Store, plan: RunPlan, texts: TextKeeping = ALL_TEXTS) -> None:
    """Register a run before its first trial, so that it can be resumed; `texts` says which texts may be stored.

    A command's second process goes on with the run that the first one has registered.
    """
    stored = StoredRun(plan.run_id, plan.started, stored_plan_text(plan, texts), "planned")
    if gone_again():
        store.adopt_run(stored)
    else:
        store.add_run(stored)


def run_work(
    session: Session,
    work: Work,
    store: TrialStore,
    *,
    progress: Callable[[], None] = lambda: None,
    now: Clock = time.time,
    elapsed: Clock | None = None,
    executor: Executor | None = None,
    guard: Guard | None = None,
    forks: Forks | None = None,
) -> Stop:
    """Run the trials that `work` names to the end; Ctrl-C ends the run cleanly with `Stop.INTERRUPTED`.

    `now` gives the seconds since the epoch that trials are stored with; what the run takes is measured by `elapsed`, a
    clock that no correction of the time of day moves. `executor` runs the trials instead of the session's own. With a
    `guard` it may end with `Stop.QUARANTINED`. With `forks` trials of mutants go along recorded runs of the original.
    """
    plan = work.plan
    pace = None if executor else Pace(store.waits())
    purse = None if plan.budget.usd is None else Purse.shared(session.project.execution.concurrency)
    executor = executor or make_executor(session, plan.seed, pace, purse)
    keep = partial(write_cassette, session.project.runs / plan.run_id)
    judges = partial(judges_usd, session)
    clean = redactor(session.project)
    seconds = session.project.execution.evaluator_timeout
    ports = Ports(executor, store, session.tests, now, progress, clean, keep, judges, pace, seconds, forks)
    execution = session.project.execution
    begun = SecondProcess(plan.run_id, plan.kind.replace(" ", "_"))
    longest = max(execution.timeout, execution.evaluator_timeout)
    alive = signs_of_life(longest, begun, contained=is_contained(session))
    claims = Unshared() if plan.fresh else store.claims(plan.run_id)
    steady = elapsed or (time.monotonic if now is time.time else now)
    apart = judges_apart(execution.isolate_evaluators)
    ports = ports._replace(claims=claims, elapsed=steady, evaluators_apart=apart, purse=purse)
    with _little_garbage_collection(), alive, closing(claims), asyncio.Runner() as runner:
        runner.get_loop().set_task_factory(make_task)
        loop = Loop(work, ports, guard) if guard else Loop(work, ports)
        return runner.run(_run(loop, execution.timeout))


async def _run(loop: Loop, seconds: float) -> Stop:
    with guarded(asyncio.get_running_loop(), loop.interrupt, seconds, count_lost_time()):
        return await loop.run()


@contextmanager
def _little_garbage_collection() -> Iterator[None]:
    """Leave what is loaded by now (libraries, mostly) out of every collection during the block; collect seldom.

    Going through all of it again and again stopped every agent for tens of milliseconds at a time. The objects of a
    trial live until it is stored: a collection within it finds them all alive.
    """
    usual = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()
