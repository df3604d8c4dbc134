"""The deployment gate on a project's stored reports: for the command line and for Python."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from agentmut._base import UsageError, __version__
from agentmut.campaign import MOST_READ, Session, open_session, original_heads, planned_at
from agentmut.nouns import Cost, Origins, Result
from agentmut.project import Project
from agentmut.store import Store, VerdictReport
from agentmut.usecases.gate_decision import GateReport, Requirement, Standing, decide, reasons_of
from agentmut.usecases.gate_evidence import MADE_BY, FoundReport, StoredReports, latest, read_stored
from agentmut.usecases.gate_figures import read_limits, reliability_in, requirement_on
from agentmut.usecases.gate_requirements import (
    COVERAGE,
    REGRESSION,
    SCORE,
    SUITE,
    baseline_verdict,
    mean_at_most,
    minimum_coverage,
    minimum_score,
    missing,
    no_regression,
    spending,
    suite_verdict,
)
from agentmut.usecases.notebook import beside_kernel, spent_so_far
from agentmut.usecases.runtime import agent_environment, open_store, stand_in_keys
from agentmut.usecases.second_looks import looks_besides, plans_in, unpaid
from agentmut.usecases.stored_reports import Report
from agentmut.usecases.verdict_looks import unpaid_verdict

if TYPE_CHECKING:
    from agentmut.stats import Interval


def gate(project: Project | str | Path = ".", run: str | None = None, **settings: Any) -> GateReport:
    """Decide on the stored evidence whether to deploy: `agentmut gate`. No agent is run.

    `run` begins the id of a run whose reports are taken in the place of the latest ones of their kind. `settings`
    take the place of the project's `gate:` section. Raises the errors of `agentmut._base`; stale and missing evidence
    is no error but part of the report.
    """
    from agentmut.usecases.suite_verdicts import with_settings

    loaded = with_settings(project, "gate", settings)

    def decided() -> GateReport:
        with stand_in_keys(), agent_environment(loaded), open_store(loaded) as store:
            return gate_on(open_session(loaded), store, run)

    return beside_kernel("agentmut.gate", lambda _: decided(), spent_so_far)


class Answer(NamedTuple):
    """The evidence's answer to one requirement of the gate."""

    requirement: Requirement
    report: Report | None = None
    """The report that the requirement rests on."""
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def on(cls, requirement: Requirement, found: FoundReport) -> "Answer":
        """Return the answer that rests on what was found."""
        return cls(requirement, found.report, found.left_out, found.notes)


def gate_on(session: Session, store: Store, run: str | None = None) -> GateReport:
    """Decide in an open session; see `gate`."""
    stored = read_stored(session, store, run or "")
    wanted = session.project.gate
    answers = tuple(_answers(stored, store))
    costs = _costs(answer.report for answer in answers)
    requirements = (
        *(answer.requirement for answer in answers),
        *spending(costs, wanted.max_usd, wanted.max_minutes),
        *_runs_of_the_agent(session, store),
    )
    decision = decide(requirements, wanted.inconclusive)
    return GateReport(
        agentmut_version=__version__,
        project=session.project.path.name,
        decision=decision,
        reasons=reasons_of(requirements, decision, wanted.inconclusive)
        or (() if requirements else ("nothing is asked for: the section `gate` asks for no evidence",)),
        requirements=requirements,
        origins=Origins.together(cost.origins for cost in costs),
        inconclusive=wanted.inconclusive,
        left_out=tuple(dict.fromkeys(text for answer in answers for text in answer.left_out)),
        notes=tuple(dict.fromkeys(text for answer in answers for text in answer.notes)),
    )


def _answers(stored: StoredReports, store: Store) -> Iterator[Answer]:
    """Hold what the project's gate asks for against the evidence, in the order of the report."""
    wanted = stored.session.project.gate
    if wanted.verdict:
        yield _paid_for(_suite(stored), stored, store)
    if wanted.min_score is not None:
        found = latest(stored, "run")
        campaign = found.campaign
        score = (
            minimum_score(campaign, wanted.min_score)
            if campaign
            else missing(SCORE, _none_of(("run", found)))
        )
        yield Answer.on(_looked_at(score, stored, store), found)
    if wanted.min_coverage is not None:
        yield _coverage(stored.session, store, wanted.min_coverage)
    if wanted.baseline is not None:
        found = latest(stored, "compare")
        verdicts = found.verdicts
        kept = no_regression(verdicts) if verdicts else missing(REGRESSION, _none_of(("compare", found)))
        yield _paid_for(Answer.on(kept, found), stored, store)
    if wanted.require:
        yield from _figures(stored)


def _looked_at(score: Requirement, stored: StoredReports, store: Store) -> Requirement:
    """Leave a score to a person if other runs decided the same question, and alpha does not pay for them."""
    plans, project = plans_in(store), stored.session.project
    plan = plans.get(score.run)
    if plan is None or score.standing is Standing.FAILED:
        return score
    looks = looks_besides(plan, plans.values(), project.runs)
    return _doubted(score, unpaid(looks, plan.rule.alpha, project.statistics.alpha))


def _paid_for(answer: Answer, stored: StoredReports, store: Store) -> Answer:
    """Leave a verdict to a person if other commands decided the same question, and alpha does not pay for them."""
    project, report = stored.session.project, answer.report
    if not isinstance(report, VerdictReport) or answer.requirement.standing is Standing.FAILED:
        return answer
    doubt = unpaid_verdict(report, store, project.runs, project.statistics.alpha)
    return answer._replace(requirement=_doubted(answer.requirement, doubt))


def _doubted(requirement: Requirement, doubt: str) -> Requirement:
    """Return the requirement; leave it to a person if there is a doubt."""
    if not doubt:
        return requirement
    reason = f"{requirement.reason}, but {doubt}"
    return requirement.model_copy(update={"standing": Standing.SHORT, "reason": reason})


def _figures(stored: StoredReports) -> Iterator[Answer]:
    """Hold each line of `gate.require` against a test of a fixed number of runs, else a campaign, else any test."""
    limits = read_limits(stored.session.project.gate.require)
    tested, found = latest(stored, "test"), latest(stored, "run")
    of_test = reliability_in(tested.report) if tested.report else None
    chosen = found if of_test is None or (of_test.early_stopping and found.report) else tested
    report = chosen.report
    figures = reliability_in(report) if report else None
    for limit in limits:
        if report is None or figures is None:
            none = _none_of(("test", tested), ("run", found))
            yield Answer(missing(limit.written, none), None, (*tested.left_out, *found.left_out))
        else:
            yield Answer.on(_dated(requirement_on(limit, figures, len(limits), report.run_id)), chosen)


def _suite(stored: StoredReports) -> Answer:
    """Return the state of the suite: by the latest test, or by a campaign if there is no test or it fails later."""
    tested = latest(stored, "test")
    test = tested.verdicts
    if test is None:
        return _by_campaign(stored, tested)
    found = _dated(suite_verdict(test))
    contrary = _contrary(stored, test)
    if contrary is None or found.standing is Standing.FAILED:
        return Answer.on(found, tested)
    against = _dated(_verdict_of(stored, contrary))
    if stored.named and test.run_id.startswith(stored.named):
        note = f"run {contrary.run_id} speaks against the run named: {against.reason}"
        return Answer(found, test, tested.left_out, (*tested.notes, note))
    newer = f"run {test.run_id} (`agentmut test`): {test.verdict}, but a newer campaign fails"
    return Answer(against, contrary, (*tested.left_out, newer), tested.notes)


def _by_campaign(stored: StoredReports, tested: FoundReport) -> Answer:
    found = latest(stored, "run")
    campaign = found.campaign
    none = missing(SUITE, _none_of(("test", tested), ("run", found)))
    verdict = _dated(_verdict_of(stored, campaign)) if campaign else none
    return Answer(verdict, campaign, (*tested.left_out, *found.left_out), (*tested.notes, *found.notes))


def _verdict_of(stored: StoredReports, campaign: Result) -> Requirement:
    """Judge a campaign's own runs of the unchanged agent by the thresholds asked today."""
    return baseline_verdict(campaign, stored.session.project.statistics.alpha, stored.thresholds)


def _contrary(stored: StoredReports, test: VerdictReport) -> Result | None:
    """Return the latest campaign on today's agent if it is newer than the test and its baseline fails.

    What makes its score unfit, few mutants or another kill rule, does not touch the baseline.
    """
    for each in stored.reports:
        report = each.report
        if not isinstance(report, Result) or each.run <= test.run_id or report.status == "interrupted":
            continue
        tried = any(row.trials for row in report.baseline)
        if not tried or stored.stale(report):
            continue
        return report if _verdict_of(stored, report).standing is Standing.FAILED else None
    return None


def _costs(reports: Iterable[Report | None]) -> list[Cost]:
    """List the costs of the reports that requirements rest on, each once."""
    by_run = {(type(report), report.run_id): report for report in reports if report is not None}
    return [_with_all(report) for report in by_run.values()]


def _with_all(report: Report) -> Cost:
    """Return the cost of a report with its judges and hooks; no sum of money if one price is unknown."""
    judges, hooks = (judge.usd for judge in report.judges), (hook.usd for hook in report.cost.hooks)
    prices = [report.cost.usd, *judges, *hooks]
    known = [each for each in prices if each is not None]
    return report.cost.model_copy(update={"usd": sum(known) if len(known) == len(prices) else None})


def _dated(requirement: Requirement) -> Requirement:
    """Return the requirement with the time of its evidence, if the run's id has one."""
    when = planned_at(requirement.run)
    if not when:
        return requirement
    return requirement.model_copy(update={"reason": f"{requirement.reason}, of {when}"})


def _coverage(session: Session, store: Store, least: float) -> Answer:
    from agentmut.insight import project_coverage

    try:
        found = project_coverage(session, store)
    except UsageError as error:  # nothing is stored that fits
        return Answer(missing(COVERAGE, str(error)))
    return Answer(minimum_coverage(found.overall, least), notes=tuple(found.notes))


def _runs_of_the_agent(session: Session, store: Store) -> Iterator[Requirement]:
    wanted = session.project.gate
    if wanted.max_usd_per_run is None and wanted.max_seconds_per_run is None:
        return
    heads, _ = original_heads(session, store, most=MOST_READ)
    evidence = [
        (trial.execution.trace.usd, trial.execution.trace.seconds)
        for trial in store.listing.some(head.id for some in heads.values() for head in some)
        if trial.execution.ending.is_evidence
    ]
    if wanted.max_usd_per_run is not None:
        usd = [each for each, _ in evidence]
        known = [each for each in usd if each is not None]
        mean = _mean(known) if len(known) == len(usd) else None
        yield mean_at_most("cost of a run", mean, wanted.max_usd_per_run, "USD")
    if wanted.max_seconds_per_run is not None:
        mean = _mean([seconds for _, seconds in evidence])
        yield mean_at_most("time of a run", mean, wanted.max_seconds_per_run, "s")


def _mean(values: list[float]) -> "Interval | None":
    if not values:
        return None
    import numpy as np

    from agentmut.stats import bootstrap

    return bootstrap(values, np.mean, rng=np.random.default_rng(1), vectorized=True)


def _none_of(*searches: tuple[str, FoundReport]) -> str:
    """Return which stored results do not decide, and why; without any, what makes a result."""
    nearest = [found.nearest for _, found in searches if found.nearest]
    makers = " or ".join(MADE_BY[kind] for kind, _ in searches)
    return "; ".join(nearest) or f"no current result is stored; {makers} makes one"
