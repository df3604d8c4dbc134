"""What every use of an assessment shares: running it, its problems, and where baselines are."""

from collections.abc import Callable
from pathlib import Path

from agentmut.assessment import Assessment, Prepared, report_verdicts
from agentmut.campaign import Session, Stop, failure, register, run_work
from agentmut.project import FOLDER, Project
from agentmut.store import Store, VerdictReport, write_verdicts
from agentmut.usecases.verdict_looks import with_verdict_looks

Progress = Callable[[Assessment], None]


def unseen(work: Assessment) -> None:
    """Show no progress."""


def carry_out_assessment(
    session: Session, prepared: Prepared, store: Store, progress: Progress = unseen
) -> VerdictReport:
    """Run the trials, write `verdicts.json`, and return what it says.

    Ctrl-C ends it cleanly with status `interrupted`. Raises `RunError`, after writing, when the trials cannot
    be run.
    """
    work, stop = run_prepared(session, prepared, store, progress)
    runs, asked = session.project.runs, session.project.statistics.alpha
    report = report_verdicts(session, work, stop, prepared.question)
    report = with_verdict_looks(report, work.plan, store, runs, asked)
    write_verdicts(report, runs / work.plan.run_id)
    raise_problem(work)
    return report


def run_prepared(
    session: Session, prepared: Prepared, store: Store, progress: Progress
) -> tuple[Assessment, Stop]:
    """Run an assessment, and keep in the store how it ended."""
    work = prepared.work
    register(store, work.plan)
    stop = run_work(session, work, store, progress=lambda: progress(work))
    store.set_status(work.plan.run_id, stop.value, work.spend.seconds)
    return work, stop


def raise_problem(work: Assessment) -> None:
    """Raise `RunError` or `UsageError` where the trials could not be run."""
    if work.problem:
        raise failure(work.problem, work.refused)


def baselines_folder(project: Project) -> Path:
    """Return where a project's baselines are kept."""
    return project.root / FOLDER / "baselines"
