"""Find a task of inspect_ai and make it with inspect_ai's own loader, as `inspect eval` does."""

import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentmut._base import AgentmutError, UsageError, error_location, import_callable, nearest, one_line
from agentmut.nouns import AgentConfig
from agentmut.suites.called_agent import config_parameter
from agentmut.suites.inspect_ai.in_process import InProcess
from agentmut.suites.inspect_ai.inspect_settings import WHERE, InspectSettings

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.dataset import Sample

CONFIG = "agentmut_config"
"""The parameter by which a task is told the config; `config` is a word of inspect_ai's own."""


class ReadOnlyConfig:
    """The config that tasks and solvers get. It reads like an `AgentConfig`, but is no model.

    inspect_ai writes out the arguments of everything it registers; those are no reads of the agent's.
    """

    __slots__ = ("_config",)

    def __init__(self, config: AgentConfig) -> None:
        self._config = config

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._config, name)

    def __deepcopy__(self, memo: object) -> "ReadOnlyConfig":
        return self


class TaskSource:
    """A task that can be made again for each run, and the part of it that takes the config."""

    def __init__(self, settings: InspectSettings, root: Path) -> None:
        self.settings = settings
        self.root = root
        self.function = _task_function(settings.task, root)
        self.factory = import_callable(settings.solver, root) if settings.solver else None
        self.task_takes_config = CONFIG in _parameters(self.function)
        self.in_process = InProcess()
        self._first_task: Task | None = None

    @property
    def takes_config(self) -> bool:
        """Return whether the task, or the solver in place of its own, takes the config."""
        return self.task_takes_config or self.factory is not None

    def make(self, config: AgentConfig) -> "Task":
        """Make the task on a config, which must not be changed. Raise what the task's code raises."""
        if self.task_takes_config:
            task = self._created(self.settings.args | {CONFIG: ReadOnlyConfig(config)})
        else:
            self._first_task = self._first_task or self._created(self.settings.args)
            task = self._first_task
        task = copy.copy(task)
        if self.factory is not None:
            from inspect_ai import task_with

            name = config_parameter(self.factory)
            given = ReadOnlyConfig(config)
            made = self.factory(**{name: given}) if name else self.factory(given)
            task = task_with(task, solver=made)
        return task

    def samples(self, task: "Task") -> "dict[str, Sample]":
        """Return the chosen samples by id, in order; a sample without an id has its number."""
        every = {str(place if one.id is None else one.id): one for place, one in enumerate(task.dataset, 1)}
        for wanted in map(str, self.settings.samples):
            if wanted not in every:
                raise UsageError(f"{WHERE}.samples: there is no sample {wanted!r}. {nearest(wanted, every)}")
        wanted_ids = [str(one) for one in self.settings.samples] or list(every)
        return {one: every[one] for one in wanted_ids[: self.settings.limit]}

    def _created(self, args: dict[str, Any]) -> "Task":
        from inspect_ai._eval.loader import create_file_tasks
        from inspect_ai._util.registry import registry_unqualified_name

        path, _, _ = self.settings.task.partition("@")
        file = self.root / path
        if file.suffix == ".py":
            name = registry_unqualified_name(self.function)
            (task,) = create_file_tasks(file.resolve(), [name], args)
            return task
        made: Task = self.function(**args)
        return made


def _task_function(reference: str, root: Path) -> Any:
    """Return the function behind a task's name. Raise `UsageError`."""
    from inspect_ai._util.registry import registry_lookup

    path, _, name = reference.partition("@")
    file = root / path
    if file.suffix != ".py":
        found = registry_lookup("task", reference)
        if found is None:
            raise UsageError(f"{WHERE}: there is no task {reference!r}; write file.py@name, or package/name")
        return found
    if not file.is_file():
        raise UsageError(f"{WHERE}: there is no file {path} in {root}")
    known = _names_in(file, path)
    if not name and len(known) != 1:
        raise UsageError(f"{WHERE}: {path} holds {len(known)} tasks; name one: {path}@{'|'.join(known)}")
    if name and name not in known:
        raise UsageError(f"{WHERE}: {path} has no task {name!r}. {nearest(name, known)}")
    return registry_lookup("task", name or known[0])


def _names_in(file: Path, path: str) -> list[str]:
    """Return the tasks of a file, by their registered names."""
    from inspect_ai._eval.loader import load_file_tasks
    from inspect_ai._util.decorator import parse_decorators

    try:
        load_file_tasks(file.resolve())
        return [found[0] for found in parse_decorators(file.resolve(), "task")]
    except (AgentmutError, KeyboardInterrupt):
        raise
    except BaseException as error:  # the task's module may raise anything
        raise UsageError(
            f"{WHERE}: loading {path} raised {one_line(error)} ({error_location(error)})"
        ) from error


def _parameters(function: Any) -> tuple[str, ...]:
    import inspect

    return tuple(inspect.signature(function).parameters)
