"""Evaluators that were chosen by looking at stored runs: they judge the original on later runs only.

Of many candidates one is chosen that held in nearly all runs of the original, partly by luck. Judged on these same
runs, the original looks better than it is, and every mutant worse: in a simulation with identical mutants 15 % of them
were killed at a level of 5 %. So scenarios with such evaluators start a new series of repeats of the original; mutants
keep their runs.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import ValidationError

from agentmut._base import Frozen, UsageError, write_json
from agentmut.nouns import AssertionSuggestion, EvaluatorSpec, ScenarioSuggestion
from agentmut.project.project import FOLDER, Project

FILE = "applied.json"
SERIES = 100_000
"""Repeats of one series; more than any run makes."""


class AppliedEvaluator(Frozen):
    """An evaluator that agentmut proposed and a user accepted."""

    scenario: str
    evaluator: EvaluatorSpec
    first: int
    """The repeat of the original from which on runs were made after it was chosen."""


class Applied(Frozen):
    """All accepted proposals of a project: `.agentmut/applied.json`."""

    evaluators: tuple[AppliedEvaluator, ...] = ()


def first_repeats(project: Project) -> dict[str, int]:
    """Map each scenario to the repeat with which the original's runs begin, unless it is 0."""
    first: dict[str, int] = {}
    for one in _read(project).evaluators:
        scenario = next((s for s in project.scenarios if s.name == one.scenario), None)
        if scenario is not None and one.evaluator in scenario.evaluators:
            first[one.scenario] = max(first.get(one.scenario, 0), one.first)
    return first


def note_applied(project: Project, chosen: Iterable[AssertionSuggestion | ScenarioSuggestion]) -> None:
    """Remember the evaluators written into the scenario files. Raise `StoreError`."""
    before = _read(project).evaluators
    known = {(one.scenario, one.evaluator.name, str(one.evaluator.argument)) for one in before}
    new = tuple(
        AppliedEvaluator(scenario=scenario, evaluator=spec, first=_next_series(before, scenario))
        for scenario, spec in _evaluators(chosen)
        if (scenario, spec.name, str(spec.argument)) not in known
    )
    if new:
        write_json(Applied(evaluators=(*before, *new)), _path(project), "`agentmut suggest --apply`")


def chosen_on(project: Project, scenario: str, repeats: Iterable[int]) -> bool:
    """Return whether an evaluator of the scenario was chosen, or may have been, on these runs of the original."""
    first = first_repeats(project).get(scenario, 0)
    return any(repeat < first for repeat in repeats)


def _next_series(before: Iterable[AppliedEvaluator], scenario: str) -> int:
    return max((one.first for one in before if one.scenario == scenario), default=0) + SERIES


def _evaluators(
    chosen: Iterable[AssertionSuggestion | ScenarioSuggestion],
) -> Iterator[tuple[str, EvaluatorSpec]]:
    for one in chosen:
        if isinstance(one, AssertionSuggestion):
            yield one.scenario, one.evaluator
        else:
            yield from ((one.scenario.name, spec) for spec in one.scenario.evaluators)


def _read(project: Project) -> Applied:
    path = _path(project)
    try:
        return Applied.model_validate_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Applied()
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path} cannot be read: {str(error).splitlines()[0]}. Delete it: assertions that were proposed are then "
            "judged on the runs that they were chosen on."
        ) from None


def _path(project: Project) -> Path:
    return project.root / FOLDER / FILE
