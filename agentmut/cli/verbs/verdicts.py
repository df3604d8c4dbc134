"""What `test` and `baseline` share: settings from the command line, asking, progress, printing, exit codes."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import typer

from agentmut._base import ExitCode, UsageError, gone_again
from agentmut.assessment import Assessment
from agentmut.cli.output import agents_on_stderr, print_report, wants_color
from agentmut.cli.progress import ProgressLine, clock
from agentmut.project import Project, load_project
from agentmut.stats import Verdict

if TYPE_CHECKING:
    from agentmut.assessment import PreparedAssessment
    from agentmut.campaign import Session
    from agentmut.store import Store, VerdictReport
    from agentmut.usecases import PreparedUpdate

ONLY_FOR: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "test": {"margin": "sequential", "warm_start": "sequential"},
        "compare": {"trials": "fixed", "test": "fixed"},
    }
)
"""Options that only one method looks at."""
_CODES = {Verdict.PASS: ExitCode.OK, Verdict.FAIL: ExitCode.FAIL, Verdict.INCONCLUSIVE: ExitCode.INCONCLUSIVE}


def with_settings(path: Path, agent: str | None, section: str, options: Mapping[str, Any]) -> Project:
    """Return the project with what the command line says put in place of the file's. Raises `UsageError`."""
    project = project_with(path, agent, section, options)
    method = getattr(project, section).method
    for option, of in ONLY_FOR[section].items():
        if options.get(option) is not None and method != of:
            raise UsageError(
                f"--{option.replace('_', '-')} is for --method {of}, not {method}. Leave one out."
            )
    return project


def project_with(path: Path, agent: str | None, section: str, options: Mapping[str, Any]) -> Project:
    """Return the project with the options that are given in place of its section's. Raises `UsageError`."""
    from agentmut.usecases import with_settings as changed

    with agents_on_stderr():
        project = load_project(path, agent)
    return changed(project, section, {name: value for name, value in options.items() if value is not None})


class UnderWay:
    """The progress line of an assessment."""

    def __init__(self) -> None:
        self.line = ProgressLine()
        self.usd_per_trial: float | None = None

    def __call__(self, work: Assessment) -> None:
        """Show the progress of the assessment."""
        self.line.show(lambda: describe(work))

    def ask(self, prepared: "PreparedAssessment", yes: bool, further: int = 0) -> None:
        """Print the plan before any trial, and ask by the rule of `why_ask`.

        `further` runs of the agent may follow. Raises `UsageError` where nobody can be asked.
        """
        for note in prepared.question.notes:
            typer.echo(f"Note: {note}.", err=True)
        from agentmut.report import counted
        from agentmut.usecases import why_ask

        most = prepared.most_trials + further
        why = why_ask(prepared.work.plan.budget, most, self.usd_per_trial)
        if why and not yes and not prepared.recorded:
            lanes = counted(len(prepared.work.lanes), "scenario")
            ask_to_run(f"{lanes}: at most {most} agent runs, reused ones included.", why)


def refuse_behaviour_of_preview(preview: bool, behaviour: object) -> None:
    """Raise `UsageError` where `--preview` and `--behaviour` are given together."""
    if preview and behaviour:
        raise UsageError("--preview runs nothing, so that --behaviour has no runs to compare. Leave one out.")


def ask_to_run(worst: str, why: str) -> None:
    """Ask before a run, for the reason of `why_ask`. Raises `UsageError` where nobody can be asked."""
    from agentmut.usecases import remedy

    ask(f"{worst} {why} Run?", f"{worst} {why} {remedy(why)}")


def ask(question: str, otherwise: str) -> None:
    """Ask, and stop at a no. Raises `UsageError` saying `otherwise` where nobody can be asked."""
    if gone_again():  # the command's first process has asked
        return
    if not sys.stdin.isatty():
        raise UsageError(otherwise)
    typer.confirm(question, abort=True, err=True)


@contextmanager
def under_way(
    project: Project, scenarios: tuple[str, ...], scenario_sample: int | None = None
) -> Iterator[tuple["Session", "Store", float, UnderWay]]:
    """Open session, store, clock and progress line for the block; output of agents goes to stderr."""
    from agentmut.usecases import opened

    progress = UnderWay()
    with agents_on_stderr(), opened(project, scenarios, scenario_sample) as (session, store):
        progress.usd_per_trial = store.mean_cost()
        try:
            yield session, store, time.time(), progress
        finally:
            progress.line.close()


def assess_and_print(
    project: Project,
    scenarios: tuple[str, ...],
    prepare: "Callable[[Session, Store, float], PreparedAssessment]",
    *,
    yes: bool,
    as_json: bool,
    behaviour: str | None = None,
) -> None:
    """Run an assessment, print its verdicts, and end with the exit code of the suite's verdict.

    `behaviour` names the stored baseline whose behaviour today's is compared with.
    """
    from agentmut.report import render_verdicts
    from agentmut.usecases import behaviour_against, carry_out_assessment

    with under_way(project, scenarios) as (session, store, now, progress):
        with_behaviour = behaviour_against(session, store, behaviour)
        prepared = prepare(session, store, now)
        progress.ask(prepared, yes)
        report = with_behaviour(carry_out_assessment(session, prepared, store, progress))
    print_report(report, as_json, lambda: render_verdicts(report, wants_color()))
    raise typer.Exit(int(exit_code(report)))


def update_and_print(
    project: Project,
    scenarios: tuple[str, ...],
    prepare: "Callable[[Session, Store, float], PreparedUpdate]",
    *,
    yes: bool,
    as_json: bool,
    behaviour: str | None = None,
) -> None:
    """Compare with a baseline that grows if the comparison passes; print what that takes before any trial."""
    from agentmut.report import render_verdicts
    from agentmut.usecases import behaviour_against, carry_out_update

    with under_way(project, scenarios) as (session, store, now, progress):
        with_behaviour = behaviour_against(session, store, behaviour)
        updating = prepare(session, store, now)
        for name, trials in updating.growth.trials.items():
            typer.echo(f"Note: {name}: after PASS {trials} further runs, for the baseline.", err=True)
        progress.ask(updating.prepared, yes, updating.growth.most_trials)
        report = with_behaviour(carry_out_update(session, updating, store, progress))
    print_report(report, as_json, lambda: render_verdicts(report, wants_color()))
    raise typer.Exit(int(exit_code(report)))


def exit_code(report: "VerdictReport") -> ExitCode:
    """Return 0 for PASS, 1 for FAIL, 3 for INCONCLUSIVE; 130 after an interruption, whatever the trials say."""
    return ExitCode.INTERRUPTED if report.status == "interrupted" else _CODES[report.verdict]


def describe(work: Assessment) -> str:
    """Return scenarios decided, trials, money and time in one line."""
    spend = work.spend
    from agentmut.report import counted

    done = sum(lane.complete for lane in work.lanes.values())
    money = "cost unknown" if spend.unpriced else f"${spend.usd:.2f}"
    spent = f"{counted(spend.trials, 'trial')}, {money}, {clock(spend.seconds)}"
    return f"scenarios {done}/{len(work.lanes)} | {spent}"
