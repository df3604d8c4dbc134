"""The check of a baseline when it is saved, and the power of a comparison with it."""

from collections.abc import Iterator, Sequence

from agentmut._base import UsageError, make_importable, nearest
from agentmut.assessment import (
    BaselineCounts,
    Family,
    agent_remarks,
    kept_trials,
    size_remark,
    with_names,
    with_power,
)
from agentmut.campaign import Session, Tables, imported_suite, with_suite
from agentmut.insight import edges_never_taken
from agentmut.nouns import Execution
from agentmut.project import Project
from agentmut.store import SavedBaseline, Store, read_baseline
from agentmut.usecases.assessing import baselines_folder


def checked_baseline(session: Session, store: Store, baseline: SavedBaseline) -> SavedBaseline:
    """Return the baseline with its faults, the gaps of its runs, and the power of a comparison with it."""
    remarks = tuple(_remarks(session, store, baseline))
    scenarios = with_power(session.project, baseline.scenarios, Tables.from_project(session.project))
    return baseline.model_copy(update={"remarks": remarks, "scenarios": scenarios})


def foreseen_comparison(project: Project, name: str, scenarios: Sequence[str] = ()) -> SavedBaseline:
    """Return the comparable scenarios of a baseline, each with its chances of FAIL under today's settings.

    Counts are those that were saved: no stored run is judged again. Raises `UsageError` for a baseline that does not
    exist, a scenario that is not in it, and where nothing is left to compare.
    """
    saved = read_baseline(name, baselines_folder(project))
    make_importable(project.root)
    suite = {each.name for each in with_suite(project, imported_suite(project)).scenarios}
    known = {each: kept for each, kept in saved.scenarios.items() if each in suite and kept.trials}
    for each in scenarios:
        if each not in known:
            raise UsageError(
                f"--scenario {each}: baseline {name!r} has no such scenario. {nearest(each, known)}"
            )
    if not known:
        raise UsageError(f"no scenario of the suite is in baseline {name!r}: save it anew.")
    chosen = {each: kept for each, kept in known.items() if not scenarios or each in scenarios}
    return saved.model_copy(update={"scenarios": with_power(project, chosen, Tables.from_project(project))})


def _remarks(session: Session, store: Store, baseline: SavedBaseline) -> Iterator[str]:
    project, tables, saved = session.project, Tables.from_project(session.project), baseline.scenarios
    sides = {name: BaselineCounts(each.passes, each.trials) for name, each in saved.items() if each.trials}
    family = Family.from_project(project, max(1, len(sides)))
    yield from with_names(
        (name, size_remark(project, side, family, tables, saved[name].looks)) for name, side in sides.items()
    )
    executions, config = _executions(store, baseline), session.suite.full
    yield from agent_remarks(project, sides, executions, [tool.name for tool in config.tools])
    traces = {name: [run.trace for run in runs] for name, runs in executions.items()}
    if edges := edges_never_taken(config, traces):
        yield f"no run of the baseline took {', '.join(edges)}: a regression there cannot show"


def _executions(store: Store, baseline: SavedBaseline) -> dict[str, list[Execution]]:
    found: dict[str, list[Execution]] = {}
    for trial in kept_trials(store, baseline):
        if trial.execution.ending.is_evidence:
            found.setdefault(trial.scenario, []).append(trial.execution)
    return found
