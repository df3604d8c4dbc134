"""From an assessment to `verdicts.json`."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from agentmut._base import __version__, gone_again
from agentmut.assessment.evaluator_findings import contract_rows, judge_rows
from agentmut.assessment.remarks import stored_before
from agentmut.assessment.rules import BaselineCounts
from agentmut.assessment.state import AssessedScenario, Assessment
from agentmut.campaign import (
    CUT,
    ISOLATED_AFTERWARDS,
    ScenarioRuns,
    Session,
    Stop,
    age_note,
    agent_of,
    bounds_of,
    cost_of,
    judges_used,
    money_notes,
    most_common_trouble,
    older_note,
    reliability_of,
    set_aside_notes,
)
from agentmut.nouns import Bounds, Outcome, Reliability
from agentmut.project import outdated_request
from agentmut.stats import Correction, Judgement, anytime_interval, effects, pass_rates, suite_verdict
from agentmut.store import BaselineSide, BaselineUsed, EffectRow, ScenarioVerdict, VerdictReport


class Question(NamedTuple):
    """The question that the verdicts answer, apart from their rules."""

    alpha: float
    correction: Correction
    baseline: BaselineUsed | None = None
    sides: Mapping[str, BaselineCounts] = MappingProxyType({})
    notes: tuple[str, ...] = ()
    given: Mapping[str, BaselineSide] = MappingProxyType({})
    """What the comparison of each scenario promises given its baseline."""
    older: tuple[str, ...] = ()
    """Scenarios whose evaluators may be newer than the runs of the baseline."""


def report_verdicts(session: Session, work: Assessment, stop: Stop, question: Question) -> VerdictReport:
    """Return the report of an assessment, finished or not."""
    raw = work.judgements()
    suite = suite_verdict(raw, question.alpha, question.correction)
    rows = tuple(  # before what judges took is counted: calibrations are judged here
        _row(session, work, question, name, judgement, suite.p_values[name])
        for name, judgement in suite.scenarios.items()
    )
    return VerdictReport(
        agentmut_version=__version__,
        kind=work.plan.kind,
        run_id=work.plan.run_id,
        status=stop.value,
        problem=work.problem,
        forgotten=work.forgot,
        seed=work.plan.seed,
        project=session.project.path.name,
        agent=agent_of(session),
        verdict=suite.verdict,
        reason=suite.reason + _left_out(question.baseline),
        family=str(suite.adjusted),
        correction=question.correction.value,
        alpha=question.alpha,
        needed=suite.needed,
        scenarios=rows,
        reliability=_reliability(work),
        baseline=question.baseline,
        cost=cost_of(work.spend, session.environment),
        judges=judges_used(session, work.spend.judges),
        settings=work.plan.settings,
        quarantined=work.set_aside,
        evidence_older_than_evaluators=question.older,
        notes=(*older_note(question.older), *question.notes, *_outdated(session, work), *_notes(work)),
    )


def _reliability(work: Assessment) -> Reliability | None:
    runs = [
        ScenarioRuns(
            name,
            sum(lane.passed),
            len(lane.passed),
            tuple(lane.passed),
            tuple(lane.seconds),
            work.scenarios[name].category,
            lane.setup_seconds,
        )
        for name, lane in work.lanes.items()
    ]
    return reliability_of(runs, early_stopping=any(lane.rule.sequential for lane in work.lanes.values()))


def _left_out(used: BaselineUsed | None) -> str:
    left_out = len(used.not_compared) if used else 0
    return f"; {left_out} not compared" if left_out else ""


def _outdated(session: Session, work: Assessment) -> Iterator[str]:
    """Yield that a file of the prompt is newer than the saved request, if stored trials count; a comparison says it."""
    if work.plan.kind == "compare" or not work.spend.reused:
        return
    if outdated := outdated_request(session.project):
        yield stored_before(outdated)


def _notes(work: Assessment) -> Iterator[str]:
    if gone_again():
        yield ISOLATED_AFTERWARDS
    if old := age_note(work.spend.age, "verdicts rest on trials that are"):
        yield old
    if work.spend.trials == 0:
        yield "all trials that the verdicts rest on were stored before; `--fresh` runs the agent again"
    yield from set_aside_notes(work.set_aside)
    yield from money_notes(work.spend)
    if work.spend.cut:
        yield CUT.format(work.spend.cut)
    if work.spend.abandoned:
        yield f"{work.spend.abandoned} runs were abandoned at their timeout; `isolate: process` would end them"


def _row(
    session: Session, work: Assessment, question: Question, name: str, judgement: Judgement, adjusted: float
) -> ScenarioVerdict:
    lane, side = work.lanes[name], question.sides.get(name)
    rates, anytime = pass_rates(lane.outcomes), _anytime(lane)
    evaluators, interval = session.tests.evaluators[name], bounds_of(judgement.interval)
    of_rate = anytime or (None if side else interval)
    return ScenarioVerdict(
        scenario=name,
        verdict=judgement.verdict,
        reason=judgement.reason,
        passes=sum(lane.passed),
        trials=len(lane.passed),
        threshold=None if side else session.project.threshold_of(work.scenarios[name]),
        interval=interval,
        anytime=anytime,
        p_fail=judgement.p_fail,
        p_adjusted=adjusted,
        needed=judgement.needed,
        method=judgement.method,
        outcomes={outcome.value: lane.outcomes[outcome] for outcome in Outcome if lane.outcomes[outcome]},
        per_protocol=bounds_of(rates.per_protocol),
        intention_to_treat=bounds_of(rates.intention_to_treat),
        in_time=bounds_of(rates.in_time) if lane.outcomes[Outcome.TIMEOUT] else None,
        failure=lane.first_failure or most_common_trouble([lane]),
        baseline=question.given.get(name),
        effect=_effect(lane, side) if side else None,
        contracts=tuple(
            contract_rows(
                evaluators, work.scenarios[name], lane.checked, lane.passed, of_rate, judgement.verdict
            )
        ),
        judged=tuple(judge_rows(evaluators, lane.checked)),
    )


def _anytime(lane: AssessedScenario) -> Bounds | None:
    if not (lane.rule.sequential and lane.passed):
        return None
    return bounds_of(anytime_interval(sum(lane.passed), len(lane.passed)))


def _effect(lane: AssessedScenario, side: BaselineCounts) -> EffectRow | None:
    """Return the effect of now against the baseline, so that a loss is negative."""
    if not lane.passed:
        return None
    found = effects(sum(lane.passed), len(lane.passed), *side)
    assert (
        found.h is not None
        and found.difference.estimate is not None
        and found.odds_ratio.estimate is not None
    )
    return EffectRow(
        difference=found.difference.estimate,
        cohens_h=found.h.value,
        size=found.h.size.value,
        odds_ratio=found.odds_ratio.estimate,
        odds_ratio_interval=bounds_of(found.odds_ratio),
    )
