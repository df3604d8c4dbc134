"""The stored evidence for a gate: the latest report of each kind on today's agent, as values.

Every function says what it found and what it left out; the order in which they are asked changes nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from agentmut._base import UsageError
from agentmut.campaign import RunPlan, Session, plan_of
from agentmut.nouns import Result
from agentmut.store import Store, VerdictReport, read_baseline
from agentmut.usecases.gate_requirements import lost
from agentmut.usecases.stored_reports import Report, StoredReport, changed_since, stored_reports

MADE_BY = {
    "run": "`agentmut run`",
    "test": "`agentmut test`",
    "compare": "`agentmut baseline compare`",
}
RESCORED = (
    "its verdicts are a preview, since its trials ended when the run's own evaluators had decided. `agentmut run` "
    "decides, and reuses the trials at no cost"
)


class Unfit(NamedTuple):
    """Why a stored report is no evidence; false if it is evidence."""

    why: str = ""
    remedy: str = ""
    """What leads to a report that is evidence, where the same command again would not."""
    beside: str = ""
    """A further way, for the list of what was not used."""

    def __bool__(self) -> bool:
        return bool(self.why)

    def __str__(self) -> str:
        return ". ".join(filter(None, self))


class FoundReport(NamedTuple):
    """The report that was looked for, and what a reader has to know of the search."""

    report: Report | None = None
    left_out: tuple[str, ...] = ()
    """Reports that were not used, with the reason."""
    notes: tuple[str, ...] = ()
    nearest: str = ""
    """The latest stored report of this kind, why it does not decide and what does; empty if none is left out."""

    @property
    def campaign(self) -> Result | None:
        """Return the report, where a campaign was looked for."""
        return self.report if isinstance(self.report, Result) else None

    @property
    def verdicts(self) -> VerdictReport | None:
        """Return the report, where verdicts were looked for."""
        return self.report if isinstance(self.report, VerdictReport) else None


@dataclass(frozen=True)
class StoredReports:
    """The stored evidence of a project."""

    session: Session
    named: str
    """The beginning of the id of the run that is named; empty where none is."""
    reports: tuple[StoredReport, ...]
    """The latest first, those of the named run before the others."""
    plans: Mapping[str, RunPlan]
    """By run, as far as the store knows them."""

    @cached_property
    def thresholds(self) -> Mapping[str, float]:
        """Return the pass rates that are asked today, by scenario."""
        project = self.session.project
        return {name: project.threshold_of(each) for name, each in self.session.tests.scenarios.items()}

    @cached_property
    def mutants_asked(self) -> frozenset[str]:
        """Return the ids of the mutants that the project file asks for."""
        from agentmut.campaign import Selection, make_mutants

        return frozenset(mutant.id for mutant in make_mutants(self.session, Selection()).mutants)

    def stale(self, report: Report) -> str:
        """Return what has changed since a report; empty if the report is about today's agent."""
        return changed_since(self.session, report, self.plans.get(report.run_id))


def read_stored(session: Session, store: Store, named: str) -> StoredReports:
    """Read the reports and plans of a project. Raise `UsageError` if a name matches no run, or several."""
    plans = {stored.id: plan_of(stored) for stored in store.runs()}
    known = {run: plan for run, plan in plans.items() if plan}
    return StoredReports(session, named, tuple(_named_first(session, named)), known)


def _named_first(session: Session, named: str) -> list[StoredReport]:
    found = sorted(stored_reports(session.project.runs), key=lambda each: each.run, reverse=True)
    if not named:
        return found
    chosen = [each for each in found if each.run.startswith(named)]
    if len({each.run for each in chosen}) != 1:
        known = ", ".join(dict.fromkeys(each.run for each in reversed(found))) or "none"
        problem = "no run with a report begins so" if not chosen else "several runs begin so"
        raise UsageError(f"{named}: {problem}. Known: {known}.")
    kinds = {each.kind for each in chosen}
    return [*chosen, *(each for each in found if each.kind not in kinds)]


def latest(stored: StoredReports, kind: str) -> FoundReport:
    """Find the latest report of a kind (`run`, `test`, `compare`) that is evidence on the agent of today."""
    left_out: list[str] = []
    nearest = ""
    for entry in stored.reports:
        if entry.report is None and entry.problem:
            left_out.append(f"run {entry.run}: {entry.problem}")
        if entry.kind != kind or entry.report is None:
            continue
        if entry.rescored:
            left_out.append(f"run {entry.run} (`agentmut rescore`): {RESCORED}")
        unfit = _unfit(stored, entry.report)
        if not unfit:
            notes = tuple(f"run {entry.run} {note}" for note in _notes_on(stored, entry.report))
            return FoundReport(entry.report, tuple(left_out), notes)
        left_out.append(f"run {entry.run} ({MADE_BY[kind]}): {unfit}")
        remedy = unfit.remedy or f"{MADE_BY[kind]} makes a result that does"
        nearest = nearest or f"run {entry.run} is stored and does not decide: {unfit.why}. {remedy}"
    return FoundReport(None, tuple(left_out), nearest=nearest)


def _unfit(stored: StoredReports, report: Report) -> Unfit:
    """Return why a report is no evidence about today's agent, and what leads to evidence."""
    if isinstance(report, Result) and (part := report.suite_part):
        why = f"it measured {part.scenarios} of {part.of} scenarios, and a gate decides on the whole suite"
        return Unfit(why, "`agentmut run` without options measures all of them")
    stale = stored.stale(report)
    if stale:
        return Unfit(stale)
    if report.status == "failed":
        return Unfit(f"it failed. {report.problem}".strip(" ."))
    if report.status == "interrupted":
        return Unfit(f"it was interrupted. {report.problem}".strip(" ."), _going_on(report))
    if isinstance(report, Result):
        return Unfit(_other_rule(stored, report)) or _partial(stored, report)
    return Unfit(_other_thresholds(stored, report) or _other_baseline(stored, report))


def _going_on(report: Report) -> str:
    """Return how an interrupted report becomes a whole one; empty for verdicts, which are made again."""
    return "`agentmut resume` goes on with it" if isinstance(report, Result) else ""


def _other_thresholds(stored: StoredReports, report: VerdictReport) -> str:
    """Return why a verdict used other thresholds, which the suite's digest leaves out; empty if it did not."""
    other = [
        f"{row.scenario} ({row.threshold:g}, {stored.thresholds[row.scenario]:g} asked today)"
        for row in report.scenarios
        if row.threshold is not None and row.threshold != stored.thresholds.get(row.scenario, row.threshold)
    ]
    return f"it used other thresholds: {', '.join(other)}" if other else ""


def _other_rule(stored: StoredReports, result: Result) -> str:
    """Return why a score used another kill rule; empty if it did not."""
    settings = stored.session.project.statistics
    asked = {"alpha": settings.alpha_of_a_look, "beta": settings.beta, "delta": settings.delta}
    other = [
        f"statistics.{name} was {result.rule[name]:g}, {value:g} is asked"
        for name, value in asked.items()
        if name in result.rule and result.rule[name] != value
    ]
    return f"it has another kill rule: {', '.join(other)}" if other else ""


def _partial(stored: StoredReports, result: Result) -> Unfit:
    if result.shard:
        return Unfit(f"it is shard {result.shard} of a campaign", "`agentmut merge` puts the shards together")
    if not result.mutants:
        return Unfit("it has no mutants")
    asked = stored.mutants_asked
    tried = {row.id for row in result.mutants}
    if result.selective is not None or asked <= tried or result.run_id.startswith(stored.named or "?"):
        return Unfit()
    return Unfit(
        f"it measured {len(tried & asked)} of the {len(asked)} mutants that the project file asks for",
        "`agentmut run` without options measures all of them",
        f"`agentmut gate {result.run_id}` decides on it all the same",
    )


def _other_baseline(stored: StoredReports, report: VerdictReport) -> str:
    if report.kind != "compare" or report.baseline is None:
        return ""
    wanted = stored.session.project.gate.baseline
    if wanted is not None and report.baseline.name != wanted:
        return f"it compared with the baseline {report.baseline.name!r}, not {wanted!r}"
    from agentmut.usecases.assessing import baselines_folder

    try:
        saved = read_baseline(report.baseline.name, baselines_folder(stored.session.project))
    except UsageError as error:
        return f"its baseline cannot be read: {error}"
    return "" if saved.run_id == report.baseline.run_id else "the baseline was saved anew since"


def _notes_on(stored: StoredReports, report: Report) -> Iterator[str]:
    if report.status == "budget":
        yield "was stopped by its budget; mutants without a decision count as open"
    if isinstance(report, Result):
        if report.selective is not None:
            yield "used selective mutation: its score counts the kept operators only"
        if missing_there := lost(report.score):
            yield f"has a score without some mutants: {missing_there}"
        if missed := stored.mutants_asked - {row.id for row in report.mutants}:
            yield f"did not measure {len(missed)} of the mutants that the project file asks for"
