"""Metamorphic relations on the survivors of a campaign, as further oracles."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from agentmut._base import RunError, UsageError, __version__, write_json
from agentmut.assessment import Assessment, RunSettings
from agentmut.campaign import (
    Environment,
    Session,
    Spend,
    Stop,
    StoredCampaign,
    Tables,
    cost_of,
    failure,
    refuse_without_texts,
    register,
    run_amid_outages,
    run_work,
    set_aside,
    set_aside_notes,
    stored_campaign,
    together,
)
from agentmut.nouns import Result, write_result
from agentmut.relating.judges import judges_of
from agentmut.relating.lane import Lane
from agentmut.relating.missing_follow_ups import not_stored
from agentmut.relating.preparation import PreparedLanes, Wish, make_plan, pairs_of, prepare, source_work
from agentmut.relating.sources import Executions, executions_of, materials_of
from agentmut.relating.state import (
    SURVIVORS_KIND,
    Progress,
    Relating,
    RelationsPlan,
    SourceTrials,
    first_and_anew,
)
from agentmut.relating.stored import carry_out_stored, further_runs, without_more
from agentmut.relating.summary import measured_by
from agentmut.relating.survivors import (
    Measure,
    Runs,
    Survivor,
    detectors_of,
    kills_of,
    measures_of,
    mutant_sources,
    mutant_work,
    runs_of,
    survivors_of,
    with_kills,
)
from agentmut.store import RELATIONS, RESULT, SURVIVORS, ComparedMutants, NotStored, Store, SurvivorsReport

NO_SURVIVOR = (
    "no mutant of first order that should be noticed survived in run {run}: there is nothing to check"
)

W = TypeVar("W", Assessment, Relating, SourceTrials)


class Campaign(NamedTuple):
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


def campaign_of(session: Session, store: Store, run: str | None, wanted: Wish) -> Campaign:
    """Return the campaign whose id begins with `run`, or the latest, with its survivors. Raise `UsageError`."""
    stored = stored_campaign(session, store, run, texts=True)
    campaign = campaign_with(stored, stored.result(), wanted)
    if not campaign.survivors:
        raise UsageError(f"{NO_SURVIVOR.format(run=stored.run.id)}.")
    return campaign


def campaign_with(stored: StoredCampaign, result: Result, wanted: Wish) -> Campaign:
    """Return the campaign with the survivors of this result, if any."""
    names = [scenario.name for scenario in wanted.scenarios]
    return Campaign(stored, result, survivors_of(result, stored.plan.mutants, names))


def most_runs(campaign: Campaign, session: Session, wanted: Wish) -> int:
    """Return the largest number of runs, if each follow-up is one run."""
    pairs, sources = pairs_of(session.project), session.project.relations.sources
    fitting = [fit.scenario.name for fit in wanted.fitting]
    per_mutant = (
        len(set(one.scenarios)) + sum(name in one.scenarios for name in fitting) for one in campaign.survivors
    )
    return len(wanted.scenarios) * sources + len(fitting) * pairs + pairs * sum(per_mutant)


def check_survivors(
    session: Session,
    store: Store,
    wanted: Wish,
    campaign: Campaign,
    run_settings: RunSettings,
    *,
    stored: bool = False,
    progress: Progress = lambda work: None,
    looked: Callable[[SurvivorsReport, Environment], SurvivorsReport] = lambda report, _: report,
) -> SurvivorsReport:
    """Check relations on the survivors, and write their kills into the campaign's `result.json`.

    `stored` runs nothing: it judges the campaign's runs, and follow-up runs that are in the store. `looked` adds the
    earlier looks to the report, given the environment of its runs, before it is written. Raises `RunError`, after
    writing, when the trials cannot be run or a relation raises.
    """
    refuse_without_texts(session, "`agentmut relations --survivors`")
    refused = False
    if stored:
        report, result = judge_stored(session, store, wanted, campaign, run_settings)
        environment = campaign.stored.plan.environment
    else:
        plan = make_plan(
            session, wanted, run_settings._replace(seed=campaign.stored.plan.seed), to_the_end=True
        )
        plan = plan.model_copy(update={"kind": SURVIVORS_KIND})
        register(store, plan)
        ended = _run(session, store, wanted, campaign, plan, progress)
        refused = ended.refused
        store.set_status(plan.run_id, ended.stop.value, ended.spend.seconds)
        report, result = _report(session, wanted, campaign, plan, ended)
        environment = plan.environment
        aside = set_aside_notes(set_aside(store.quarantine.set_aside_by(plan.run_id)))
        report = report.model_copy(update={"notes": (*report.notes, *aside)})
    report = looked(report, environment)
    write_json(report, session.project.runs / report.run_id / "relations.json", "give the same command again")
    write_result(result, session.project.runs / campaign.id)
    store.reports.keep(campaign.id, RESULT, result)
    store.reports.keep(campaign.id, SURVIVORS, report)
    if not stored:
        store.reports.keep(report.run_id, RELATIONS, report)
    if report.problem:
        raise failure(report.problem, refused)
    return report


def judge_stored(
    session: Session, store: Store, wanted: Wish, campaign: Campaign, run_settings: RunSettings
) -> tuple[SurvivorsReport, Result]:
    """Return the relations' findings on the survivors' stored runs, with the campaign's result.

    Nothing is run, and nothing is written. A relation that raises while pairs are judged is the report's `problem`,
    one that raises before is a `RunError`.
    """
    plan = make_plan(session, wanted, run_settings._replace(seed=campaign.stored.plan.seed), to_the_end=True)
    # the campaign's trials, as the agent was then
    plan = plan.model_copy(update={"environment": campaign.stored.plan.environment})
    return _report(session, wanted, campaign, plan, _from_store(session, store, wanted, campaign, plan))


def _run(
    session: Session, store: Store, wanted: Wish, campaign: Campaign, plan: RelationsPlan, progress: Progress
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


def _from_store(
    session: Session, store: Store, wanted: Wish, campaign: Campaign, plan: RelationsPlan
) -> SurvivorsChecked:
    most = session.project.relations.sources
    sources = {
        name: further_runs(session, plan, store, None, name, most, trials[:most])
        for name, trials in campaign.stored.original.items()
    }
    taken = sum(map(len, sources.values()))
    try:
        alone = {name for name, own in sources.items() if without_more(session, plan, store, None, name, own)}
        prepared = _prepared(session, wanted, plan, sources, alone)
        carry_out_stored(prepared.session, prepared.work, store)
        measures = measures_of(prepared.work.lanes)
        stored = _stored_runs(session, store, campaign, plan)
        mutants = {one.mutant.id: one.mutant for one in campaign.survivors}
        repeated = {
            (id, name)
            for (id, name), own in stored.items()
            if without_more(session, plan, store, mutants[id], name, own)
        }
        runs = _arrived(session, campaign, measures, stored)
        taken += sum(map(len, runs.values()))
        opened, work = mutant_work(
            session, plan, campaign.survivors, measures, runs, Tables.from_project(session.project), repeated
        )
    except RunError as error:  # a relation is broken
        return SurvivorsChecked(Stop.FAILED, Spend(reused=taken), str(error))
    carry_out_stored(opened, work, store)
    problem = prepared.work.problem or work.problem
    stop = Stop.FAILED if problem else Stop.FINISHED
    return SurvivorsChecked(
        stop,
        Spend(reused=taken),
        problem,
        lanes=measures,
        work=work,
        original=tuple(prepared.work.lanes),
        sources=sources,
        runs=runs,
    )


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


def _stored_runs(session: Session, store: Store, campaign: Campaign, plan: RelationsPlan) -> Runs:
    """Return the survivors' runs of the campaign and of earlier checks."""
    most = pairs_of(session.project)
    return {
        (one.mutant.id, scenario): further_runs(session, plan, store, one.mutant, scenario, most, trials)
        for one in campaign.survivors
        for scenario, trials in campaign.stored.trials_of_mutant(one.mutant.id).items()
    }


def _arrived(session: Session, campaign: Campaign, measures: tuple[Measure, ...], stored: Runs) -> Runs:
    """Return the runs in which the mutation arrived."""
    detectors = detectors_of(session, campaign.survivors, measures)
    return {
        (id, scenario): [
            (repeat, execution) for repeat, execution in runs if detectors[id].witness(execution.footprint)
        ]
        for (id, scenario), runs in stored.items()
    }


def _report(
    session: Session, wanted: Wish, campaign: Campaign, plan: RelationsPlan, ended: SurvivorsChecked
) -> tuple[SurvivorsReport, Result]:
    lanes = list(ended.work.lanes) if ended.work else []
    kills = tuple(kills_of(lanes, campaign.survivors, ended.lanes))
    result = campaign.result
    if lanes:
        scoring = session.project.statistics.scoring
        result = with_kills(result, kills, lanes, Tables.from_project(session.project), scoring)
    report = SurvivorsReport(
        agentmut_version=__version__,
        run_id=plan.run_id,
        campaign=campaign.id,
        status=ended.stop.value,
        problem=ended.problem,
        forgotten=ended.forgot,
        survivors=len(campaign.survivors),
        tried=len({lane.subject.agent.id for lane in lanes if lane.held}),
        kills=kills,
        score=result.score,
        score_with_relations=result.score_with_relations,
        cost=cost_of(ended.spend, session.environment),
        judges=judges_of((*(one.lane for one in ended.lanes), *lanes), session.project),
        not_stored=(lacking := not_stored(ended.original, lanes, campaign.survivors)),
        runs_needed=_runs_needed(session, wanted, campaign, ended, lacking),
        compared=tuple(_compared(lanes, session)),
        alpha=session.project.statistics.alpha_of_a_look,
        seed=plan.seed,
        agent=plan.config_digest,
        settings=plan.settings,
        notes=(*campaign.stored.notes, *wanted.notes),
    )
    return report, result


def _compared(lanes: Iterable[Lane], session: Session) -> Iterator[ComparedMutants]:
    """Yield what was compared, by relation and scenario."""
    judged: dict[tuple[str, str], list[Lane]] = {}
    for lane in lanes:
        if lane.held:
            judged.setdefault((lane.subject.chosen.label, lane.subject.scenario.name), []).append(lane)
    for (relation, scenario), those in judged.items():
        yield ComparedMutants(
            relation=relation,
            scenario=scenario,
            mutants=tuple(lane.subject.agent.id for lane in those),
            measured=measured_by(those[0], session.project.relations),
        )


def _runs_needed(
    session: Session, wanted: Wish, campaign: Campaign, ended: SurvivorsChecked, lacking: Sequence[NotStored]
) -> int:
    """Return the most runs that the lacking pairs take, stored runs not counted."""
    places = {(one.relation, name) for one in lacking for name in one.scenarios}
    fits = tuple(fit for fit in wanted.fitting if (fit.chosen.label, fit.scenario.name) in places)
    names = {fit.scenario.name for fit in fits}
    survivors = tuple(
        one._replace(scenarios=tuple(name for name in one.scenarios if name in names))
        for one in campaign.survivors
    )
    most = most_runs(campaign._replace(survivors=survivors), session, wanted._replace(fits=fits))
    most_sources, pairs = session.project.relations.sources, pairs_of(session.project)
    stored = sum(min(most_sources, len(ended.sources[name])) for name in names)
    stored += sum(min(pairs, len(runs)) for (_, name), runs in ended.runs.items() if name in names)
    return max(0, most - stored)
