"""The check of a baseline when it is saved, and the power of a comparison with it."""

from collections.abc import Iterator

from agentmut.assessment import (
    BaselineCounts,
    Family,
    agent_remarks,
    kept_trials,
    size_remark,
    with_names,
    with_power,
)
from agentmut.campaign import Session, Tables
from agentmut.insight import edges_never_taken
from agentmut.nouns import Execution
from agentmut.store import SavedBaseline, Store


def checked_baseline(session: Session, store: Store, baseline: SavedBaseline) -> SavedBaseline:
    """Return the baseline with its faults, the gaps of its runs, and the power of a comparison with it."""
    remarks = tuple(_remarks(session, store, baseline))
    scenarios = with_power(session.project, baseline.scenarios, Tables.from_project(session.project))
    return baseline.model_copy(update={"remarks": remarks, "scenarios": scenarios})


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
