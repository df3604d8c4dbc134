"""The deployment gate on what a project has stored: for the command line and for Python."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentmut._base import UsageError, __version__
from agentmut.campaign import RunPlan, Session, open_session, plan_of, planned_at, stored_originals
from agentmut.nouns import Cost, Result
from agentmut.project import Project
from agentmut.store import Store, VerdictReport, read_baseline
from agentmut.usecases.decide.gate import GateReport, Requirement, Standing, decide, reasons_of
from agentmut.usecases.decide.requirements import (
    COVERAGE,
    REGRESSION,
    SCORE,
    SUITE,
    baseline_verdict,
    lost,
    mean_at_most,
    minimum_coverage,
    minimum_score,
    missing,
    no_regression,
    spending,
    suite_verdict,
)
from agentmut.usecases.runtime import agent_environment, open_store, refuse_running_loop, stand_in_keys
from agentmut.usecases.stored_reports import Report, StoredReport, changed_since, stored_reports

if TYPE_CHECKING:
    from agentmut.stats import Interval

_MADE_BY = {
    "run": "`agentmut run`",
    "test": "`agentmut test`",
    "compare": "`agentmut baseline compare`",
}
RESCORED = (
    "what the evaluators of that time made of its trials is a preview, since the trials ended where the run's own "
    "evaluators had decided. `agentmut run` decides, and reuses them at no cost"
)


def gate(project: Project | str | Path = ".", run: str | None = None, **settings: Any) -> GateReport:
    """Decide on the stored evidence whether to deploy: `agentmut gate`. No agent is run.

    `run` begins the id of a run whose reports are taken in the place of the latest ones of their kind. `settings`
    take the place of the project's `gate:` section. Raises the errors of `agentmut._base`; stale and missing evidence
    is no error but part of the report.
    """
    from agentmut.usecases.suite_verdicts import with_settings

    refuse_running_loop("agentmut.gate")
    loaded = with_settings(project, "gate", settings)
    with stand_in_keys(), agent_environment(loaded), open_store(loaded) as store:
        return gate_on(open_session(loaded), store, run)


def gate_on(session: Session, store: Store, run: str | None = None) -> GateReport:
    """Decide in an open session; see `gate`."""
    evidence = _Evidence(session, store, run or "")
    wanted = session.project.gate
    requirements = tuple(_requirements(evidence))
    decision = decide(requirements, wanted.inconclusive)
    return GateReport(
        agentmut_version=__version__,
        project=session.project.path.name,
        decision=decision,
        reasons=reasons_of(requirements, decision, wanted.inconclusive)
        or (() if requirements else ("nothing is asked for: the section `gate` asks for no evidence",)),
        requirements=requirements,
        inconclusive=wanted.inconclusive,
        left_out=tuple(dict.fromkeys(evidence.left_out)),
        notes=tuple(dict.fromkeys(evidence.notes)),
    )


@dataclass
class _Evidence:
    """What is stored and current, found once and when it is asked for."""

    session: Session
    store: Store
    named: str
    left_out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @cached_property
    def reports(self) -> list[StoredReport]:
        """All of them, the latest first, those that are named before the others."""
        runs = self.session.project.runs
        found = sorted(stored_reports(runs), key=lambda each: each.run, reverse=True)
        if not self.named:
            return found
        named = [each for each in found if each.run.startswith(self.named)]
        if len({each.run for each in named}) != 1:
            known = ", ".join(dict.fromkeys(each.run for each in reversed(found))) or "none"
            said = "there is no such run with a report" if not named else "several runs begin so"
            raise UsageError(f"{self.named}: {said}. Known: {known}.")
        kinds = {each.kind for each in named}
        return [*named, *(each for each in found if each.kind not in kinds)]

    @cached_property
    def plans(self) -> Mapping[str, RunPlan]:
        """By run, as far as the store knows them."""
        plans = {stored.id: plan_of(stored) for stored in self.store.runs()}
        return {run: plan for run, plan in plans.items() if plan}

    @cached_property
    def campaign(self) -> Result | None:
        """The latest whole campaign on the agent as it is."""
        found = self._latest("run")
        assert found is None or isinstance(found, Result)
        return found

    @cached_property
    def test(self) -> VerdictReport | None:
        """The latest verdicts on the agent as it is."""
        found = self._latest("test")
        assert found is None or isinstance(found, VerdictReport)
        return found

    @cached_property
    def comparison(self) -> VerdictReport | None:
        """The latest comparison of the agent as it is with the baseline that the gate names."""
        found = self._latest("compare")
        assert found is None or isinstance(found, VerdictReport)
        return found

    @cached_property
    def suite(self) -> tuple[Requirement, VerdictReport | Result | None]:
        """How the suite's verdict stands, and the report that says so."""
        if self.test is None:
            if self.campaign is None:
                return missing(SUITE, _none_of("test", "run")), None
            return _dated(self.verdict_of(self.campaign)), self.campaign
        found = _dated(suite_verdict(self.test))
        contrary = self._contrary(self.test)
        if contrary is None or found.standing is Standing.FAILED:
            return found, self.test
        against = _dated(self.verdict_of(contrary))
        if self.named and self.test.run_id.startswith(self.named):
            self.notes.append(f"run {contrary.run_id} speaks against the run named: {against.reason}")
            return found, self.test
        self.left_out.append(
            f"run {self.test.run_id} (`agentmut test`): {self.test.verdict}, but a newer campaign fails"
        )
        return against, contrary

    def verdict_of(self, campaign: Result) -> Requirement:
        """What a campaign's own runs of the unchanged agent say, against the thresholds asked today."""
        return baseline_verdict(campaign, self.session.project.statistics.alpha, self.thresholds)

    def _contrary(self, test: VerdictReport) -> Result | None:
        """The latest campaign on the agent as it is, if it is newer than a test and its baseline fails.

        What makes its score unfit, few mutants or another kill rule, does not touch the baseline.
        """
        for each in self.reports:
            report = each.report
            if not isinstance(report, Result) or each.run <= test.run_id or report.status == "interrupted":
                continue
            tried = any(row.trials for row in report.baseline)
            if not tried or changed_since(self.session, report, self.plans.get(report.run_id)):
                continue
            return report if self.verdict_of(report).standing is Standing.FAILED else None
        return None

    def _latest(self, kind: str) -> Report | None:
        for each in self.reports:
            if each.report is None and each.problem:
                self.left_out.append(f"run {each.run}: {each.problem}")
            if each.kind != kind or each.report is None:
                continue
            if each.rescored:
                self.left_out.append(f"run {each.run} (`agentmut rescore`): {RESCORED}")
            why = self._unfit(each.report)
            if not why:
                self.notes += [f"run {each.run} {note}" for note in self._notes_on(each.report)]
                return each.report
            self.left_out.append(f"run {each.run} ({_MADE_BY[kind]}): {why}")
        return None

    def _unfit(self, report: Report) -> str:
        """Why a report is no evidence on the agent as it is; empty where it is."""
        stale = changed_since(self.session, report, self.plans.get(report.run_id))
        if stale:
            return stale
        if report.status in ("failed", "interrupted"):
            return (
                f"it {'failed' if report.status == 'failed' else 'was interrupted'}. {report.problem}".strip()
            )
        if isinstance(report, Result):
            return self._other_rule(report) or self._partial(report)
        return self._other_thresholds(report) or self._other_baseline(report)

    @cached_property
    def thresholds(self) -> Mapping[str, float]:
        """The pass rates that are asked today, by scenario."""
        project = self.session.project
        return {name: project.threshold_of(each) for name, each in self.session.tests.scenarios.items()}

    def _other_thresholds(self, report: VerdictReport) -> str:
        """Thresholds are no part of the suite's digest, as no trial depends on them; a verdict does."""
        other = [
            f"{row.scenario} ({row.threshold:g}, {self.thresholds[row.scenario]:g} asked today)"
            for row in report.scenarios
            if row.threshold is not None and row.threshold != self.thresholds.get(row.scenario, row.threshold)
        ]
        return f"it held scenarios against other thresholds: {', '.join(other)}" if other else ""

    def _other_rule(self, result: Result) -> str:
        """A score holds by the kill rule that it was made with."""
        settings = self.session.project.statistics
        asked = {"alpha": settings.alpha, "beta": settings.beta, "delta": settings.delta}
        other = [
            f"statistics.{name} was {result.rule[name]:g}, {value:g} is asked"
            for name, value in asked.items()
            if name in result.rule and result.rule[name] != value
        ]
        return f"it has another kill rule: {', '.join(other)}" if other else ""

    def _partial(self, result: Result) -> str:
        if result.shard:
            return f"it is shard {result.shard} of a campaign; `agentmut merge` puts the shards together"
        if not result.mutants:
            return "it has no mutants"
        asked = self._mutants_asked
        tried = {row.id for row in result.mutants}
        if result.selective is not None or asked <= tried or result.run_id.startswith(self.named or "?"):
            return ""
        return (
            f"it measured {len(tried & asked)} of the {len(asked)} mutants that the project file asks for. Name the "
            "run to decide on it all the same"
        )

    @cached_property
    def _mutants_asked(self) -> set[str]:
        from agentmut.campaign import Selection, make_mutants

        return {mutant.id for mutant in make_mutants(self.session, Selection()).mutants}

    def _other_baseline(self, report: VerdictReport) -> str:
        if report.kind != "compare" or report.baseline is None:
            return ""
        wanted = self.session.project.gate.baseline
        if wanted is not None and report.baseline.name != wanted:
            return f"it compared with the baseline {report.baseline.name!r}, not {wanted!r}"
        from agentmut.usecases.suite_verdicts import baselines_folder

        try:
            saved = read_baseline(report.baseline.name, baselines_folder(self.session.project))
        except UsageError as error:
            return f"its baseline cannot be read: {error}"
        return "" if saved.run_id == report.baseline.run_id else "the baseline was saved anew since"

    def _notes_on(self, report: Report) -> Iterator[str]:
        if report.status == "budget":
            yield "was stopped by its budget; what it left undecided counts as open"
        if isinstance(report, Result):
            if report.selective is not None:
                yield "is a selective one: its score speaks of the operators kept"
            if missing_there := lost(report.score):
                yield f"has a score without some mutants: {missing_there}"
            if missed := self._mutants_asked - {row.id for row in report.mutants}:
                yield f"did not measure {len(missed)} of the mutants that the project file asks for"

    @property
    def costs(self) -> list[Cost]:
        """Of the reports that a requirement rests on, each once."""
        wanted = self.session.project.gate
        used: list[Report | None] = [self.campaign] if wanted.min_score is not None else []
        used += [self.suite[1]] if wanted.verdict else []
        used += [self.comparison] if wanted.baseline is not None else []
        by_run = {(type(report), report.run_id): report for report in used if report is not None}
        return [_with_judges(report) for report in by_run.values()]


def _requirements(evidence: _Evidence) -> Iterator[Requirement]:
    """What the project's gate asks for, each held against the evidence."""
    wanted = evidence.session.project.gate
    if wanted.verdict:
        yield evidence.suite[0]
    if wanted.min_score is not None:
        if evidence.campaign is None:
            yield missing(SCORE, _none_of("run"))
        else:
            yield minimum_score(evidence.campaign, wanted.min_score)
    if wanted.min_coverage is not None:
        yield _coverage(evidence, wanted.min_coverage)
    if wanted.baseline is not None:
        found = evidence.comparison
        yield no_regression(found) if found else missing(REGRESSION, _none_of("compare"))
    yield from spending(evidence.costs, wanted.max_usd, wanted.max_minutes)
    yield from _runs_of_the_agent(evidence)


def _with_judges(report: Report) -> Cost:
    """What a report took, its model judges included; no sum of money where one price is not known."""
    prices = [report.cost.usd, *(judge.usd for judge in report.judges)]
    known = [each for each in prices if each is not None]
    return report.cost.model_copy(update={"usd": sum(known) if len(known) == len(prices) else None})


def _dated(requirement: Requirement) -> Requirement:
    """The requirement with the time of its evidence, as far as the run's id tells it."""
    when = planned_at(requirement.run)
    if not when:
        return requirement
    return requirement.model_copy(update={"reason": f"{requirement.reason}, of {when}"})


def _coverage(evidence: _Evidence, least: float) -> Requirement:
    from agentmut.insight import project_coverage

    try:
        found = project_coverage(evidence.session, evidence.store)
    except UsageError as error:  # nothing is stored that fits
        return missing(COVERAGE, str(error))
    evidence.notes += found.notes
    return minimum_coverage(found.overall, least)


def _runs_of_the_agent(evidence: _Evidence) -> Iterator[Requirement]:
    wanted = evidence.session.project.gate
    if wanted.max_usd_per_run is None and wanted.max_seconds_per_run is None:
        return
    kept, _ = stored_originals(evidence.session, evidence.store)
    traces = [
        trial.execution.trace
        for trials in kept.values()
        for trial in trials
        if trial.execution.ending.is_evidence
    ]
    if wanted.max_usd_per_run is not None:
        usd = [trace.usd for trace in traces]
        known = [each for each in usd if each is not None]
        mean = _mean(known) if len(known) == len(usd) else None
        yield mean_at_most("cost of a run", mean, wanted.max_usd_per_run, "USD")
    if wanted.max_seconds_per_run is not None:
        mean = _mean([trace.seconds for trace in traces])
        yield mean_at_most("time of a run", mean, wanted.max_seconds_per_run, "s")


def _mean(values: list[float]) -> "Interval | None":
    if not values:
        return None
    import numpy as np

    from agentmut.stats import bootstrap

    return bootstrap(values, np.mean, rng=np.random.default_rng(1), vectorized=True)


def _none_of(*kinds: str) -> str:
    makers = " or ".join(_MADE_BY[kind] for kind in kinds)
    return f"nothing current is stored; {makers} makes it"
