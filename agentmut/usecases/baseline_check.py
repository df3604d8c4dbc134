"""The check of a baseline when it is saved."""

from collections.abc import Iterator, Mapping

from agentmut.assessment import BaselineCounts, Family, agent_remarks, size_remark
from agentmut.campaign import Session, Tables
from agentmut.nouns import Execution
from agentmut.store import SavedScenario, Store


def remarks_on(session: Session, store: Store, run: str, saved: Mapping[str, SavedScenario]) -> Iterator[str]:
    """Say what makes a baseline unfit, with the trials that would do, and what its runs cannot show."""
    project, tables = session.project, Tables.of(session.project)
    sides = {name: BaselineCounts(each.passes, each.trials) for name, each in saved.items() if each.trials}
    family = Family.of(project, max(1, len(sides)))
    for name, side in sides.items():
        if said := size_remark(project, side, family, tables, saved[name].looks):
            yield f"{name}: {said}"
    names = [tool.name for tool in session.suite.full.tools]
    yield from agent_remarks(project, sides, _executions(store, run), names)


def _executions(store: Store, run: str) -> dict[str, list[Execution]]:
    found: dict[str, list[Execution]] = {}
    for trial in store.trials_of(run, ""):
        if trial.execution.ending.is_evidence:
            found.setdefault(trial.scenario, []).append(trial.execution)
    return found
