"""Evaluate one sample of a task with inspect_ai itself, without a display and without leftover files."""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentmut._base import CaseError, UnavailableError, environ, scratch_folder
from agentmut.nouns import Action, Step, Usage
from agentmut.recording import Trial, belonging

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.dataset import Sample
    from inspect_ai.event import Event, ModelEvent
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ModelUsage
    from inspect_ai.solver import Generate, Solver, TaskState

NOTHING_LEFT = {"INSPECT_CACHE_DIR": "cache", "INSPECT_TRACE_FILE": "trace.log"}
"""Variables of inspect_ai that say where its files are, and what takes their place in a folder of the run's own."""


class SolverRecord:
    """What the solver of a sample did, which the scorers do not show."""

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self.answer: str | None = None
        self.calls = 0
        """Calls of models until the solver had ended; those that follow are the scorers'."""


def watched_solver(inner: "Solver", trial: Trial, seen: SolverRecord) -> "Solver":
    """Return the solver as a part of the trial: its model requests are the agent's, the scorers' are not."""
    from inspect_ai.log import transcript
    from inspect_ai.solver import solver

    @solver(name="agentmut_watched")
    def under_test() -> "Solver":
        async def solve(state: "TaskState", generate: "Generate") -> "TaskState":
            with belonging(trial):
                try:
                    state = await inner(state, generate)
                except Exception as error:
                    seen.error = error
                    raise
                finally:
                    seen.calls = len(_model_calls(transcript().events))
            seen.answer = state.output.completion if state.output else None
            return state

        return solve

    return under_test()


def judging(done: "EvalSample", before: int) -> Iterator[Step]:
    """Return the scorers' model calls on a sample: all its calls except those `before`, by whatever route."""
    for event in _model_calls(done.events)[before:]:
        usage = event.output.usage
        if usage is not None and event.cache != "read":
            name = event.model.partition("/")[2] or event.model
            yield Step(action=Action.REASON, model=name, usage=_tokens(usage))


def _model_calls(events: "Iterable[Event]") -> "list[ModelEvent]":
    from inspect_ai.event import ModelEvent

    return [event for event in events if isinstance(event, ModelEvent)]


def _tokens(usage: "ModelUsage") -> Usage:
    cached, written = usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0
    return Usage(
        input_tokens=usage.input_tokens + cached + written,
        output_tokens=usage.output_tokens,
        cached_tokens=cached,
        cache_written_tokens=written,
    )


async def carried_out(task: "Task", sample: "Sample", name: str, model: Any) -> "EvalSample":
    """Evaluate a task on one sample, once. Raise `CaseError` if inspect_ai returns no sample.

    Raise `UnavailableError` where something is missing that inspect_ai needs, such as the engine of a sandbox.
    """
    from inspect_ai import eval_async, task_with
    from inspect_ai._util.error import PrerequisiteError
    from inspect_ai.dataset import MemoryDataset

    own = sample.model_copy(update={"id": sample.id or name}, deep=True)
    task = task_with(task, dataset=MemoryDataset([own]), epochs=1, early_stopping=None)
    with scratch_folder() as folder, _files_in(str(folder)):
        try:
            (log,) = await eval_async(
                task,
                model=model,
                log_dir=f"{folder}/logs",
                log_format="json",
                log_level="error",
                log_realtime=False,
                log_samples=True,
                fail_on_error=False,
                retry_on_error=0,
                score_display=False,
                ctl_server=False,
            )
        except PrerequisiteError as error:
            raise UnavailableError(
                f"inspect_ai cannot run the sample: {' '.join(str(error.message).split())}"
            ) from error
    if not log.samples:
        raise CaseError(f"inspect_ai gives no sample: {log.error.message if log.error else log.status}")
    return log.samples[0]


def be_quiet() -> None:
    """Switch off the display and the record of the last eval, in a process that does nothing else."""
    from inspect_ai._eval.task import run
    from inspect_ai.util._display import init_display_type

    init_display_type("none")
    if hasattr(run, "view_notify_eval"):
        run.view_notify_eval = lambda location: None


def warm_up(model: str | None) -> None:
    """Import what inspect_ai imports with its first eval, which takes seconds, and the model's provider.

    Else that were time of the agent in a process's first trial.
    """
    from inspect_ai import Task
    from inspect_ai.dataset import Sample
    from inspect_ai.model import get_model

    asyncio.run(carried_out(Task(solver=_nothing()), Sample(input="nothing"), "nothing", "none/none"))
    if model is not None:
        # a missing key or SDK: trials say so, in the words of inspect_ai
        with suppress(Exception, SystemExit):
            get_model(model, memoize=False)


def _nothing() -> "Solver":
    from inspect_ai.solver import solver

    @solver(name="agentmut_nothing")
    def made() -> "Solver":
        async def solve(state: "TaskState", generate: "Generate") -> "TaskState":
            return state

        return solve

    return made()


@contextmanager
def _files_in(folder: str) -> Iterator[None]:
    """Keep inspect_ai's files in this folder, so that no cached answer passes from run to run."""
    with environ({name: str(Path(folder) / file) for name, file in NOTHING_LEFT.items()}):
        yield
