"""Settings of a project that a stored report was made with, and that have changed since."""

from collections.abc import Iterator, Mapping

from agentmut.campaign import Session, rule_of
from agentmut.nouns import Result
from agentmut.project import Project
from agentmut.store import RelationReport, VerdictReport
from agentmut.usecases.stored_reports import OfAnAgent

NAMES = {
    "alpha": "statistics.alpha",
    "beta": "statistics.power",
    "delta": "statistics.delta",
    "n_max": "statistics.n_max",
    "suite_share": "statistics.suite_share",
    "clear_on": "statistics.clear_on",
    "tolerance": "relations.tolerance",
}
"""Settings in a project file by their names in reports. Options of commands can replace others, which say nothing."""
NAMED = 2
"""Scenarios that are named where their thresholds have changed."""


def changed_settings(session: Session, report: OfAnAgent) -> Iterator[str]:
    """Yield the statistics settings and thresholds that differ from the report's, each with both values."""
    now = _settings_now(session.project)
    for name, then in _settings_of(report).items():
        if name in now and abs(then - now[name]) > 1e-9:
            shown = (1 - then, 1 - now[name]) if name == "beta" else (then, now[name])
            yield f"{NAMES[name]} (then {shown[0]:g}, now {shown[1]:g})"
    changed = list(_changed_thresholds(session, report))
    yield from changed[:NAMED]
    left = len(changed) - NAMED
    if left > 0:
        yield f"{left} further threshold{'s' * (left > 1)}"


def _settings_now(project: Project) -> Mapping[str, float]:
    return {**rule_of(project).model_dump(), "tolerance": project.relations.tolerance}


def _settings_of(report: OfAnAgent) -> Mapping[str, float]:
    """Return the numbers that `NAMES` has and the report tells; earlier versions told fewer."""
    told: Mapping[str, object] = {}
    if isinstance(report, Result):
        told = report.rule
    elif isinstance(report, VerdictReport | RelationReport):
        told = report.settings
    return {
        name: float(value) for name, value in told.items() if name in NAMES and isinstance(value, int | float)
    }


def _changed_thresholds(session: Session, report: OfAnAgent) -> Iterator[str]:
    for name, then in _thresholds_of(report):
        scenario = session.tests.scenarios.get(name)
        now = then if scenario is None else session.project.threshold_of(scenario)
        if abs(now - then) > 1e-9:
            yield f"the threshold of {name} (then {then:g}, now {now:g})"


def _thresholds_of(report: OfAnAgent) -> Iterator[tuple[str, float]]:
    if isinstance(report, Result):
        yield from ((row.scenario, row.threshold) for row in report.baseline)
    elif isinstance(report, VerdictReport):
        yield from ((row.scenario, row.threshold) for row in report.scenarios if row.threshold is not None)
