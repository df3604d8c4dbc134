"""Imported runs with their judgements, one by one: the recorded outcome, and evaluators that ask no model."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from agentmut._base import digest_of
from agentmut.judging import bounded, bounded_calls, build_all, judge, unwrapped
from agentmut.nouns import (
    AgentTrace,
    Check,
    EvaluatorSpec,
    ForeignMark,
    ImportedOutcome,
    ImportedTrial,
    Scenario,
)
from agentmut.project import ExecutionSettings, Project, evaluator_spec
from agentmut.seams import AsksModel, Catalogue, Evaluator, Group
from agentmut.trace_formats import OUTCOME

RECORDED = (EvaluatorSpec(name="suite", argument=OUTCOME),)
"""What stands for the evaluators of a scenario that has none: its runs' recorded outcome."""
_JUDGED = (ImportedOutcome.PASS, ImportedOutcome.FAIL)


class Judges(NamedTuple):
    """The evaluators of a scenario, identified by a digest, since many scenarios have the same evaluators."""

    key: str
    evaluators: tuple[Evaluator, ...]


class JudgedRun(NamedTuple):
    """An imported run with its judgements."""

    found: ImportedTrial
    trace: AgentTrace
    checks: tuple[Check, ...]
    """What agentmut's evaluators say."""
    passed: bool | None
    """By the recorded outcome and all evaluators; None where nothing judges it."""


def is_evidence(run: JudgedRun) -> bool:
    """Return whether a run is evidence about the agent."""
    return run.found.outcome is not ImportedOutcome.NO_EVIDENCE


class Judging:
    """Judges imported runs one by one: by their recorded outcome, their scenario's evaluators, and contracts.

    Evaluators that ask a model are left out and counted. Raises `UsageError` for an evaluator or a contract that
    cannot be read, and `RunError` for one that raises.
    """

    def __init__(self, contracts: Sequence[str], project: Project | None, root: Path) -> None:
        installed = Catalogue.from_group(Group.EVALUATORS)
        self._contracts = tuple(evaluator_spec({"contract": path}, installed, root) for path in contracts)
        self._of_suite = _of_suite(project, root)
        self._own = {scenario.name: scenario for scenario in project.scenarios} if project else {}
        self._built: dict[str, Judges] = {}
        execution = project.execution if project else ExecutionSettings()
        self._calls = bounded_calls(execution.isolate_evaluators, execution.evaluator_timeout)
        self.skipped = 0
        """Evaluators that ask a model and were left out."""
        self.scenarios: dict[str, Scenario] = {}
        """The project's own of that name, else one made from its first run."""
        self.judges: dict[str, Judges] = {}
        """By scenario."""

    def judged(self, found: ImportedTrial) -> JudgedRun:
        """Return a run with its judgements."""
        self.meet(found)
        return _judged(found, self.scenarios[found.scenario], self.judges[found.scenario])

    def meet(self, first: ImportedTrial) -> None:
        """Take in the run's scenario, if it is a new one."""
        name = first.scenario
        if name in self.scenarios:
            return
        own = self._own.get(name)
        specs = (*(own.evaluators if own else self._of_suite), *self._contracts)
        made = Scenario(name=name, turns=first.trial.turns, evaluators=specs or RECORDED)
        self.scenarios[name] = own or made
        key = digest_of([spec.model_dump(mode="json") for spec in specs])
        if key not in self._built:
            every = build_all(specs)
            free = tuple(bounded(one, self._calls) for one in every if not _asks(one))
            self.skipped += len(every) - len(free)
            self._built[key] = Judges(key, free)
        self.judges[name] = self._built[key]


def _of_suite(project: Project | None, root: Path) -> tuple[EvaluatorSpec, ...]:
    """Return the evaluators that a suite of recorded runs has for all runs."""
    given = project.imported.argument if project and project.imported else None
    written = given.get("evaluators") if isinstance(given, Mapping) else None
    installed = Catalogue.from_group(Group.EVALUATORS)
    listed = [one for one in written if isinstance(one, dict)] if isinstance(written, list) else []
    return tuple(evaluator_spec(one, installed, root) for one in listed)


def _asks(evaluator: Evaluator) -> bool:
    return isinstance(unwrapped(evaluator), AsksModel)


def _judged(found: ImportedTrial, scenario: Scenario, judges: Judges) -> JudgedRun:
    mark = ForeignMark(source=str(found.trial.place), digest=found.files, turns=found.trial.turns)
    trace = found.trial.trace.model_copy(update={"foreign": mark})
    recorded = found.outcome is ImportedOutcome.PASS if found.outcome in _JUDGED else None
    if found.outcome is ImportedOutcome.NO_EVIDENCE:
        return JudgedRun(found, trace, (), None)
    checks = judge(judges.evaluators, scenario, trace)
    told = [*(() if recorded is None else (recorded,)), *(check.passed for check in checks)]
    return JudgedRun(found, trace, checks, all(told) if told else None)
