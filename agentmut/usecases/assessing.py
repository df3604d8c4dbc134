"""The common part of all uses of an assessment: running it, its problems, and the place of baselines."""

from collections.abc import Callable
from pathlib import Path

from agentmut.assessment import Assessment, PreparedAssessment, report_verdicts
from agentmut.campaign import (
    Guard,
    Session,
    Stop,
    failure,
    held_trials,
    register,
    run_amid_outages,
    run_work,
    set_aside,
)
from agentmut.project import FOLDER, Project
from agentmut.store import VERDICTS, Store, VerdictReport, write_verdicts
from agentmut.usecases.verdict_looks import with_verdict_looks

Progress = Callable[[Assessment], None]


def unseen(work: Assessment) -> None:
    """Show no progress."""


def carry_out_assessment(
    session: Session, prepared: PreparedAssessment, store: Store, progress: Progress = unseen
) -> VerdictReport:
    """Run the trials, write `verdicts.json`, and return its content.

    Ctrl-C ends it cleanly with status `interrupted`. Raises `RunError`, after writing, when the trials cannot
    be run.
    """
    work, stop = run_prepared(session, prepared, store, progress)
    runs, asked = session.project.runs, session.project.statistics.alpha
    report = report_verdicts(session, work, stop, prepared.question)
    report = with_verdict_looks(report, work.plan, store, runs, asked)
    keep_verdicts(report, store, runs)
    raise_problem(work)
    return report


def keep_verdicts(report: VerdictReport, store: Store, runs: Path) -> None:
    """Write `verdicts.json` into the folder of its run, and keep it in the store. Raises `StoreError`."""
    write_verdicts(report, runs / report.run_id)
    store.reports.keep(report.run_id, VERDICTS, report)


def run_prepared(
    session: Session, prepared: PreparedAssessment, store: Store, progress: Progress
) -> tuple[Assessment, Stop]:
    """Run an assessment, and store how it ended.

    What an outage has spoiled is set aside and run again. Recorded runs are judged as they are.
    """
    plan = prepared.work.plan
    register(store, plan)
    recorded = held_trials(session) is not None

    def carry_out(work: Assessment, guard: Guard) -> Stop:
        return run_work(
            session, work, store, progress=lambda: progress(work), guard=None if recorded else guard
        )

    work, stop = run_amid_outages(
        store, plan.run_id, prepared.work.begin_again, carry_out, "give the same command again"
    )
    work.set_aside = set_aside(store.quarantine.set_aside_by(plan.run_id))
    store.set_status(plan.run_id, stop.value, work.spend.seconds)
    return work, stop


def raise_problem(work: Assessment) -> None:
    """Raise `RunError` or `UsageError` where the trials could not be run."""
    if work.problem:
        raise failure(work.problem, work.refused)


def baselines_folder(project: Project) -> Path:
    """Return where a project's baselines are kept."""
    return project.root / FOLDER / "baselines"
