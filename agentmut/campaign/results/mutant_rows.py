"""The row of each mutant in `result.json`: its status, its change, and the evidence for both."""

from agentmut.campaign.decision.arm import Arm
from agentmut.campaign.decision.scoring import Standing, standings
from agentmut.campaign.decision.state import CampaignState
from agentmut.campaign.preparation.session import Session
from agentmut.campaign.results.ci import ci_jobs, ci_red, mutant_tried
from agentmut.campaign.results.decision_tables import DecisionTables
from agentmut.campaign.results.service import confirmations_of
from agentmut.campaign.selection.locate import changed_text, target_of
from agentmut.campaign.selection.source_texts import SourceTexts
from agentmut.nouns import Evidence, Mutant, MutantRow, Status, WitnessSummary


def mutant_rows(
    session: Session, state: CampaignState, tables: DecisionTables, texts: SourceTexts
) -> tuple[MutantRow, ...]:
    """Return a row for each mutant of the plan, in its order."""
    mutants = state.plan.mutants
    proofs = standings((m, _status(state, m)[0], state.arms.get(m.id)) for m in mutants)

    def row(mutant: Mutant) -> MutantRow:
        return _row(session, state, mutant, tables, texts, proofs.get(mutant.id, Standing()))

    return tuple(map(row, mutants))


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
    scenarios = mutant_tried(session, state, mutant)
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
        reached=arm.clearing.reached if arm and arm.clearing else None,
        may_have_drop=_may_have_drop(arm, proof, state.plan.rule.beta),
        gate_red=_gate_red(session, state, arm) if arm else None,
        ci_red=ci_red(session, scenarios),
        ci_jobs=ci_jobs(state, mutant),
        ci_as_original=sum(s.no_better_than is not None and not s.trials for s in scenarios),
        gap=_gap(status),
        witness=_witness(arm),
        evidence=_evidence(arm, tables) if arm else (),
        confirmations=confirmations_of(arm) if arm else (),
        trials=arm.trials.own if arm else 0,
        usd=arm.tally.cost if arm else 0.0,
        reason=reason,
    )


def _may_have_drop(arm: Arm | None, proof: Standing, beta: float) -> int | None:
    """Return how many scenarios may still have the drop that a survivor is cleared of; None if it was not cleared."""
    if arm is None or arm.clearing is None or proof.ruled_out is None:
        return None
    return arm.clearing.most_with_drop(beta)


def _witness(arm: Arm | None) -> WitnessSummary | None:
    if arm is None or not arm.route:
        return None
    return arm.delivery.summary(arm.route, arm.tally.witnessed, arm.trials.own)


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
    lanes = [lane for lane in arm.lanes if lane.trials]
    if not lanes:
        return None
    return any(
        (lane.trials - lane.failures) / lane.trials
        < session.project.threshold_of(state.scenarios[lane.scenario])
        for lane in lanes
    )
