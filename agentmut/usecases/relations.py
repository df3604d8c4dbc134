"""Metamorphic relations on a suite: for the command line and for Python."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from agentmut._base import BudgetError, RunInterruptedError, UsageError
from agentmut.assessment import RunSettings
from agentmut.campaign import (
    Session,
    Stop,
    failure,
    refuse_to_run,
    refuse_without_texts,
    register,
    set_aside,
    set_aside_notes,
)
from agentmut.project import FOLDER, Project
from agentmut.relating import (
    STORED_KIND,
    CheckedRelations,
    Progress,
    RelationsPlan,
    Wish,
    compared,
    make_plan,
    report_relations,
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
from agentmut.usecases.relation_runs import checked_relations, stored_relations
from agentmut.usecases.runtime import opened
from agentmut.usecases.suite_verdicts import with_settings


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
        checked = stored_relations(session, store, wanted, plan)
        # stored so that a later report knows what has changed since
        register(store, checked.plan.model_copy(update={"kind": STORED_KIND}))
    else:
        register(store, plan)
        checked = checked_relations(session, store, wanted, plan, progress)
    store.set_status(plan.run_id, checked.stop.value, checked.spend.seconds)
    aside = set_aside(store.quarantine.set_aside_by(plan.run_id))
    checked = checked._replace(notes=(*checked.notes, *set_aside_notes(aside)))
    report = _reported(session, wanted, checked, plan, request, earlier)
    write_relations(report, session.project.runs / plan.run_id)
    store.reports.keep(plan.run_id, RELATIONS, report)
    _raise_problem(checked)
    if request.save:
        _save(report, request.save, folder, checked)
    return report


def _reported(
    session: Session,
    wanted: Wish,
    checked: CheckedRelations,
    plan: RelationsPlan,
    request: RelationRequest,
    earlier: RelationReport | None,
) -> RelationReport:
    """Return the report of a check, compared with an earlier report where one was asked for."""
    report = report_relations(session, wanted, checked)
    if earlier is not None:
        beta, delta = float(plan.settings["beta"]), float(plan.settings["delta"])
        report = compared(report, earlier, request.against, beta, delta)
    runs, alpha = session.project.runs, session.project.statistics.alpha
    return with_relation_looks(report, checked.plan.environment, runs, alpha)


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
