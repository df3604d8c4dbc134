"""What runs the trials of a session: this machine, or the nodes of a Ray cluster."""

import os
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from agentmut._base import ENDPOINT_VARIABLES, KEYS, SIMULATOR_VARIABLE, read_yaml
from agentmut.campaign.preparation.executors import executor_here, trial_deadline
from agentmut.campaign.preparation.session import Session, declared_variables, open_session
from agentmut.campaign.preparation.tools_fit import check_doubles
from agentmut.project import ExecutionSettings, load_project
from agentmut.recording import Purse
from agentmut.trial import Executor, Pace, PacedExecutor, RayExecutor, RaySettings, RetryingExecutor
from agentmut.wire import shared_rate


class Share(NamedTuple):
    """One actor's share of a campaign: the actor is one of `actors` and runs `slots` trials at the same time."""

    actors: int
    slots: int


_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)\}")
_STAYS = "store"
"""The section of a project file that only the deciding process needs."""


def make_executor(
    session: Session, seed: int | None = None, pace: Pace | None = None, purse: Purse | None = None
) -> Executor:
    """Return what runs the trials, on this machine or on a cluster. `seed` is the plan's.

    `pace` has what is known of the model service, and learns more. Model calls on this machine are paid from `purse`,
    which ends trials once it is empty. On a cluster trials end by themselves. Raises `UsageError` when a double
    cannot stand in for its tool.
    """
    check_doubles(session.adapter, session.scenarios)
    execution = session.project.execution
    if execution.engine == "ray":
        inner: Executor = ray_executor(session, seed)
    else:
        inner = executor_here(session, seed, purse)
    return RetryingExecutor(PacedExecutor(inner, pace or Pace()), execution.retries)


def ray_executor(session: Session, seed: int | None) -> RayExecutor:
    """Return what runs the session's trials on a cluster."""
    project, execution = session.project, session.project.execution
    slots = min(execution.trials_per_actor, execution.concurrency)
    actors = -(-execution.concurrency // slots)
    names = tuple(scenario.name for scenario in session.scenarios)
    environment = sent_variables(os.environ, project.path)
    make = partial(executor_on_node, project.path.name, names, seed, Share(actors, slots))
    settings = RaySettings(
        execution.address, str(project.root), actors, slots, execution.cpus, execution.gpu, execution.memory
    )
    return RayExecutor(make, environment, settings, trial_deadline(session))


def sent_variables(environment: Mapping[str, str], project_file: Path) -> dict[str, str]:
    """Return the variables that a node needs: what the project file names outside of its store, and where and how
    models are asked.
    """
    written: Any = read_yaml(project_file, project_file.name).value
    sections = str({key: value for key, value in written.items() if key != _STAYS})
    keys = {name for names in KEYS.values() for name in names}
    wanted = {*_VARIABLE.findall(sections), *ENDPOINT_VARIABLES, *keys, SIMULATOR_VARIABLE}
    return {name: value for name, value in environment.items() if name in wanted}


def executor_on_node(file: str, scenarios: tuple[str, ...], seed: int | None, share: Share) -> Executor:
    """Return the executor of an actor, whose working directory is a copy of the project's folder."""
    project = load_project(Path.cwd() / file, with_store=False)
    os.environ.update(declared_variables(project))
    execution = of_an_actor(project.execution, share)
    return executor_here(open_session(project.model_copy(update={"execution": execution}), scenarios), seed)


def of_an_actor(execution: ExecutionSettings, share: Share) -> ExecutionSettings:
    """Return the execution settings of one actor: the rates of all actors add up to the limits of the project file."""
    rate = shared_rate(execution.requests_per_minute, share.actors)
    return execution.model_copy(update={"concurrency": share.slots, "requests_per_minute": rate})
