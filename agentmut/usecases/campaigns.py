"""Run a campaign: the same for the command line and for Python."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from agentmut._base import RunError, UsageError
from agentmut.campaign import (
    CampaignState,
    Clock,
    Forks,
    Guard,
    NothingToRun,
    Plan,
    Selection,
    Session,
    Stop,
    Tables,
    cheap_run,
    make_mutants,
    make_plan,
    part_of,
    plan_merge,
    refuse_without_texts,
    register,
    run_amid_outages,
    run_work,
    stored_campaign,
    stored_plan_text,
    suite_digest,
    summarise,
    with_ages,
    with_texts,
    without_texts,
)
from agentmut.campaign import rescore as judged_again
from agentmut.insight import carried_over, grouped, with_gaps
from agentmut.mutation import Generation
from agentmut.nouns import Result, read_result, write_result
from agentmut.project import Project, load_project
from agentmut.store import RESCORED, RESULT, Rescored, Store, StoredRun, Where, write_rescored
from agentmut.usecases.campaign_progress import progress_of
from agentmut.usecases.cheap_model import budget_left, with_cheap_model
from agentmut.usecases.first_requests import remarking
from agentmut.usecases.notebook import beside_kernel
from agentmut.usecases.runtime import opened, store_place
from agentmut.usecases.second_looks import with_looks

Progress = Callable[[CampaignState], None]
OTHER_PRICES = (
    "budget.prices has changed since this run began: trials made before count at their earlier prices"
)


def measure(
    project: Project | str | Path = ".",
    *,
    seed: int | None = None,
    fresh: bool = False,
    selection: Selection | None = None,
    scenarios: Sequence[str] = (),
    scenario_sample: int | None = None,
    shard: str | None = None,
    baseline_only: bool = False,
) -> Result:
    """Measure the suite of a project (a loaded one, a file or a directory) and return the result.

    `scenarios` restricts the suite by name, `scenario_sample` to so many scenarios at random (`--sample-scenarios`).
    `shard` ("k/n") runs one part of the mutants, `baseline_only` none of them: `merge_shards` puts the shards of a
    campaign together. Trials already in the project's store are reused unless `fresh`. Raises the
    errors of `agentmut._base`: among them `RunError` when a control fails. A result whose `status` is `budget` or
    `interrupted` is partial. In a Jupyter notebook a bar shows how far the run is, and an interrupt of the kernel ends
    it; finished trials are kept.
    """

    def measured(progress: Progress) -> Result:
        loaded = project if isinstance(project, Project) else load_project(Path(project))
        with opened(loaded, scenarios, scenario_sample) as (session, store):
            generation = make_mutants(session, selection or Selection())
            plan = make_plan(session, generation, seed, time.time())
            plan = part_of(plan, shard, baseline_only=baseline_only, fresh=fresh)
            carry_out = partial(carry_out_campaign, fresh=fresh, progress=progress)
            again = partial(_planned_again, generation, seed)
            plan = with_cheap_model(session, store, generation, plan, again, carry_out)
            register(store, plan, session.tests.texts)
            return carry_out_campaign(session, plan, store, fresh=fresh, progress=progress)

    return beside_kernel("agentmut.measure", measured, progress_of)


def _planned_again(generation: Generation, seed: int | None, session: Session) -> Plan:
    return make_plan(session, generation, seed, time.time())


def merge_shards(paths: Sequence[Path] = (), project: Project | str | Path = ".") -> Result:
    """Put the shards of a campaign together: `agentmut merge`.

    `paths` are the `.agentmut` folders of the shards, the projects that hold them, or their `store.db`; without any,
    the shards are those in the project's own store. The result is the one that an undivided run would have had on the
    same trials, if it did not count trials that confirmed kills into later baselines. Raises `UsageError` where they
    are not all the shards of one campaign on one baseline.
    """

    def merged() -> Result:
        with opened(project) as (session, store):
            return carry_out_merge(session, store, paths)

    return beside_kernel("agentmut.merge_shards", lambda _: merged(), progress_of)


def rescore(project: Project | str | Path = ".", run: str | None = None) -> Rescored:
    """Judge the stored trials of a run (the latest, or the one with the id prefix `run`) by today's evaluators.

    `agentmut rescore`: nothing is run. Relations are judged where the project names some (`relations.use`,
    `relations.own`), or some were checked on the run's survivors before. Raises `UsageError` where no stored trial
    fits the project any more, and `RunError` for a relation that raises.
    """
    with opened(project) as (session, store):
        return carry_out_rescore(session, store, run)


def carry_out_rescore(session: Session, store: Store, run: str | None = None) -> Rescored:
    """Rescore a run of an open store and write `rescored.json`; see `rescore`."""
    from agentmut.relating import relations_rescored

    refuse_without_texts(session, "`agentmut rescore`")
    campaign = stored_campaign(session, store, run, texts=True)
    folder = session.project.runs / campaign.run.id
    before = read_result(folder / "result.json")
    rescored = judged_again(campaign, before, _tables(session))
    result = grouped(carried_over(before, rescored.result))
    by_relations, result = relations_rescored(session, store, campaign, before, result)
    rescored = rescored.model_copy(update={"result": result, "relations": by_relations})
    write_rescored(rescored, folder)
    store.reports.keep_later(campaign.run.id, RESCORED, rescored)
    return rescored


def carry_out_campaign(
    session: Session,
    plan: Plan,
    store: Store,
    *,
    fresh: bool = False,
    progress: Progress = lambda state: None,
    now: Clock = time.time,
) -> Result:
    """Carry a plan out, write its `result.json`, and return it.

    Ctrl-C ends it cleanly with status `interrupted`. Raises `RunError`, after writing the result, when the
    campaign cannot be carried out or a control failed.
    """
    if fresh:
        plan = plan.model_copy(update={"fresh": True})
        # so that `resume` keeps to it
        store.set_plan(plan.run_id, stored_plan_text(plan, session.tests.texts))
    progress = remarking(session, progress)
    state, stop = _amid_outages(session, plan, store, progress, now)
    result = _concluded(session, state, stop, store, progress)
    if stop is Stop.FAILED:
        kind = UsageError if state.refused else RunError
        kept = f"Run {plan.run_id} is kept: `agentmut report {plan.run_id}` shows it."
        raise kind(f"{state.problem.rstrip('.')}. {kept}")
    return result


def _amid_outages(
    session: Session, plan: Plan, store: Store, progress: Progress, now: Clock
) -> tuple[CampaignState, Stop]:
    """Run a campaign; after an outage has spoiled trials, begin again with the others, as `resume` does."""
    forks = Forks(plan, session.project.runs) if session.project.execution.fork else None

    def begin() -> CampaignState:
        state = _begun(session, plan)
        if forks:
            state.unforked = forks.problems
        state.set_aside = store.quarantine.set_aside_by(plan.run_id)
        return state

    def carry_out(state: CampaignState, guard: Guard) -> Stop:
        told = partial(progress, state)
        return run_work(session, state, store, progress=told, now=now, guard=guard, forks=forks)

    state, stop = run_amid_outages(store, plan.run_id, begin, carry_out)
    state.set_aside = store.quarantine.set_aside_by(plan.run_id)
    return state, stop


def carry_out_merge(
    session: Session, store: Store, paths: Sequence[Path], now: float | None = None
) -> Result:
    """Merge into an open store; see `merge_shards`."""
    stores: Sequence[Where] = paths or [store_place(session.project)]
    merge = plan_merge(session, stores, time.time() if now is None else now)
    plan = with_texts(merge.session, merge.plan)
    register(store, plan, session.tests.texts)
    trials = merge.taken_in(store)
    session = with_ages(merge.session, store)
    state = _begun(session, plan)
    state.after_kills.stored = merge.runs_after_kills()
    stop = run_work(session, state, trials, now=lambda: plan.started, executor=NothingToRun())
    result = _concluded(session, state, stop, store)
    if stop is Stop.FAILED:
        raise RunError(f"{state.problem.rstrip('.')}. The merged run {plan.run_id} is kept.")
    return result


def _begun(session: Session, plan: Plan) -> CampaignState:
    scenarios, tables = session.tests.scenarios, _tables(session)
    return CampaignState(plan, session.suite, scenarios, tables, cheap=cheap_run(session, plan))


def _tables(session: Session) -> Tables:
    return Tables.from_project(session.project)


def _concluded(
    session: Session,
    state: CampaignState,
    stop: Stop,
    store: Store,
    progress: Progress = lambda state: None,
) -> Result:
    """Return the result and store the run's status. The result file is written before survivors are explained."""

    def explained(done: int, survivors: int) -> None:
        state.stage = f"explaining survivors {done}/{survivors}; result.json is written"
        progress(state)

    state.stage = "working out the result"
    progress(state)
    run_id = state.plan.run_id
    runs, asked = session.project.runs, session.project.statistics.alpha
    result = with_looks(grouped(summarise(session, state, stop)), state.plan, store, runs, asked)
    result = without_texts(result, session.tests.texts)
    write_result(result, runs / run_id)
    # gaps are read off what runs said; who interrupts a run does not wait for them, and `resume` tells them
    if stop in (Stop.FINISHED, Stop.BUDGET) and not session.tests.texts.is_hidden:
        result = with_gaps(result, state, store, explained)
        write_result(result, runs / run_id)
    store.reports.keep(run_id, RESULT, result)
    store.set_status(run_id, stop.value, state.spend.seconds)
    return result


def stored_plan(session: Session, stored: StoredRun) -> Plan:
    """Return the plan of a stored run, if it still fits the project. Raises `UsageError` when it does not.

    Budget and concurrency are those of the project file as it is now. A limit that the command line gave to the run,
    or gives now (`Project.limited`), stands in the place of the file's.
    """
    plan = _read_plan(stored)
    changed = [
        name
        for name, before, today in (
            ("the agent's config", plan.config_digest, session.suite.full.digest),
            ("the suite", plan.suite_digest, suite_digest(session)),
            ("the agent's code, packages or endpoint", plan.environment, session.environment),
        )
        if before != today
    ]
    if changed:
        raise UsageError(
            f"run {plan.run_id} cannot be resumed: {' and '.join(changed)} changed since it was planned. "
            "Start a new one with `agentmut run`: finished trials that still apply are reused."
        )
    limits = {**plan.limits_given, **session.project.limits_given}
    project = session.project.with_limits(limits)
    plan = with_texts(session, plan)
    spent = cheap_run(session, plan)
    budget = budget_left(project.budget, spent) if spent else project.budget
    concurrency = project.execution.concurrency
    changed_plan = {"budget": budget, "limits_given": limits, "concurrency": concurrency}
    if plan.budget.prices != budget.prices and OTHER_PRICES not in plan.notes:
        changed_plan["notes"] = (*plan.notes, OTHER_PRICES)
    return plan.model_copy(update=changed_plan)


def _read_plan(stored: StoredRun) -> Plan:
    try:
        return Plan.model_validate_json(stored.plan)
    except ValidationError:
        raise UsageError(
            f"run {stored.id} cannot be resumed: its plan was written by another version of agentmut. "
            "Start a new one with `agentmut run`."
        ) from None
