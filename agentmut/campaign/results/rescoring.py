"""Rescoring: what changed evaluators would have decided on the stored trials of a campaign, without a new trial."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from agentmut.campaign.decision.arm import Arm
from agentmut.campaign.decision.predicted_reach import may_reach
from agentmut.campaign.preparation.evaluator_age import judged_by_newer, older_note
from agentmut.campaign.preparation.tables import Tables
from agentmut.campaign.results.rescored_campaign import RescoredCampaign
from agentmut.campaign.running.stored import StoredCampaign
from agentmut.nouns import MutantRow, Result, Status
from agentmut.stats import Decision
from agentmut.store import Flip, NeedsTrials, Rescored

Row = tuple[MutantRow, MutantRow]
"""A mutant before and after."""
TO_CONFIRM = "not a final kill: no stored trial of the original from the same time confirms it"


def rescore(campaign: StoredCampaign, before: Result, tables: Tables) -> Rescored:
    """Judge the campaign's stored trials by the evaluators of today, and decide every mutant again.

    `before` is the run's result. Nothing is run, and nothing is written.
    """
    again = RescoredCampaign(campaign, tables, before.sample)
    again.take_in_all()
    after = again.result(before)
    rows = _paired(before, after)
    return Rescored(
        run_id=before.run_id,
        trials=again.judged,
        before=before.score,
        after=after.score,
        flipped=tuple(_flip(again, old, new) for old, new in rows if _is_flipped(old, new)),
        fresh=(*_lacking(again, rows), *_to_confirm(again, rows), *_on_new_scenarios(again, rows)),
        notes=tuple(_notes(campaign, again)),
        result=after,
    )


def _paired(before: Result, after: Result) -> tuple[Row, ...]:
    old = {row.id: row for row in before.mutants}
    return tuple((old[row.id], row) for row in after.mutants if row.id in old)


def _is_flipped(old: MutantRow, new: MutantRow) -> bool:
    """Return whether the decision changed; a mutant that is undecided now is reported as needing trials instead."""
    return new.status not in (old.status, Status.UNDECIDED)


def _flip(again: RescoredCampaign, old: MutantRow, new: MutantRow) -> Flip:
    by = "; ".join(_failing_in(name, again.failing.get((new.id, name), Counter())) for name in new.killed_by)
    return Flip(
        mutant=new.id,
        operator=new.operator,
        description=new.description,
        before=old.status,
        after=new.status,
        by=by,
        final=new.id not in again.unconfirmed,
    )


def _failing_in(scenario: str, failing: Mapping[str, int]) -> str:
    names = ", ".join(sorted(failing, key=lambda name: -failing[name]))
    return f"{scenario} ({names})" if names else scenario


def _lacking(again: RescoredCampaign, rows: Iterable[Row]) -> Iterator[NeedsTrials]:
    """Yield the mutants that were decided and are not any more."""
    for old, new in rows:
        arm = again.state.arms.get(new.id)
        if new.status is Status.UNDECIDED and arm and arm.status is None:
            open_lanes = tuple(lane.scenario for lane in arm.lanes if lane.decision is Decision.CONTINUE)
            yield NeedsTrials(mutant=new.id, operator=new.operator, scenarios=open_lanes, why=_why(old, arm))


def _to_confirm(again: RescoredCampaign, rows: Iterable[Row]) -> Iterator[NeedsTrials]:
    """Yield the mutants that stored trials kill against the baseline alone: such a kill is not final."""
    for _, new in rows:
        if new.id in again.unconfirmed and new.status is Status.KILLED:
            scenarios = tuple(evidence.scenario for evidence in new.evidence)
            # no scenario of them where the suite as a whole kills
            where = tuple(name for name in scenarios if name in new.killed_by) or scenarios
            yield NeedsTrials(mutant=new.id, operator=new.operator, scenarios=where, why=TO_CONFIRM)


def _why(old: MutantRow, arm: Arm) -> str:
    if not arm.evidence:
        return "no stored trial can be judged"
    if old.status is Status.KILLED:
        return f"the trials ended with a kill by {', '.join(old.killed_by)}, which does not hold any more"
    return "by these evaluators the stored trials do not decide"


OPEN = frozenset({Status.SURVIVED, Status.UNDECIDED, Status.NO_COVERAGE, Status.NOT_APPLIED})
"""What a new scenario may turn into a kill."""


def _on_new_scenarios(again: RescoredCampaign, rows: Iterable[Row]) -> Iterator[NeedsTrials]:
    """Yield the surviving mutants with the scenarios that they may reach and that have no stored trials."""
    tests, state = again.campaign.session.tests, again.state
    known = {mutant.id: mutant for mutant in again.campaign.plan.mutants}
    for name in again.new:
        for _, row in rows:
            if row.status not in OPEN or row.id not in known:
                continue
            found = may_reach(known[row.id], tests.scenarios[name], state.suite, state.baselines)
            if found is not None:
                yield NeedsTrials(
                    mutant=row.id,
                    operator=row.operator,
                    scenarios=(name,),
                    why=found.why,
                    certain=found.certain,
                )


def _notes(campaign: StoredCampaign, again: RescoredCampaign) -> Iterator[str]:
    yield from older_note(judged_by_newer(campaign.session.ages, again.state.plan))
    yield from campaign.notes
    if again.state.problem:
        yield again.state.problem
    if waiting := len({mutant.id for mutant in campaign.plan.mutants}.intersection(again.unconfirmed)):
        kills, them = ("1 kill rests", "it") if waiting == 1 else (f"{waiting} kills rest", "them")
        yield (
            f"{kills} on the baseline alone: no stored trial of the original from the same time confirms {them}. The "
            "interval holds either way. `agentmut run` makes such trials"
        )
    if new := again.new:
        yield (
            f"{', '.join(new)}: no stored trials. `agentmut run` makes the baseline there, and tries the mutants that "
            f"reach {'it' if len(new) == 1 else 'them'}"
        )
    for name, count in again.masked.items():
        yield f"{count} trials of {name} cannot be judged anew: secrets were taken out of them when they were stored"
