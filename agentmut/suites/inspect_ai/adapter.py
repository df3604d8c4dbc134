"""Run one sample of a task as a trial."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import JsonValue

from agentmut._base import CaseError, UsageError, digest_of, jsonable, nearest
from agentmut.adapters import recording_view, trace_of
from agentmut.nouns import AgentTrace, Check, Mutant
from agentmut.recording import Trial, belonging
from agentmut.seams import KeepsOpen, KnowsApi, RunsAlone, RunsCases
from agentmut.suites.called_agent import CalledAgent, failed, with_checks
from agentmut.suites.inspect_ai.in_process import IN_PROCESS, in_process
from agentmut.suites.inspect_ai.inspect_settings import WHERE, InspectSettings
from agentmut.suites.inspect_ai.loading import TaskSource
from agentmut.suites.inspect_ai.score_verdict import judged

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.log import EvalSample
    from inspect_ai.model import Model

_NOT_TOLD = ("/model/name", "/model/tool_choice", "/model/response_format")
"""Parts of the config that a model in the process is not told."""


@dataclass(frozen=True)
class InspectAdapter(CalledAgent, KeepsOpen, KnowsApi, RunsAlone, RunsCases):
    """Evaluates a task on one sample: its solver is the agent, and its scorers judge."""

    source: TaskSource

    package: ClassVar[str] = "inspect_ai"

    @property
    def runs_alone(self) -> bool:
        """Return True: inspect_ai evaluates one task at a time in a process."""
        return True

    @property
    def raised(self) -> Literal["error", "fail"]:
        """Return what an exception in the agent, or the end of its process, counts as."""
        return self.source.settings.raised

    def open(self) -> None:
        """Make the task once, in the process that will run it, and load what inspect_ai loads late."""
        from agentmut.suites.inspect_ai.evaluation import be_quiet, warm_up

        be_quiet()
        warm_up(self._model(self.source.make(self.original)))

    def close(self) -> None:
        """Do nothing: no resource is held."""

    def versions(self) -> Mapping[str, str]:
        """Return the version of inspect_ai, and digests of the suite's settings and samples."""
        task = self.source.make(self.original)
        samples = {name: jsonable(sample) for name, sample in self.source.samples(task).items()}
        return {**super().versions(), "suite": digest_of([jsonable(self.source.settings), samples])}

    async def run(self, turns: tuple[JsonValue, ...], trial: Trial) -> AgentTrace:
        """Run the task's solver on the sample that the turn names, and its scorers on the result."""
        from agentmut.suites.inspect_ai.evaluation import SolverRecord, carried_out, judging, watched_solver

        name, seen = str(turns[0]), SolverRecord()
        try:
            task = self.source.make(recording_view(self.get_config(), trial.recorder.config_reads))
        except Exception as error:
            raise failed(error, self.source.settings.raised) from error
        samples = self.source.samples(task)
        if name not in samples:
            raise CaseError(f"there is no sample {name!r}. {nearest(name, samples)}")
        task.solver = watched_solver(task.solver, trial, seen)
        with belonging(None):
            model = self._led(task)
            done = await carried_out(task, samples[name], name, model)
        trial.recorder.judging += judging(done, seen.calls)
        if seen.error is not None:
            raise failed(seen.error, self.source.settings.raised)
        if done.error is not None:
            raise CaseError(f"the sample ended with an error: {done.error.message}")
        if done.invalidation is not None:
            raise CaseError("the sample was invalidated")
        checks = tuple(_checks(done, self.source.settings))
        unscored = set(scorer_names(task, self.source.settings.ignore)) - {
            check.evaluator for check in checks
        }
        if unscored:
            raise CaseError(f"the scorer {min(unscored)} gives no score")
        return with_checks(trace_of(seen.answer, trial, 0), checks)

    def cannot_say(self, mutant: Mutant) -> str:
        """Return the setting that no request tells a model inside the process."""
        if self.takes_config or not self._in_process:
            return ""
        found = sorted(edit.pointer for edit in mutant.edits if edit.pointer.startswith(_NOT_TOLD))
        return f"a model in inspect_ai's own process is not told of {found[0][1:]}" if found else ""

    @cached_property
    def _in_process(self) -> bool:
        """Return whether the task's model sends no request."""
        task = self.source.make(self.original)
        name = self._model(task)
        return (
            name.partition("/")[0] in IN_PROCESS
            if name
            else task.model is not None and in_process(task.model)
        )

    def _led(self, task: "Task") -> "Model | str | None":
        """Return the model to evaluate with, routed through agentmut if it, or a role's model, sends no
        request.
        """
        from inspect_ai.model import get_model

        led, name = self.source.in_process.wrapped, self._model(task)
        for role, model in (task.model_roles or {}).items():
            task.model_roles = {
                **(task.model_roles or {}),
                role: led(model) if not isinstance(model, list) else model,
            }
        if name is None and task.model is not None:
            task.model = led(task.model)
            return None
        if name is None:
            return None
        model = get_model(name)
        wrapped = led(model)
        return name if wrapped is model else wrapped

    def _model(self, task: "Task") -> str | None:
        """Return the model that the task uses if it names none."""
        settings, model = self.source.settings, self.original.model
        if settings.model or task.model is not None:
            return settings.model
        if named := os.environ.get("INSPECT_EVAL_MODEL"):
            return named
        return f"{model.provider or 'openai'}/{model.name}" if model.name else None


def _checks(done: "EvalSample", settings: InspectSettings) -> Iterator[Check]:
    """Return one check for each scorer that judges."""
    for name, score in (done.scores or {}).items():
        if name in settings.ignore:
            continue
        found = judged(score.value, name, settings.pass_score, score.explanation or "")
        if found is None:
            raise CaseError(
                f"the scorer {name} gives {score.value!r}, which is neither correct nor incorrect: set "
                f"{WHERE}.pass_score to the least score that passes, or list it in ignore"
            )
        yield Check(evaluator=name, passed=found[0], reason=found[1])


def scorer_names(task: "Task", ignored: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the task's scorers, without ignored ones. Raise `UsageError` if none is left."""
    from inspect_ai.scorer._scorer import unique_scorer_name

    used: list[str] = []
    for scorer in task.scorer or ():
        used.append(unique_scorer_name(scorer, used))
    judging = tuple(name for name in used if name not in ignored)
    if unknown := sorted(set(ignored) - set(used)):
        raise UsageError(f"{WHERE}.ignore: there is no scorer {unknown[0]!r}. {nearest(unknown[0], used)}")
    if not judging:
        raise UsageError(f"{WHERE}: the task {task.name} has no scorer that judges; add one")
    return judging
