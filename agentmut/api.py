"""Run a campaign: the same for the command line and for Python."""

import asyncio
import gc
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import ValidationError

from agentmut.engine.campaign import Campaign, Clock, Progress, Tools
from agentmut.engine.plan import Plan
from agentmut.engine.selection import Selection
from agentmut.engine.session import (
    Session,
    declared_variables,
    make_executor,
    make_mutants,
    make_plan,
    open_session,
    suite_digest,
)
from agentmut.engine.state import CampaignState, Stop
from agentmut.engine.summary import summarise
from agentmut.engine.tables import Tables
from agentmut.errors import RunError, UsageError
from agentmut.lock import locked
from agentmut.project import Project, load_project
from agentmut.redaction import Redactor, secret_values
from agentmut.result import Result, write_result
from agentmut.store.sqlite import Store, StoredRun

FOLDER = ".agentmut"


def measure(
    project: Project | str | Path = ".",
    *,
    seed: int | None = None,
    fresh: bool = False,
    selection: Selection | None = None,
    scenarios: Sequence[str] = (),
) -> Result:
    """Measure the suite of a project (a loaded one, a file or a directory) and return the result.

    Trials already in the project's store are reused unless `fresh`. Raises the errors of
    `agentmut.errors`: among them `RunError` when a control fails. A result whose `status` is `budget` or
    `interrupted` is partial.
    """
    _refuse_running_loop()
    loaded = project if isinstance(project, Project) else load_project(Path(project))
    with agent_environment(loaded):
        session = open_session(loaded, scenarios)
        plan = make_plan(session, make_mutants(session, selection or Selection()), seed, time.time())
        with open_store(loaded) as store:
            register(store, plan)
            return carry_out(session, plan, store, fresh=fresh)


def _refuse_running_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise UsageError(
        "agentmut.measure() runs an event loop of its own and cannot be called from a running one (a notebook, an "
        "async test). Use `await asyncio.to_thread(agentmut.measure, project)`."
    )


def register(store: Store, plan: Plan) -> None:
    """Note a run before its first trial, so that it can be resumed whatever happens."""
    store.add_run(StoredRun(plan.run_id, plan.started, plan.model_dump_json(), "planned"))


def carry_out(
    session: Session,
    plan: Plan,
    store: Store,
    *,
    fresh: bool = False,
    progress: Progress = lambda state: None,
    now: Clock = time.time,
) -> Result:
    """Carry a plan out, write its `result.json`, and return it.

    Ctrl-C ends it cleanly with status `interrupted`. Raises `RunError`, after writing the result, when the
    campaign cannot be carried out or a control failed.
    """
    folder = session.project.root / FOLDER
    if fresh:
        plan = plan.model_copy(update={"fresh": True})
        store.set_plan(plan.run_id, plan.model_dump_json())  # so that `resume` keeps to it
    state = CampaignState(
        plan=plan,
        suite=session.suite,
        scenarios=session.tests.scenarios,
        tables=Tables(folder / "tables"),
    )
    tools = Tools(
        make_executor(session, plan.seed), store, session.tests, now, progress, redactor(session.project)
    )
    with _little_garbage_collection():
        stop = asyncio.run(_run(Campaign(state, tools)))
    result = summarise(session, state, stop)
    write_result(result, folder / "runs" / plan.run_id)
    store.set_status(plan.run_id, stop.value, state.spend.seconds)
    if stop is Stop.FAILED:
        kind = UsageError if state.refused else RunError
        kept = f"Run {plan.run_id} is kept: `agentmut report {plan.run_id}` shows it."
        raise kind(f"{state.problem.rstrip('.')}. {kept}")
    return result


def stored_plan(session: Session, stored: StoredRun) -> Plan:
    """The plan of a stored run, if it still fits the project. Raises `UsageError` when it does not.

    Budget and concurrency are those of the project file as it is now.
    """
    plan = _read_plan(stored)
    changed = [
        name
        for name, before, today in (
            ("the agent's config", plan.config_digest, session.suite.full.digest),
            ("the suite", plan.suite_digest, suite_digest(session)),
            ("the agent's code, packages or endpoint", plan.environment, session.environment),
        )
        if before != today
    ]
    if changed:
        raise UsageError(
            f"run {plan.run_id} cannot be resumed: {' and '.join(changed)} changed since it was planned. "
            "Start a new one with `agentmut run`: finished trials that still apply are reused."
        )
    project = session.project
    return plan.model_copy(update={"budget": project.budget, "concurrency": project.execution.concurrency})


def _read_plan(stored: StoredRun) -> Plan:
    try:
        return Plan.model_validate_json(stored.plan)
    except ValidationError:
        raise UsageError(
            f"run {stored.id} cannot be resumed: its plan was written by another version of agentmut. "
            "Start a new one with `agentmut run`."
        ) from None


@contextmanager
def open_store(project: Project) -> Iterator[Store]:
    """The project's store, for this process alone, closed at the end. Raises `StoreError`."""
    folder = project.root / FOLDER
    with locked(folder):
        store = Store(folder / "store.db")
        try:
            yield store
        finally:
            store.close()


def redactor(project: Project) -> Redactor:
    """What takes the secrets of the project and of this process out of trials."""
    return Redactor(secret_values(declared_variables(project), os.environ))


@contextmanager
def agent_environment(project: Project) -> Iterator[None]:
    """Set the agent's environment variables for the block."""
    before = {name: os.environ.get(name) for name in project.env}
    os.environ.update(declared_variables(project))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


async def _run(campaign: Campaign) -> Stop:
    loop = asyncio.get_running_loop()
    with _interruptible(loop, campaign.interrupt):
        return await campaign.run()


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
