"""The runs of a check of survivors: the unchanged agent's and the survivors', run now or taken from the store."""

from collections.abc import Callable, Collection
from functools import partial
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from agentmut._base import RunError
from agentmut.assessment import Assessment
from agentmut.campaign import (
    Session,
    Spend,
    Stop,
    StoredCampaign,
    Tables,
    run_amid_outages,
    run_work,
    together,
)
from agentmut.nouns import Result
from agentmut.relating.lane import Lane
from agentmut.relating.preparation import PreparedLanes, Wish, pairs_of, prepare, source_work
from agentmut.relating.sources import Executions, executions_of, materials_of
from agentmut.relating.state import (
    Progress,
    Relating,
    RelationsPlan,
    SourceTrials,
    first_and_anew,
)
from agentmut.relating.stored import carry_out_stored, further_runs, without_more
from agentmut.relating.survivors import (
    Measure,
    Runs,
    Survivor,
    detectors_of,
    measures_of,
    mutant_sources,
    mutant_work,
    runs_of,
)
from agentmut.store import Store

W = TypeVar("W", Assessment, Relating, SourceTrials)


class CampaignWithSurvivors(NamedTuple):
    """A finished campaign with its survivors."""

    stored: StoredCampaign
    result: Result
    survivors: tuple[Survivor, ...]

    @property
    def id(self) -> str:
        """Return the run's id."""
        return self.stored.run.id


class SurvivorsChecked(NamedTuple):
    """The check of the survivors, finished or not."""

    stop: Stop
    spend: Spend
    problem: str = ""
    refused: bool = False
    forgot: bool = False
    """Whether runs that never began are not reused."""
    lanes: tuple[Measure, ...] = ()
    work: Relating | None = None
    original: tuple[Lane, ...] = ()
    """The unchanged agent's lanes, where nothing was run."""
    sources: Executions = MappingProxyType({})
    """Its stored runs by scenario, where nothing was run."""
    runs: Runs = MappingProxyType({})
    """The survivors' stored runs, where nothing was run."""


def run_all(
    session: Session,
    store: Store,
    wanted: Wish,
    campaign: CampaignWithSurvivors,
    plan: RelationsPlan,
    progress: Progress,
) -> SurvivorsChecked:
    """Run the unchanged agent's source and follow-up runs, then the survivors', all as parts of one run.

    What an outage of the model service has spoiled is set aside and run again.
    """
    runs = _CheckParts(store, plan, progress)
    tables, pairs = Tables.from_project(session.project), pairs_of(session.project)
    sources, stop = runs.carry_out(session, lambda: source_work(session, plan))
    if stop is not Stop.FINISHED:
        return runs.ended(stop, sources)
    try:
        executions = executions_of(store, plan)
        prepared = _prepared(session, wanted, plan, executions)
        follow_ups, stop = runs.carry_out(
            prepared.session,
            first_and_anew(prepared.work, lambda: _prepared(session, wanted, plan, executions).work),
        )
        if stop is not Stop.FINISHED:
            return runs.ended(stop, follow_ups)
        measures = measures_of(follow_ups.lanes)
        errands, stop = runs.carry_out(
            session, lambda: mutant_sources(session, plan, campaign.survivors, measures, pairs)
        )
        if stop is not Stop.FINISHED:
            return runs.ended(stop, errands)
        make = partial(
            mutant_work, session, plan, campaign.survivors, measures, runs_of(errands.found), tables
        )
        opened, work = make()
    except RunError as error:  # a relation is broken
        return SurvivorsChecked(Stop.FAILED, runs.spend, str(error))
    work, stop = runs.carry_out(opened, first_and_anew(work, lambda: make()[1]))
    return runs.ended(stop, work)._replace(lanes=measures, work=work)


class _CheckParts:
    """The parts of one check as they are run, and what they have spent together."""

    def __init__(self, store: Store, plan: RelationsPlan, progress: Progress) -> None:
        self._store, self._plan, self._progress = store, plan, progress
        self.spend = Spend()

    def carry_out(self, where: Session, begin: Callable[[], W]) -> tuple[W, Stop]:
        """Run a part amid outages; return its work, with all of its trials, and how it ended."""
        work, stop = run_amid_outages(
            self._store,
            self._plan.run_id,
            begin,
            lambda work, guard: run_work(
                where, work, self._store, progress=lambda: self._progress(work), guard=guard
            ),
            "give the same command again",
        )
        self.spend = together(self.spend, work.spend)
        self._store.set_status(self._plan.run_id, "planned", self.spend.seconds)
        return work, stop

    def ended(self, stop: Stop, work: Assessment | Relating | SourceTrials) -> SurvivorsChecked:
        """Return the check where it ends with this part."""
        return SurvivorsChecked(stop, self.spend, work.problem, work.refused, work.forgot)


def judged_from_store(
    session: Session, store: Store, wanted: Wish, campaign: CampaignWithSurvivors, plan: RelationsPlan
) -> SurvivorsChecked:
    """Judge the stored runs of the unchanged agent, then those of the survivors in which the mutation arrived."""
    sources = _stored_sources(session, store, campaign, plan)
    taken = sum(map(len, sources.values()))
    try:
        alone = {name for name, own in sources.items() if without_more(session, plan, store, None, name, own)}
        prepared = _prepared(session, wanted, plan, sources, alone)
        carry_out_stored(prepared.session, prepared.work, store)
        measures = measures_of(prepared.work.lanes)
        stored = _stored_runs(session, store, campaign, plan)
        repeated = _complete(session, store, campaign, plan, stored)
        runs = _arrived(session, campaign, measures, stored)
        taken += sum(map(len, runs.values()))
        tables = Tables.from_project(session.project)
        opened, work = mutant_work(session, plan, campaign.survivors, measures, runs, tables, repeated)
    except RunError as error:  # a relation is broken
        return SurvivorsChecked(Stop.FAILED, Spend(reused=taken), str(error))
    carry_out_stored(opened, work, store)
    problem = prepared.work.problem or work.problem
    return SurvivorsChecked(
        Stop.FAILED if problem else Stop.FINISHED,
        Spend(reused=taken),
        problem,
        lanes=measures,
        work=work,
        original=tuple(prepared.work.lanes),
        sources=sources,
        runs=runs,
    )


def _stored_sources(
    session: Session, store: Store, campaign: CampaignWithSurvivors, plan: RelationsPlan
) -> Executions:
    """Return the unchanged agent's stored runs by scenario, those of the campaign first."""
    most = session.project.relations.sources
    return {
        name: further_runs(session, plan, store, None, name, most, trials[:most])
        for name, trials in campaign.stored.original.items()
    }


def _complete(
    session: Session, store: Store, campaign: CampaignWithSurvivors, plan: RelationsPlan, stored: Runs
) -> set[tuple[str, str]]:
    """Return the mutants and scenarios of which the store has no more runs."""
    mutants = {survivor.mutant.id: survivor.mutant for survivor in campaign.survivors}
    return {
        (id, name)
        for (id, name), own in stored.items()
        if without_more(session, plan, store, mutants[id], name, own)
    }


def _prepared(
    session: Session,
    wanted: Wish,
    plan: RelationsPlan,
    executions: Executions,
    repeats_of: Collection[str] = (),
) -> PreparedLanes:
    """Return the unchanged agent's lanes, which run to the end, since the comparison needs a fixed sample."""
    materials = materials_of(session, plan, executions)
    return prepare(session, plan, wanted.fitting, materials, Tables.from_project(session.project), repeats_of)


def _stored_runs(
    session: Session, store: Store, campaign: CampaignWithSurvivors, plan: RelationsPlan
) -> Runs:
    """Return the survivors' runs of the campaign and of earlier checks."""
    most = pairs_of(session.project)
    return {
        (one.mutant.id, scenario): further_runs(session, plan, store, one.mutant, scenario, most, trials)
        for one in campaign.survivors
        for scenario, trials in campaign.stored.trials_of_mutant(one.mutant.id).items()
    }


def _arrived(
    session: Session, campaign: CampaignWithSurvivors, measures: tuple[Measure, ...], stored: Runs
) -> Runs:
    """Return the runs in which the mutation arrived."""
    detectors = detectors_of(session, campaign.survivors, measures)
    return {
        (id, scenario): [
            (repeat, execution) for repeat, execution in runs if detectors[id].witness(execution.footprint)
        ]
        for (id, scenario), runs in stored.items()
    }
