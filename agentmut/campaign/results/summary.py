"""From a campaign's state to `result.json`."""

from collections.abc import Iterator

from agentmut._base import __version__
from agentmut.campaign.decision.baseline import ScenarioBaseline
from agentmut.campaign.decision.problems import most_common_trouble
from agentmut.campaign.decision.state import CampaignState
from agentmut.campaign.limits import Spend, spent_budget, words_of
from agentmut.campaign.preparation.agent_summary import agent_of
from agentmut.campaign.preparation.evaluator_age import judged_by_newer, older_note
from agentmut.campaign.preparation.identity import Environment, is_simulated
from agentmut.campaign.preparation.plan import Plan
from agentmut.campaign.preparation.session import Session
from agentmut.campaign.results.bounds import bounds_of
from agentmut.campaign.results.campaign_notes import campaign_notes
from agentmut.campaign.results.cheap_model import cheap_model_notes, with_cheap_model
from agentmut.campaign.results.ci import ci_runs
from agentmut.campaign.results.decision_tables import decision_tables
from agentmut.campaign.results.group_scores import GroupScores, first_order
from agentmut.campaign.results.mutant_rows import mutant_rows
from agentmut.campaign.results.reliability import ScenarioRuns, reliability_of
from agentmut.campaign.results.service import service_notes, service_of
from agentmut.campaign.results.set_aside import set_aside
from agentmut.campaign.results.shortage import shortage_notes
from agentmut.campaign.results.unlisted_tools import unlisted_tools_notes
from agentmut.campaign.running.judges import judges_used
from agentmut.campaign.running.work import Stop
from agentmut.campaign.selection.source_texts import source_texts
from agentmut.campaign.selection.tool_texts import tool_texts
from agentmut.nouns import (
    BaselineRow,
    Controls,
    Cost,
    DestroyedControl,
    IdentityControl,
    Reliability,
    Result,
    Sampled,
    Score,
    Status,
    SuitePart,
)
from agentmut.project import redactor
from agentmut.stats import wilson


def summarise(session: Session, state: CampaignState, stop: Stop) -> Result:
    """Return the result of a campaign, finished or not."""
    plan, spend = state.plan, state.spend
    ended_by = spent_budget(plan.budget, spend, 0) if stop is Stop.BUDGET else None
    service, older = service_of(state), judged_by_newer(session.ages, plan)
    tables = decision_tables(state.arms.values())
    texts = source_texts(session.origin, plan.mutants, redactor(session.project))
    rows = mutant_rows(session, state, tables, texts)
    scored = GroupScores(state, session.project.statistics.scoring)
    score, cheap_model = with_cheap_model(scored.main(rows), state)
    return Result(
        agentmut_version=__version__,
        run_id=plan.run_id,
        status=stop.value,
        problem=state.problem or (words_of(ended_by, spend) if ended_by else ""),
        ended_by=ended_by,
        seed=plan.seed,
        project=session.project.path.name,
        agent=agent_of(session),
        baseline=tuple(_baseline_row(session, state, name) for name in plan.scenarios),
        reliability=_reliability(state),
        controls=_controls(state),
        service=service,
        score=score,
        robustness=scored.robustness(rows),
        classes=scored.grouped(rows, lambda row: row.operator_class.value, degrading=True),
        operators=scored.grouped(rows, lambda row: row.operator, degrading=False),
        mutants=rows,
        ci=ci_runs(session, state, first_order(rows)),
        cost=cost_of(spend, plan.environment),
        judges=judges_used(session, spend.judges),
        rule=_rule(state),
        shard=str(plan.shard or ""),
        merged=plan.merged,
        sample=_sampled(state),
        suite_part=_part_of(session, plan),
        cheap_model=cheap_model,
        asks=plan.asks,
        selective=plan.selective,
        quarantined=set_aside(state.set_aside),
        evidence_older_than_evaluators=older,
        notes=(
            *older_note(older),
            *cheap_model_notes(cheap_model, state),
            *_notes(session, state, stop, score),
            *service_notes(service),
        ),
        sources=texts.texts,
        tools=tool_texts(session.origin, redactor(session.project)),
        decision_tables=tables.tables,
    )


def _notes(session: Session, state: CampaignState, stop: Stop, score: Score) -> Iterator[str]:
    """Yield the notes on a campaign with one model, those that limit its score first."""
    yield from shortage_notes(state, stop, score)
    yield from unlisted_tools_notes(session.suite.full, state)
    yield from campaign_notes(state)


def _rule(state: CampaignState) -> dict[str, object]:
    """Return the settings of the kill rule, with the size of the largest baseline."""
    largest = max(baseline.wanted + baseline.beside for baseline in state.baselines.values())
    return {**state.plan.rule.model_dump(), "baseline": largest}


def _part_of(session: Session, plan: Plan) -> SuitePart | None:
    measured, whole = len(plan.scenarios), len(session.project.scenarios)
    return SuitePart(scenarios=measured, of=whole) if measured < whole else None


def _sampled(state: CampaignState) -> Sampled | None:
    sample = state.sample
    if sample is None or not sample.waiting:
        return None
    shares = tuple(look.share for look in sample.seen)
    return Sampled(mutants=tuple(sample.order[: sample.ends[-1]]), ends=tuple(sample.ends), shares=shares)


def cost_of(spend: Spend, environment: Environment) -> Cost:
    """Return the spending of a run in this environment, in the form that reports show."""
    return Cost(
        trials=spend.trials,
        baseline_trials=spend.baseline_trials,
        tokens=spend.tokens,
        cached_tokens=spend.cached_tokens,
        saved_usd=round(spend.saved_usd, 6),
        usd=None if spend.unpriced else round(spend.usd, 6),
        seconds=round(spend.seconds, 3),
        reused=spend.reused,
        foreign=spend.foreign,
        abandoned_threads=spend.abandoned,
        hooks=tuple(use.model_copy(update={"usd": use.usd and round(use.usd, 6)}) for use in spend.hooks),
        simulated=is_simulated(environment),
    )


def _baseline_row(session: Session, state: CampaignState, name: str) -> BaselineRow:
    baseline = state.baselines[name]
    failures, trials = baseline.counts
    passes = trials - failures
    interval = wilson(passes, trials) if trials else None
    return BaselineRow(
        scenario=name,
        trials=trials,
        passes=passes,
        rate=round(passes / trials, 6) if trials else None,
        interval=bounds_of(interval) if interval else None,
        threshold=session.project.threshold_of(state.scenarios[name]),
        testable=baseline.complete and state.testable(name),
        no_evidence=sum(baseline.no_evidence.values()),
        beside=baseline.beside,
        reason=_untestable_reason(state, baseline, name),
        failure=baseline.first_failure,
    )


def _reliability(state: CampaignState) -> Reliability | None:
    runs = []
    for name, baseline in state.baselines.items():
        passed, seconds = baseline.in_order()
        category, setup = state.scenarios[name].category, baseline.setup_seconds
        runs.append(ScenarioRuns(name, sum(passed), len(passed), passed, seconds, category, setup))
    # with several rounds, outcomes decide how far a baseline grows
    return reliability_of(runs, early_stopping=len(state.plan.rounds) > 1)


def _untestable_reason(state: CampaignState, baseline: ScenarioBaseline, name: str) -> str:
    if not baseline.complete:
        return "the baseline is not complete"
    if not baseline.usable:
        return f"too few trials gave evidence: {most_common_trouble([baseline])}"
    if not state.testable(name):
        return f"the original fails too often for a drop to show; a failure: {baseline.first_failure}"
    return ""


def _controls(state: CampaignState) -> Controls:
    arms = [state.arms[m.id] for m in state.plan.identity if m.id in state.arms]
    destroyed = state.status(state.plan.destroyed.id)
    arm = state.arms.get(state.plan.destroyed.id)
    return Controls(
        identity=IdentityControl(
            mutants=len(state.plan.identity),
            killed=sum(arm.status is Status.KILLED for arm in arms),
            trials=sum(arm.trials.own for arm in arms),
        ),
        destroyed=DestroyedControl(
            status=destroyed[0] if destroyed else None,
            reason=_destroyed_reason(state, destroyed),
            trials=arm.trials.own if arm else 0,
        ),
    )


def _destroyed_reason(state: CampaignState, decided: tuple[Status, str] | None) -> str:
    if not state.plan.destroyed.edits:
        return state.plan.destroyed.description
    return decided[1] if decided else "the run ended before it was decided"
