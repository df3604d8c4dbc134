"""From a campaign's state to `result.json`."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from agentmut._base import __version__, gone_again
from agentmut.campaign.decision.arm import Arm
from agentmut.campaign.decision.baseline import ScenarioBaseline, age_note
from agentmut.campaign.decision.clearing import FOREMOST
from agentmut.campaign.decision.problems import most_common_trouble
from agentmut.campaign.decision.reach import HOLDERS
from agentmut.campaign.decision.scoring import Standing, score_of_sample, share_not_killed, standings
from agentmut.campaign.decision.state import CampaignState
from agentmut.campaign.limits import CUT, ISOLATED_AFTERWARDS, Spend, cost_unknown
from agentmut.campaign.preparation.agent_summary import agent_of
from agentmut.campaign.preparation.evaluator_age import judged_by_newer, older_note
from agentmut.campaign.preparation.identity import Environment, is_simulated
from agentmut.campaign.preparation.session import Session
from agentmut.campaign.results.bounds import bounds_of
from agentmut.campaign.results.cheap_model import cheap_model_notes, with_cheap_model
from agentmut.campaign.results.ci import ci_jobs, ci_red, ci_runs, mutant_tried
from agentmut.campaign.results.decision_tables import DecisionTables, decision_tables
from agentmut.campaign.results.forking import fork_notes
from agentmut.campaign.results.reliability import ScenarioRuns, reliability_of
from agentmut.campaign.results.service import confirmations_of, service_notes, service_of
from agentmut.campaign.results.set_aside import set_aside, set_aside_notes
from agentmut.campaign.results.shortage import shortage_notes
from agentmut.campaign.results.unlisted_tools import unlisted_tools_notes
from agentmut.campaign.running.judges import judges_used
from agentmut.campaign.running.work import Stop
from agentmut.campaign.selection.locate import changed_text, target_of
from agentmut.campaign.selection.source_texts import SourceTexts, source_texts
from agentmut.campaign.selection.tool_texts import tool_texts
from agentmut.campaign.shards.shards import SHARED
from agentmut.nouns import (
    BaselineRow,
    Controls,
    Cost,
    DestroyedControl,
    Evidence,
    IdentityControl,
    Intent,
    Mutant,
    MutantRow,
    OperatorClass,
    Reliability,
    Result,
    Sampled,
    Score,
    Status,
)
from agentmut.project import redactor
from agentmut.stats import Grade, wilson


def summarise(session: Session, state: CampaignState, stop: Stop) -> Result:
    """Return the result of a campaign, finished or not."""
    plan, spend = state.plan, state.spend
    tables = decision_tables(state.arms.values())
    texts = source_texts(session.origin, plan.mutants, redactor(session.project))
    proofs = standings((m, _status(state, m)[0], state.arms.get(m.id)) for m in plan.mutants)
    rows = tuple(
        _row(session, state, mutant, tables, texts, proofs.get(mutant.id, Standing()))
        for mutant in plan.mutants
    )
    scored = _Scorer(state, session.project.statistics.scoring)
    score, cheap_model = with_cheap_model(scored.main(rows), state)
    service = service_of(state)
    return Result(
        agentmut_version=__version__,
        run_id=plan.run_id,
        status=stop.value,
        problem=state.problem,
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
        ci=ci_runs(session, state, _first_order(rows)),
        cost=cost_of(spend, plan.environment),
        judges=judges_used(session, spend.judges),
        rule={
            **plan.rule.model_dump(),
            "baseline": max(b.wanted + b.beside for b in state.baselines.values()),
        },
        shard=str(plan.shard or ""),
        merged=plan.merged,
        sample=_sampled(state),
        cheap_model=cheap_model,
        asks=plan.asks,
        selective=plan.selective,
        quarantined=set_aside(state.set_aside),
        evidence_older_than_evaluators=(older := judged_by_newer(session.ages, plan)),
        notes=(
            *older_note(older),
            *cheap_model_notes(cheap_model, state),
            *shortage_notes(state, stop, score),
            *unlisted_tools_notes(session.suite.full, state),
            *_notes(state),
            *service_notes(service),
        ),
        sources=texts.texts,
        tools=tool_texts(session.origin, redactor(session.project)),
        decision_tables=tables.tables,
    )


def _sampled(state: CampaignState) -> Sampled | None:
    found = state.sample
    if found is None or not found.waiting:
        return None
    shares = tuple(look.share for look in found.seen)
    return Sampled(mutants=tuple(found.order[: found.ends[-1]]), ends=tuple(found.ends), shares=shares)


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
    found = []
    for name, baseline in state.baselines.items():
        passed, seconds = baseline.in_order()
        category, setup = state.scenarios[name].category, baseline.setup_seconds
        found.append(ScenarioRuns(name, sum(passed), len(passed), passed, seconds, category, setup))
    # with several rounds, outcomes decide how far a baseline grows
    return reliability_of(found, early_stopping=len(state.plan.rounds) > 1)


def _untestable_reason(state: CampaignState, baseline: ScenarioBaseline, name: str) -> str:
    if not baseline.complete:
        return "the baseline is not complete"
    if not baseline.usable:
        return f"too few trials gave evidence: {most_common_trouble([baseline])}"
    if not state.testable(name):
        return f"the original fails too often for a drop to show; a failure: {baseline.first_failure}"
    return ""


def _row(
    session: Session,
    state: CampaignState,
    mutant: Mutant,
    tables: DecisionTables,
    texts: SourceTexts,
    proof: Standing,
) -> MutantRow:
    status, reason = _status(state, mutant)
    arm = state.arms.get(mutant.id)
    before, after = changed_text(mutant)
    clearing = arm.clearing if arm else None
    tried = mutant_tried(session, state, mutant)
    return MutantRow(
        id=mutant.id,
        operator=mutant.operator,
        operator_class=mutant.operator_class,
        intent=mutant.intent,
        effect=mutant.effect,
        status=status,
        target=target_of(mutant, session.origin),
        before=before,
        after=after,
        changes=texts.changes(mutant),
        description=mutant.description,
        subject=mutant.subject,
        parts=tuple(part.id for part in mutant.parts),
        killed_by=arm.killed_by if arm and status is Status.KILLED else (),
        p_value=None if proof.p_value is None else float(f"{proof.p_value:.4g}"),
        grade=proof.grade or "",
        ruled_out=proof.ruled_out,
        reached=clearing.reached if clearing else None,
        may_have_drop=clearing.most_with_drop(state.plan.rule.beta)
        if clearing and proof.ruled_out is not None
        else None,
        gate_red=_gate_red(session, state, arm) if arm else None,
        ci_red=ci_red(session, tried),
        ci_jobs=ci_jobs(state, mutant),
        ci_as_original=sum(s.no_better_than is not None and not s.trials for s in tried),
        gap=_gap(status),
        witness=arm.delivery.summary(arm.route, arm.tally.witnessed, arm.trials.own)
        if arm and arm.route
        else None,
        evidence=_evidence(arm, tables) if arm else (),
        confirmations=confirmations_of(arm) if arm else (),
        trials=arm.trials.own if arm else 0,
        usd=arm.tally.cost if arm else 0.0,
        reason=reason,
    )


def _status(state: CampaignState, mutant: Mutant) -> tuple[Status, str]:
    return state.status(mutant.id) or (Status.UNDECIDED, "the run ended before it was decided")


def _gap(status: Status) -> str | None:
    """Return the kind of gap that pass rates show; only a test of the traces can show an assertion gap."""
    return {Status.NO_COVERAGE: "scenario", Status.SURVIVED: "unknown"}.get(status)


def _evidence(arm: Arm, tables: DecisionTables) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(
            scenario=lane.scenario,
            trials=lane.trials,
            failures=lane.failures,
            decision=lane.decision.value,
            failure=lane.first_failure,
            outcomes=lane.outcomes[: lane.trials],
            table=tables.index_for(lane),
        )
        for lane in arm.lanes
        if lane.trials
    )


def _gate_red(session: Session, state: CampaignState, arm: Arm) -> bool | None:
    tried = [lane for lane in arm.lanes if lane.trials]
    if not tried:
        return None
    return any(
        (lane.trials - lane.failures) / lane.trials
        < session.project.threshold_of(state.scenarios[lane.scenario])
        for lane in tried
    )


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


def _destroyed_reason(state: CampaignState, found: tuple[Status, str] | None) -> str:
    if not state.plan.destroyed.edits:
        return state.plan.destroyed.description
    return found[1] if found else "the run ended before it was decided"


class _Scorer(NamedTuple):
    """Scores groups of mutants, with the error rates that the campaign knows."""

    state: CampaignState
    scoring: str

    def main(self, rows: Sequence[MutantRow]) -> Score:
        """Return the mutation score: over `degrade` mutants, or over all mutants with paper scoring (Eq. 22).

        Second-order mutants are left out: their parts are counted already.
        """
        rows = _first_order(rows)
        return self._score(
            rows if self.scoring == "paper" else [r for r in rows if r.intent is Intent.DEGRADE]
        )

    def robustness(self, rows: Sequence[MutantRow]) -> Score:
        """Share of `preserve` mutants that lower no pass rate."""
        preserving = [row for row in _first_order(rows) if row.intent is Intent.PRESERVE]
        return share_not_killed(self._score(preserving))

    def grouped(
        self, rows: Sequence[MutantRow], key: Callable[[MutantRow], str], *, degrading: bool
    ) -> Mapping[str, Score]:
        """Return a score per class or operator; operators with intent `preserve` are scored as robustness."""
        found: dict[str, list[MutantRow]] = {}
        for row in rows:
            if not degrading or row.intent is Intent.DEGRADE or self.scoring == "paper":
                found.setdefault(key(row), []).append(row)
        return {name: self._grouped(group) for name, group in sorted(found.items())}

    def _grouped(self, rows: Sequence[MutantRow]) -> Score:
        preserve = all(row.intent is Intent.PRESERVE for row in rows)
        return share_not_killed(self._score(rows)) if preserve else self._score(rows)

    def _score(self, rows: Iterable[MutantRow]) -> Score:
        rows = list(rows)
        judged = [(row.status, self.state.arms.get(row.id)) for row in rows]
        graded = [Grade(row.grade) for row in rows if row.grade]
        drops, looks = self.state.drops_begun, self.state.looks
        return score_of_sample(judged, drops, looks, graded, paper=self.scoring == "paper")


def score_with_open(
    session: Session, state: CampaignState, rows: Iterable[MutantRow], waiting: Collection[str]
) -> Score:
    """Return the main score where the mutants `waiting` are undecided, as a run leaves kills that wait for trials."""
    is_open = {"status": Status.UNDECIDED, "grade": ""}
    left = [
        row.model_copy(update=is_open) if row.status is Status.KILLED and row.id in waiting else row
        for row in rows
    ]
    return with_cheap_model(_Scorer(state, session.project.statistics.scoring).main(left), state)[0]


def _first_order(rows: Iterable[MutantRow]) -> list[MutantRow]:
    return [row for row in rows if row.operator_class is not OperatorClass.HIGHER_ORDER]


def _notes(state: CampaignState) -> Iterable[str]:
    yield from state.plan.notes
    yield from fork_notes(state)
    if state.notice:
        yield state.notice.rstrip(".")
    if sampled := sum(arm.clearing is not None for arm in state.arms.values()):
        yield (
            f"{sampled} mutants were tried on the {FOREMOST} most related scenarios and at most "
            f"{state.plan.rule.clear_on} random ones of those that reach them (statistics.clear_on; `all` tries "
            "them on each). The upper end of the score counts these scenarios only: the whole suite may notice more "
            "mutants"
        )
    if state.is_precise:
        yield (
            f"ended once the interval of the score was within {state.plan.precision:g} to each side of its middle, "
            "as statistics.precision asks"
        )
    yield from set_aside_notes(set_aside(state.set_aside))
    untestable = [n for n, b in state.baselines.items() if b.complete and not state.testable(n)]
    if untestable:
        yield f"no mutant was tried on {', '.join(untestable)}: see the baseline for the reason"
    for name, baseline in state.baselines.items():
        if baseline.complete and baseline.holds_answer(state.suite.workers):
            asked = f"asked its model in {baseline.asked} of {baseline.asked + baseline.silent} runs"
            yield f"test {name} {asked}: {HOLDERS} holds the answer; mutants cannot show there"
    destroyed = state.status(state.plan.destroyed.id)
    if destroyed and destroyed[0] is Status.ERROR:
        yield f"the destroyed agent could not be run ({destroyed[1]}), so that control says nothing"
    plan, trouble = state.plan, sum(b.no_evidence.total() for b in state.baselines.values())
    if plan.shard and state.spend.baseline_trials:
        ran = state.spend.baseline_trials
        yield f"this shard has run {ran} baseline trials itself, so it cannot be merged. {SHARED.rstrip('.')}"
    if not plan.mutants and trouble:
        again = "give --baseline-only again before you copy it, or every shard runs them for itself"
        yield f"{trouble} baseline trials gave no evidence: {again}"
    if unknown := cost_unknown(state.spend):
        yield unknown
    if old := age_note(state.spend.age, "mutants are compared with trials of the original that are"):
        yield old
    yield from _of_trials(state.spend)


def _of_trials(spend: Spend) -> Iterable[str]:
    if gone_again():
        yield ISOLATED_AFTERWARDS
    if spend.cut:
        yield CUT.format(spend.cut)
    if spend.abandoned:
        abandoned = f"{spend.abandoned} runs were abandoned at their timeout"
        yield f"{abandoned}; `isolate: process` would end them"
