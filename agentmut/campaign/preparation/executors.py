"""What runs the trials of a session on this machine: in this process, or each in a process of its own."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from agentmut._base import gone_again
from agentmut.campaign.preparation.process_needs import kept_lock_needs, process_needs
from agentmut.campaign.preparation.session import Session, open_session, pricer_of
from agentmut.judging import judges_apart
from agentmut.nouns import Ending, Scenario
from agentmut.project import Project, redactor
from agentmut.recording import NOT_KEPT, Purse
from agentmut.seams import RunsAlone, RunsCases, RunsOutside
from agentmut.trial import (
    Case,
    Executor,
    LocalExecutor,
    ProcessExecutor,
    RunSettings,
    inside,
    resolve_doubles,
    resolve_hooks,
)
from agentmut.wire import shared_rate, slowest_rate

HELD_REQUESTS = 20
"""Requests of one trial that may have to wait for the rate limit before a worker counts as stuck."""


def executor_here(session: Session, seed: int | None, purse: Purse | None = None) -> Executor:
    """Return what runs trials on this machine, once each; their model calls are paid from `purse`."""
    execution = session.project.execution
    agent = inside(session.adapter)
    outside = isinstance(agent, RunsOutside)  # then each agent has a process of its own
    alone = isinstance(agent, RunsAlone) and agent.runs_alone
    if (_isolates(session) or alone) and not outside:
        make = partial(_worker_executor, session.project, _names(session.scenarios), seed)
        no_evidence = isinstance(agent, RunsCases) and agent.raised == "error"
        exit_ends = Ending.CASE_ERROR if no_evidence else Ending.RAISED
        return ProcessExecutor(make, execution.concurrency, trial_deadline(session), exit_ends, purse)
    local = local_executor(session, seed)
    if purse is not None:
        local.spend_from(purse)
    return local


def could_isolate(session: Session) -> bool:
    """Return whether trials run in this process that could have processes of their own."""
    agent, execution = inside(session.adapter), session.project.execution
    here = isinstance(agent, RunsOutside) or execution.engine == "ray"
    return not here and not (isinstance(agent, RunsAlone) and agent.runs_alone) and not _isolates(session)


def is_contained(session: Session) -> bool:
    """Return whether a second process would contain the code of users no better than this one."""
    return not could_isolate(session) and judges_apart(session.project.execution.isolate_evaluators)


def _isolates(session: Session) -> bool:
    """Return whether each trial has its own process: as the project says, or for `auto` as the agent's code needs.

    In a command's second process each has: code of users has stopped or ended the first.
    """
    if gone_again():
        return True
    project, wanted = session.project, session.project.execution.isolate
    if wanted != "auto":
        return wanted == "process"
    return any(process_needs(project.root)) or any(
        kept_lock_needs(session.adapter, session.scenarios, project.root)
    )


def local_executor(session: Session, seed: int | None = None, sharing: int = 1) -> LocalExecutor:
    """Return the executor of the session's trials in this process, one of `sharing` executors under one rate limit."""
    project = session.project
    settings = RunSettings(
        timeout=project.execution.timeout,
        seed=project.statistics.seed if seed is None else seed,
        requests_per_minute=shared_rate(project.execution.requests_per_minute, sharing),
        record=project.execution.record,
        proxy_port=project.agent.proxy_port,
        intercept=project.agent.intercepted,
        redact=_redact(project),
    )
    cases = {scenario.name: _case(scenario, project.root) for scenario in session.scenarios}
    return LocalExecutor(session.adapter, session.suite, cases, pricer_of(project), settings)


def _worker_executor(project: Project, scenarios: tuple[str, ...], seed: int | None) -> Executor:
    session = open_session(project, scenarios)
    return local_executor(session, seed, sharing=project.execution.concurrency)


def trial_deadline(session: Session) -> float:
    """Return the seconds that a worker may need for one trial, including its hooks and the wait for the rate limit."""
    execution = session.project.execution
    hooks = max(bool(scenario.setup) + bool(scenario.teardown) for scenario in session.scenarios)
    limit = slowest_rate(execution.requests_per_minute)
    held = HELD_REQUESTS * 60 * execution.concurrency / limit if limit else 0.0
    return execution.timeout * (1 + hooks) + held


def _redact(project: Project) -> Callable[[str], str]:
    """Return the function that redacts texts before they are cut for the store or quoted in an error."""
    return redactor(project).text if project.store.keeps_texts else _nothing_kept


def _nothing_kept(text: str) -> str:
    return NOT_KEPT if text else ""


def _case(scenario: Scenario, root: Path) -> Case:
    hooks = resolve_hooks(scenario, root)
    return Case(scenario, resolve_doubles(scenario, root), hooks.setup, hooks.teardown)


def _names(scenarios: Sequence[Scenario]) -> tuple[str, ...]:
    return tuple(scenario.name for scenario in scenarios)
