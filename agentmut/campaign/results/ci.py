"""The chance that a mutant turns a CI job red, under the suite's own thresholds."""

from collections.abc import Sequence
from statistics import fmean

from agentmut.campaign.decision.arm import Arm
from agentmut.campaign.decision.lane import Lane
from agentmut.campaign.decision.reach import reached
from agentmut.campaign.decision.state import CampaignState
from agentmut.campaign.preparation.session import Session
from agentmut.nouns import CiJob, CiNoticed, CiRed, CiRun, Intent, Mutant, MutantRow, Status
from agentmut.stats import Decision, KillTable, RedChance, TriedScenario, killed_where, red_chances

_JUDGED = (Status.KILLED, Status.SURVIVED, Status.UNDECIDED)


def mutant_tried(session: Session, state: CampaignState, mutant: Mutant) -> tuple[TriedScenario, ...]:
    """Return a mutant's trials by scenario; empty for a mutant that says nothing about the suite.

    A scenario that the mutant does not reach behaves as the original's. Where it is reached and no drop was found,
    the original's trials count with the mutant's; a scenario that killed it stands for itself, by the runs after the
    kill alone where the campaign makes such runs. Where the suite as a whole killed it, so does every scenario.
    """
    status, _ = state.status(mutant.id) or (Status.UNDECIDED, "")
    arm = state.arms.get(mutant.id)
    if status is Status.NO_COVERAGE:
        return original_tried(session, state)
    if status not in _JUDGED or arm is None or not arm.evidence:
        return ()
    lanes = {lane.scenario: lane for lane in arm.lanes}
    where = reached(mutant, state.detectors[mutant.id], state.suite, state.baselines, state.scenarios)
    return tuple(
        _mutated(state, arm, lanes.get(name), original) if name in where.scenarios else original
        for name, original in zip(_tried_scenarios(state), original_tried(session, state), strict=True)
    )


def _mutated(state: CampaignState, arm: Arm, lane: Lane | None, original: TriedScenario) -> TriedScenario:
    if lane is None:
        return TriedScenario(0, 0, original.threshold, no_better_than=original[:2])
    passes = lane.trials - lane.failures
    chosen = arm.status is Status.KILLED and lane.scenario in arm.chosen_by_kill
    after = state.after_kills.on(arm.mutant.id, lane.scenario)
    if after and (chosen or lane.decision is Decision.KILLED):
        return TriedScenario(
            passes + after.passes, lane.trials + after.trials, original.threshold, after=after
        )
    if lane.decision is Decision.KILLED:
        killed = killed_where(_judging(arm, lane.scenario), lane.outcomes)
        return TriedScenario(passes, lane.trials, original.threshold, killed=killed)
    return TriedScenario(passes, lane.trials, original.threshold, no_better_than=original[:2])


def _judging(arm: Arm, scenario: str) -> tuple[KillTable, ...]:
    """Return the tables that judged a scenario, up to that of the round that killed the mutant."""
    rounds = arm.tested[: arm.died_in + 1] if arm.died_in >= 0 else arm.tested
    return tuple(tested.tables[scenario] for tested in rounds if scenario in tested.tables)


def original_tried(session: Session, state: CampaignState) -> tuple[TriedScenario, ...]:
    """Return the baseline's trials, scenario by scenario in the plan's order."""
    return tuple(
        TriedScenario(
            state.baselines[name].passes,
            state.baselines[name].trials,
            session.project.threshold_of(state.scenarios[name]),
        )
        for name in _tried_scenarios(state)
    )


def _tried_scenarios(state: CampaignState) -> tuple[str, ...]:
    """Return the scenarios with trials of the original: a test that is always skipped cannot turn a job red."""
    return tuple(name for name in state.plan.scenarios if state.baselines[name].trials)


def ci_red(session: Session, tried: Sequence[TriedScenario]) -> tuple[CiRed, ...]:
    """Return the chance of red for each number of runs that the project names; empty without trials."""
    return tuple(map(_ci_red, red_chances(tried, session.project.ci_runs))) if tried else ()


def chances_of_red(session: Session, state: CampaignState, mutant: Mutant) -> tuple[CiRed, ...]:
    """Return a mutant's chance of red for each number of runs that the project names; empty where nothing tells."""
    return ci_red(session, mutant_tried(session, state, mutant))


def ci_runs(session: Session, state: CampaignState, rows: Sequence[MutantRow]) -> tuple[CiRun, ...]:
    """Compute, for each number of runs, the false alarms and how many degrading mutants turn the job red."""
    return tuple(
        CiRun(
            runs=alarm.runs,
            left_out=len(state.plan.scenarios) - len(_tried_scenarios(state)),
            false_alarm=alarm,
            killed=_noticed(rows, Status.KILLED, place),
            survived=_noticed(rows, Status.SURVIVED, place),
        )
        for place, alarm in enumerate(ci_red(session, original_tried(session, state)))
    )


def ci_jobs(state: CampaignState, mutant: Mutant) -> tuple[CiJob, ...]:
    """Return the runs of a mutant after its kill, by scenario; empty for a mutant without such runs."""
    arm = state.arms.get(mutant.id)
    made = (
        (name, state.after_kills.jobs.get((mutant.id, name))) for name in (arm.chosen_by_kill if arm else ())
    )
    return tuple(
        CiJob(scenario=name, passes=job.counts.passes, trials=job.counts.trials, complete=not job.counts.due)
        for name, job in made
        if job
    )


def _noticed(rows: Sequence[MutantRow], status: Status, place: int) -> CiNoticed:
    degrading = [row for row in rows if row.intent is Intent.DEGRADE and row.status is status and row.ci_red]
    values = [value for row in degrading if (value := row.ci_red[place].value) is not None]
    return CiNoticed(
        mutants=len(values),
        left_out=len(degrading) - len(values),
        let_through=sum(value < 0.5 for value in values),
        mean_red=round(fmean(values), 6) if values else None,
    )


def _ci_red(found: RedChance) -> CiRed:
    interval = found.interval
    return CiRed(
        runs=found.runs,
        value=None if interval.estimate is None else round(interval.estimate, 6),
        low=round(interval.low, 6),
        high=round(interval.high, 6),
        level=interval.level,
    )
