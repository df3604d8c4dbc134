"""Metamorphic relations on the survivors of a campaign, as further oracles."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from agentmut._base import UsageError, __version__, write_json
from agentmut.assessment import RunSettings
from agentmut.campaign import (
    Environment,
    Session,
    StoredCampaign,
    Tables,
    cost_of,
    failure,
    refuse_without_texts,
    register,
    set_aside,
    set_aside_notes,
    stored_campaign,
)
from agentmut.nouns import Result, write_result
from agentmut.relating.judges import judges_of
from agentmut.relating.lane import Lane
from agentmut.relating.missing_follow_ups import not_stored
from agentmut.relating.preparation import Wish, make_plan, pairs_of
from agentmut.relating.state import (
    SURVIVORS_KIND,
    Progress,
    RelationsPlan,
)
from agentmut.relating.summary import measured_by
from agentmut.relating.survivor_runs import (
    CampaignWithSurvivors,
    SurvivorsChecked,
    judged_from_store,
    run_all,
)
from agentmut.relating.survivors import (
    kills_of,
    survivors_of,
    with_kills,
)
from agentmut.store import RELATIONS, RESULT, SURVIVORS, ComparedMutants, NotStored, Store, SurvivorsReport

NO_SURVIVOR = (
    "no mutant of first order that should be noticed survived in run {run}: there is nothing to check"
)


def campaign_of(session: Session, store: Store, run: str | None, wanted: Wish) -> CampaignWithSurvivors:
    """Return the campaign whose id begins with `run`, or the latest, with its survivors. Raise `UsageError`."""
    stored = stored_campaign(session, store, run, texts=True)
    campaign = campaign_with(stored, stored.result(), wanted)
    if not campaign.survivors:
        raise UsageError(f"{NO_SURVIVOR.format(run=stored.run.id)}.")
    return campaign


def campaign_with(stored: StoredCampaign, result: Result, wanted: Wish) -> CampaignWithSurvivors:
    """Return the campaign with the survivors of this result, if any."""
    names = [scenario.name for scenario in wanted.scenarios]
    return CampaignWithSurvivors(stored, result, survivors_of(result, stored.plan.mutants, names))


def most_runs(campaign: CampaignWithSurvivors, session: Session, wanted: Wish) -> int:
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
    campaign: CampaignWithSurvivors,
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
    if stored:
        report, result = judge_stored(session, store, wanted, campaign, run_settings)
        environment, refused = campaign.stored.plan.environment, False
    else:
        plan = make_plan(
            session, wanted, run_settings._replace(seed=campaign.stored.plan.seed), to_the_end=True
        )
        plan = plan.model_copy(update={"kind": SURVIVORS_KIND})
        register(store, plan)
        ended = run_all(session, store, wanted, campaign, plan, progress)
        report, result = _run_report(session, store, wanted, campaign, plan, ended)
        environment, refused = plan.environment, ended.refused
    report = looked(report, environment)
    _keep(session, store, campaign, report, result, new_run=not stored)
    if report.problem:
        raise failure(report.problem, refused)
    return report


def _run_report(
    session: Session,
    store: Store,
    wanted: Wish,
    campaign: CampaignWithSurvivors,
    plan: RelationsPlan,
    ended: SurvivorsChecked,
) -> tuple[SurvivorsReport, Result]:
    """Note in the store how the run ended; return its report, with what was set aside, and the campaign's result."""
    store.set_status(plan.run_id, ended.stop.value, ended.spend.seconds)
    report, result = _report(session, wanted, campaign, plan, ended)
    aside = set_aside_notes(set_aside(store.quarantine.set_aside_by(plan.run_id)))
    return report.model_copy(update={"notes": (*report.notes, *aside)}), result


def _keep(
    session: Session,
    store: Store,
    campaign: CampaignWithSurvivors,
    report: SurvivorsReport,
    result: Result,
    *,
    new_run: bool,
) -> None:
    """Write the report and the campaign's result into their files and into the store."""
    write_json(report, session.project.runs / report.run_id / "relations.json", "give the same command again")
    write_result(result, session.project.runs / campaign.id)
    store.reports.keep(campaign.id, RESULT, result)
    store.reports.keep(campaign.id, SURVIVORS, report)
    if new_run:
        store.reports.keep(report.run_id, RELATIONS, report)


def judge_stored(
    session: Session, store: Store, wanted: Wish, campaign: CampaignWithSurvivors, run_settings: RunSettings
) -> tuple[SurvivorsReport, Result]:
    """Return the relations' findings on the survivors' stored runs, with the campaign's result.

    Nothing is run, and nothing is written. A relation that raises while pairs are judged is the report's `problem`,
    one that raises before is a `RunError`.
    """
    plan = make_plan(session, wanted, run_settings._replace(seed=campaign.stored.plan.seed), to_the_end=True)
    # the campaign's trials, as the agent was then
    plan = plan.model_copy(update={"environment": campaign.stored.plan.environment})
    checked = judged_from_store(session, store, wanted, campaign, plan)
    return _report(session, wanted, campaign, plan, checked)


def _report(
    session: Session,
    wanted: Wish,
    campaign: CampaignWithSurvivors,
    plan: RelationsPlan,
    ended: SurvivorsChecked,
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
    session: Session,
    wanted: Wish,
    campaign: CampaignWithSurvivors,
    ended: SurvivorsChecked,
    lacking: Sequence[NotStored],
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
