"""pydantic-evals: a case of a dataset is a case, and each of its evaluators a check."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import JsonValue

from agentmut._base import (
    CaseError,
    Frozen,
    PassScore,
    UsageError,
    digest_of,
    error_location,
    import_callable,
    import_object,
    jsonable,
    nearest,
    one_line,
    passes,
    score_reason,
)
from agentmut.adapters import CallableAdapter, trace_of
from agentmut.nouns import AgentConfig, AgentTrace, Check, EvaluatorSpec, Scenario
from agentmut.recording import Trial, belonging
from agentmut.seams import Adapter, AgentSpec, RunsCases, SuiteSpec
from agentmut.suites.called_agent import (
    CalledAgent,
    Raised,
    check_route,
    config_first,
    config_parameter,
    failed,
    unique,
    with_checks,
)
from agentmut.suites.judge_requests import judging
from agentmut.suites.suite_argument import read_settings, require

if TYPE_CHECKING:
    from pydantic_evals import Case, Dataset
    from pydantic_evals.evaluators import EvaluationResult, Evaluator

WHERE = "suite.pydantic_evals"
_FILES = (".yaml", ".yml", ".json")


class PydanticEvalsSettings(Frozen):
    """Which dataset to run, on which task, and how scores are judged."""

    dataset: str
    """`module:object`, a dataset or a function that makes one; or a file of pydantic-evals."""
    task: str
    """`module:function`, called with a case's inputs, and with the config where it has a parameter for it."""
    evaluators: tuple[str, ...] = ()
    """`module:Class` of own evaluators that the file names."""
    ignore: tuple[str, ...] = ()
    """Names of evaluators that judge nothing, such as those that only measure."""
    pass_score: PassScore = None
    """The least score that passes, of all scores or by their names."""
    raised: Raised = "fail"
    """What an exception of the task counts as."""


class PydanticEvals:
    """The importer of pydantic-evals datasets."""

    name: ClassVar[str] = "pydantic_evals"

    def __init__(self, settings: PydanticEvalsSettings, root: Path) -> None:
        self._settings = settings
        self._suite = _Suite(settings, _dataset(settings, root))
        self._task = import_callable(settings.task, root)

    @classmethod
    def create(cls, spec: SuiteSpec) -> "PydanticEvals":
        """Read the dataset and import the task; the argument is as `PydanticEvalsSettings`. Raises `UsageError`."""
        require("pydantic_evals", "pydantic-evals", WHERE)
        return cls(read_settings(PydanticEvalsSettings, spec.argument, WHERE), Path(spec.root))

    def scenarios(self) -> tuple[Scenario, ...]:
        """Return the cases, in the dataset's order. Raise `UsageError` if there are none."""
        if not self._suite.cases:
            raise UsageError(f"{WHERE}: the dataset {self._settings.dataset} has no cases; add one")
        return tuple(_scenario(name, self._suite) for name in self._suite.cases)

    def adapter(self, agent: AgentSpec, config: AgentConfig) -> Adapter | None:
        """Return the adapter that runs the task on a case."""
        name = config_parameter(self._task)
        check_route(agent, self._settings.task, name is not None)
        run = self._task if name is None else config_first(self._task, name)
        called = CallableAdapter(run, config, takes_config=name is not None)
        return PydanticEvalsAdapter(called, config, name is not None, self._suite)


class _Suite:
    """A dataset by the names of its cases."""

    def __init__(self, settings: PydanticEvalsSettings, dataset: "Dataset[Any, Any, Any]") -> None:
        self.settings = settings
        self.dataset = dataset
        named = [case.name or f"Case {place}" for place, case in enumerate(dataset.cases, 1)]
        self.cases = dict(zip(unique(named), dataset.cases, strict=True))

    def judges(self, case: "Case[Any, Any, Any]") -> "dict[str, Evaluator[Any, Any, Any]]":
        """Return the evaluators that judge a case, by the names of their checks."""
        every = [*case.evaluators, *self.dataset.evaluators]
        kept = [one for one in every if one.get_default_evaluation_name() not in self.settings.ignore]
        return dict(zip(unique([one.get_default_evaluation_name() for one in kept]), kept, strict=True))

    @property
    def digest(self) -> str:
        """Return a digest of the settings and of the cases' contents."""
        cases = [(name, jsonable(case.inputs)) for name, case in self.cases.items()]
        return digest_of([self.settings.model_dump(mode="json"), cases])


@dataclass(frozen=True)
class PydanticEvalsAdapter(CalledAgent, RunsCases):
    """Evaluates a dataset of one case. The task is the agent; the evaluators are not."""

    suite: _Suite

    package: ClassVar[str] = "pydantic-evals"

    @property
    def raised(self) -> Literal["error", "fail"]:
        """Return what an exception in the agent, or the end of its process, counts as."""
        return self.suite.settings.raised

    def versions(self) -> Mapping[str, str]:
        """Return the version of pydantic-evals, and digests of the suite's settings and inputs."""
        return {**super().versions(), "suite": self.suite.digest}

    async def run(self, turns: tuple[JsonValue, ...], trial: Trial) -> AgentTrace:
        """Run the task on the case that the turn names, and the case's evaluators on the result."""
        case = self.suite.cases.get(str(turns[0]))
        if case is None:
            raise CaseError(f"there is no case {turns[0]!r}. {nearest(str(turns[0]), self.suite.cases)}")
        task = _Task(self.agent, trial)
        with judging(trial):
            report = await self._alone(case).evaluate(
                task, progress=False, task_name=self.suite.settings.task
            )
        if task.error is not None:
            raise failed(task.error, self.suite.settings.raised)
        if report.failures:  # not the task's own
            raise CaseError(report.failures[0].error_message)
        judged = report.cases[0]
        if judged.evaluator_failures:
            broken = judged.evaluator_failures[0]
            raise CaseError(f"the evaluator {broken.name} failed: {broken.error_message}")
        results = [*judged.assertions.values(), *judged.scores.values(), *judged.labels.values()]
        return with_checks(task.trace, tuple(_checks(self.suite.judges(case), results, self.suite.settings)))

    def _alone(self, case: "Case[Any, Any, Any]") -> "Dataset[Any, Any, Any]":
        """Return a dataset of that case only; the task may change its inputs."""
        from pydantic_evals import Dataset

        dataset = self.suite.dataset
        return Dataset(name=dataset.name, cases=[copy.deepcopy(case)], evaluators=dataset.evaluators)


class _Task:
    """The task that pydantic-evals gets: a recorded part of the trial."""

    def __init__(self, agent: CallableAdapter, trial: Trial) -> None:
        self._agent = agent
        self._trial = trial
        self.trace = AgentTrace()
        self.error: BaseException | None = None
        self.__name__ = "task"

    async def __call__(self, inputs: Any) -> Any:
        with belonging(self._trial):
            try:
                answer = await self._agent.answer(inputs, self._trial)
            except Exception as error:
                self.error = error
                raise
        self.trace = trace_of(answer, self._trial, 0)
        return answer


def _dataset(settings: PydanticEvalsSettings, root: Path) -> "Dataset[Any, Any, Any]":
    from pydantic_evals import Dataset

    where = f"{WHERE}.dataset"
    if settings.dataset.endswith(_FILES):
        own = [import_callable(reference, root) for reference in settings.evaluators]
        try:
            return Dataset[Any, Any, Any].from_file(root / settings.dataset, custom_evaluator_types=own)  # type: ignore[arg-type]
        except (Exception, ExceptionGroup) as error:
            raise UsageError(f"{where}: {settings.dataset} cannot be read: {_why(error)}") from None
    found = import_object(settings.dataset, root)
    dataset = _call_factory(found, where, settings.dataset) if callable(found) else found
    if not isinstance(dataset, Dataset):
        raise UsageError(f"{where}: {settings.dataset} is a {type(dataset).__name__}, not a Dataset")
    return dataset


def _call_factory(factory: Any, where: str, reference: str) -> Any:
    try:
        return factory()
    except Exception as error:  # the project's own code may raise anything
        said = f"{reference} raised {one_line(error)} ({error_location(error)})"
        raise UsageError(f"{where}: {said}; it has to make a dataset without being given anything") from error


def _why(error: BaseException) -> str:
    causes = error.exceptions if isinstance(error, ExceptionGroup) else [error]
    return "; ".join(" ".join(str(cause).split()) for cause in causes)


def _scenario(name: str, suite: _Suite) -> Scenario:
    judges = suite.judges(suite.cases[name])
    if not judges:
        raise UsageError(f"{WHERE}: the case {name!r} has no evaluator; add one, or leave the case out")
    checks = tuple(EvaluatorSpec(name="suite", argument=judge) for judge in judges)
    return Scenario(name=name, turns=(name,), evaluators=checks)


def _checks(
    judges: "Mapping[str, Evaluator[Any, Any, Any]]",
    results: "Sequence[EvaluationResult[Any]]",
    settings: PydanticEvalsSettings,
) -> Iterator[Check]:
    """Return one check for each evaluator: all of its results that are yes or no, or have a least score, must pass."""
    least = settings.pass_score
    for name, judge in judges.items():
        spec = judge.as_spec()
        own = [result for result in results if result.source == spec]
        judged = [(one, ok) for one in own if (ok := passes(one.value, one.name, least)) is not None]
        if not judged:
            raise CaseError(
                f"the evaluator {name} gives {', '.join(repr(one.value) for one in own) or 'nothing'}, which is "
                f"neither pass nor fail: set {WHERE}.pass_score to the least score that passes, or list it in ignore"
            )
        decisive, ok = next(((one, ok) for one, ok in judged if not ok), judged[0])
        yield Check(
            evaluator=name,
            passed=ok,
            reason=score_reason(decisive.value, decisive.name, least, decisive.reason or ""),
        )
