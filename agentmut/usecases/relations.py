"""Metamorphic relations on a suite: for the command line and for Python."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agentmut._base import BudgetError, RunError, RunInterruptedError, UsageError
from agentmut.assessment import RunSettings
from agentmut.campaign import (
    Guard,
    Session,
    Spend,
    Stop,
    Tables,
    failure,
    refuse_to_run,
    refuse_without_texts,
    register,
    run_amid_outages,
    run_work,
    set_aside,
    set_aside_notes,
    together,
)
from agentmut.project import FOLDER, Project
from agentmut.relating import (
    STORED_KIND,
    CheckedRelations,
    PreparedLanes,
    Progress,
    RelationsPlan,
    Wish,
    any_run,
    carry_out_stored,
    compared,
    executions_of,
    first_and_anew,
    giving_up,
    make_plan,
    materials_of,
    prepare,
    report_relations,
    source_work,
    stored_sources,
    unanswered,
    wish,
)
from agentmut.store import (
    RELATIONS,
    RelationReport,
    Store,
    becoming,
    check_report_name,
    read_saved_relations,
    save_relations,
    write_relations,
)
from agentmut.usecases.notebook import beside_kernel, spent_so_far
from agentmut.usecases.relation_looks import with_relation_looks
from agentmut.usecases.runtime import opened
from agentmut.usecases.suite_verdicts import with_settings

_AGAIN = "give the same command again"
"""How a check that an outage has ended goes on."""


class RelationRequest(NamedTuple):
    """The request for a check."""

    relations: tuple[str, ...] = ()
    """Names or families; empty for those that the project uses."""
    stored: bool = False
    """Only what is in the store; runs nothing."""
    save: str = ""
    """Name under which the report is kept."""
    against: str = ""
    """Name of an earlier report to compare violations with."""

    @property
    def to_the_end(self) -> bool:
        """Return whether every pair is run, because later comparisons need counts of fixed samples."""
        return bool(self.save or self.against)


def check_relations(
    project: Project | str | Path = ".",
    *,
    relations: Sequence[str] = (),
    scenarios: Sequence[str] = (),
    seed: int | None = None,
    fresh: bool = False,
    stored: bool = False,
    save: str = "",
    against: str = "",
    **settings: float,
) -> RelationReport:
    """Check metamorphic relations on the suite, as `agentmut relations` does.

    `settings` take the place of the project's `relations:` section: pairs, sources, tolerance. Raises the errors of
    `agentmut._base.errors`. A report whose `status` is `budget` or `interrupted` is partial.
    """
    request = RelationRequest(tuple(relations), stored, save, against)

    def checked(progress: Progress) -> RelationReport:
        with opened(with_settings(project, "relations", settings), scenarios) as (session, store):
            wanted = wish(session, request.relations, stored=request.stored)
            asked = RunSettings(time.time(), seed, fresh)
            return carry_out_relations(session, store, wanted, request, asked, progress)

    return beside_kernel("agentmut.check_relations", checked, spent_so_far)


def carry_out_relations(
    session: Session,
    store: Store,
    wanted: Wish,
    request: RelationRequest,
    run_settings: RunSettings,
    progress: Progress = lambda work: None,
) -> RelationReport:
    """Run the trials, write `relations.json`, and return its content.

    Ctrl-C ends it cleanly with status `interrupted`. Raises `RunError`, after writing, when the trials cannot be run
    or a relation raises, and `BudgetError` or `RunInterruptedError` where a report to be saved is not whole.
    """
    refuse_without_texts(session, "`agentmut relations`")
    folder = saved_folder(session.project)
    check_names(request)
    if not request.stored:
        refuse_to_run(session, "a check of relations without --stored")
    earlier = read_saved_relations(request.against, folder) if request.against else None
    plan = make_plan(session, wanted, run_settings, to_the_end=request.to_the_end)
    if request.stored:
        checked = _stored(session, store, wanted, plan)
        # stored so that a later report knows what has changed since
        register(store, checked.plan.model_copy(update={"kind": STORED_KIND}))
    else:
        register(store, plan)
        checked = checked_relations(session, store, wanted, plan, progress)
    store.set_status(plan.run_id, checked.stop.value, checked.spend.seconds)
    aside = set_aside(store.quarantine.set_aside_by(plan.run_id))
    checked = checked._replace(notes=(*checked.notes, *set_aside_notes(aside)))
    report = report_relations(session, wanted, checked)
    if earlier is not None:
        beta, delta = float(plan.settings["beta"]), float(plan.settings["delta"])
        report = compared(report, earlier, request.against, beta, delta)
    runs, asked_for = session.project.runs, session.project.statistics.alpha
    report = with_relation_looks(report, checked.plan.environment, runs, asked_for)
    write_relations(report, runs / plan.run_id)
    store.reports.keep(plan.run_id, RELATIONS, report)
    _raise_problem(checked)
    if request.save:
        _save(report, request.save, folder, checked)
    return report


def checked_relations(
    session: Session, store: Store, wanted: Wish, plan: RelationsPlan, progress: Progress
) -> CheckedRelations:
    """Carry out the source runs, then the follow-up runs."""
    if not plan.scenarios:
        return CheckedRelations(plan, Stop.FINISHED, Spend())

    def run_in(where: Session) -> Callable[[Any, Guard], Stop]:
        return lambda work, guard: run_work(where, work, store, progress=lambda: progress(work), guard=guard)

    def anew() -> PreparedLanes:
        return prepare(session, plan, wanted.fitting, materials, Tables.from_project(session.project))

    sources, stop = run_amid_outages(
        store, plan.run_id, lambda: giving_up(source_work(session, plan)), run_in(session), _AGAIN
    )
    problem = sources.problem or ("" if stop is Stop.INTERRUPTED else sources.silence())
    if problem:
        return CheckedRelations(
            plan, Stop.FAILED, sources.spend, problem, sources.refused, forgot=sources.forgot
        )
    store.set_status(plan.run_id, "planned", sources.spend.seconds)
    materials = materials_of(session, plan, executions_of(store, plan))
    try:
        prepared = anew()
    except RunError as error:
        return CheckedRelations(plan, Stop.FAILED, sources.spend, str(error))
    work, spend, forgot = prepared.work, sources.spend, sources.forgot
    if stop is not Stop.FINISHED:
        work.judge_free()
    else:
        work, stop = run_amid_outages(
            store, plan.run_id, first_and_anew(work, lambda: anew().work), run_in(prepared.session), _AGAIN
        )
        spend, forgot = together(spend, work.spend), work.forgot
        # a change of the input may do that, or a key that is missing by now
        if work.unbegun and stop is Stop.FINISHED:
            probe = any_run(source_work(session, plan))
            run_work(session, probe, store, progress=lambda: progress(probe))
            spend = together(spend, probe.spend)
            if probe.unable:
                return CheckedRelations(plan, Stop.FAILED, spend, probe.problem, forgot=probe.forgot)
    return CheckedRelations(
        plan, stop, spend, work.problem, work.refused, work.lanes, prepared.identity, forgot=forgot
    )


def _stored(session: Session, store: Store, wanted: Wish, plan: RelationsPlan) -> CheckedRelations:
    if not plan.scenarios:
        return CheckedRelations(plan, Stop.FINISHED, Spend())
    found = stored_sources(session, store, plan)
    if not any(found.by_scenario.values()):
        why = "; ".join(found.notes) or "no run of the unchanged agent is stored"
        raise UsageError(
            f"nothing in the store can be used: {why}. `agentmut run`, `test` or `relations` makes runs."
        )
    if silence := unanswered(run for runs in found.by_scenario.values() for _, run in runs):
        return CheckedRelations(found.plan, Stop.FAILED, Spend(), silence, notes=found.notes)
    materials = materials_of(session, found.plan, found.by_scenario)
    tables = Tables.from_project(session.project)
    runs = [run for runs in found.by_scenario.values() for _, run in runs]
    spend = Spend(reused=len(runs), foreign=sum(run.trace.foreign is not None for run in runs))
    try:
        prepared = prepare(session, found.plan, wanted.fitting, materials, tables, found.repeats_of)
    except RunError as error:
        return CheckedRelations(found.plan, Stop.FAILED, spend, str(error), notes=found.notes)
    carry_out_stored(prepared.session, prepared.work, store)
    lanes, problem = prepared.work.lanes, prepared.work.problem
    stop = Stop.FAILED if problem else Stop.FINISHED
    return CheckedRelations(
        found.plan, stop, spend, problem, lanes=lanes, identity=prepared.identity, notes=found.notes
    )


def saved_folder(project: Project) -> Path:
    """Return where a project's saved reports on relations are."""
    return project.root / FOLDER / "relations"


def check_names(request: RelationRequest) -> None:
    """Raise `UsageError` for unknown names, and for a comparison with an incomplete check."""
    for name in (request.save, request.against):
        if name:
            check_report_name(name)
    for option, name in (("--save", request.save), ("--against", request.against)):
        if name and request.stored:
            raise UsageError(
                f"{option} takes counts of fixed samples, which --stored does not run. Leave one of them out."
            )


def _save(report: RelationReport, name: str, folder: Path, checked: CheckedRelations) -> None:
    if checked.stop is not Stop.FINISHED:
        kind = RunInterruptedError if checked.stop is Stop.INTERRUPTED else BudgetError
        raise kind(
            f"{checked.stop} before every pair was run: {name!r} was not saved. Give the command again: "
            f"{becoming(checked.forgot)}."
        )
    save_relations(report, name, folder)


def _raise_problem(checked: CheckedRelations) -> None:
    if checked.problem:
        raise failure(checked.problem, checked.refused)
