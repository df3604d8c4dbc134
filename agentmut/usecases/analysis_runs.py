"""Imported runs with their judgements: the recorded outcome, and evaluators that ask no model."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from agentmut._base import digest_of
from agentmut.judging import build_all, judge, unwrapped
from agentmut.nouns import (
    AgentTrace,
    Check,
    EvaluatorSpec,
    ForeignMark,
    ImportedOutcome,
    ImportedTrial,
    Scenario,
)
from agentmut.project import Project, evaluator_spec
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


class JudgedRuns(NamedTuple):
    """The analysed runs, in the order of their starts."""

    runs: tuple[JudgedRun, ...]
    scenarios: Mapping[str, Scenario]
    judges: Mapping[str, Judges]
    skipped: int
    """Evaluators that ask a model and were left out."""

    @property
    def evidence(self) -> list[JudgedRun]:
        """Return the runs that are evidence about the agent."""
        return list(filter(is_evidence, self.runs))


def is_evidence(run: JudgedRun) -> bool:
    """Return whether a run is evidence about the agent."""
    return run.found.outcome is not ImportedOutcome.NO_EVIDENCE


def judged_runs(
    trials: Sequence[ImportedTrial], contracts: Sequence[str], project: Project | None, root: Path
) -> JudgedRuns:
    """Judge imported runs by the evaluators of their scenario or suite, and by contracts.

    Raises `UsageError` for an evaluator or a contract that cannot be read, and `RunError` for one that raises.
    """
    specs = _specs(trials, contracts, project, root)
    judges, skipped = _built(specs)
    scenarios = _scenarios(trials, specs, project)
    runs = tuple(_judged(each, scenarios[each.scenario], judges[each.scenario]) for each in trials)
    return JudgedRuns(runs, scenarios, judges, skipped)


def by_scenario(runs: Iterable[JudgedRun]) -> dict[str, list[JudgedRun]]:
    """Return the runs of each scenario."""
    found: dict[str, list[JudgedRun]] = {}
    for run in runs:
        found.setdefault(run.found.scenario, []).append(run)
    return found


def _specs(
    trials: Sequence[ImportedTrial], contracts: Sequence[str], project: Project | None, root: Path
) -> Mapping[str, tuple[EvaluatorSpec, ...]]:
    """Return the evaluators of each scenario's runs: the project's evaluators of that name, and the contracts."""
    installed = Catalogue.of(Group.EVALUATORS)
    given = [evaluator_spec({"contract": path}, installed, root) for path in contracts]
    own = {scenario.name: scenario.evaluators for scenario in project.scenarios} if project else {}
    of_suite = _of_suite(project, root)
    names = dict.fromkeys(trial.scenario for trial in trials)
    return {name: (*own.get(name, of_suite), *given) for name in names}


def _of_suite(project: Project | None, root: Path) -> tuple[EvaluatorSpec, ...]:
    """Return the evaluators that a suite of recorded runs has for all runs."""
    given = project.imported.argument if project and project.imported else None
    written = given.get("evaluators") if isinstance(given, Mapping) else None
    installed = Catalogue.of(Group.EVALUATORS)
    listed = [one for one in written if isinstance(one, dict)] if isinstance(written, list) else []
    return tuple(evaluator_spec(one, installed, root) for one in listed)


def _built(specs: Mapping[str, tuple[EvaluatorSpec, ...]]) -> tuple[dict[str, Judges], int]:
    """Return what judges each scenario without evaluators that ask a model, and how many of these were left out."""
    made: dict[str, Judges] = {}
    skipped, found = 0, {}
    for name, each in specs.items():
        key = digest_of([spec.model_dump(mode="json") for spec in each])
        if key not in made:
            every = build_all(each)
            free = tuple(one for one in every if not _asks(one))
            skipped += len(every) - len(free)
            made[key] = Judges(key, free)
        found[name] = made[key]
    return found, skipped


def _asks(evaluator: Evaluator) -> bool:
    return isinstance(unwrapped(evaluator), AsksModel)


def _scenarios(
    trials: Iterable[ImportedTrial], specs: Mapping[str, tuple[EvaluatorSpec, ...]], project: Project | None
) -> dict[str, Scenario]:
    """Return each scenario: the project's own with that name, else one made from its first run."""
    own = {scenario.name: scenario for scenario in project.scenarios} if project else {}
    found: dict[str, Scenario] = {}
    for each in trials:
        if each.scenario not in found:
            made = Scenario(
                name=each.scenario, turns=each.trial.turns, evaluators=specs[each.scenario] or RECORDED
            )
            found[each.scenario] = own.get(each.scenario, made)
    return found


def _judged(found: ImportedTrial, scenario: Scenario, judges: Judges) -> JudgedRun:
    mark = ForeignMark(source=str(found.trial.place), digest=found.files, turns=found.trial.turns)
    trace = found.trial.trace.model_copy(update={"foreign": mark})
    recorded = found.outcome is ImportedOutcome.PASS if found.outcome in _JUDGED else None
    if found.outcome is ImportedOutcome.NO_EVIDENCE:
        return JudgedRun(found, trace, (), None)
    checks = judge(judges.evaluators, scenario, trace)
    told = [*(() if recorded is None else (recorded,)), *(check.passed for check in checks)]
    return JudgedRun(found, trace, checks, all(told) if told else None)
