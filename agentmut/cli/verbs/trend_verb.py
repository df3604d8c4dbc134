"""`agentmut trend`: scores and pass rates over the stored runs."""

from pathlib import Path
from typing import Annotated

import typer

from agentmut.cli.options import AgentRef, Json, ProjectPath
from agentmut.cli.output import agents_on_stderr, print_json, print_page, wants_color


def trend(
    project: ProjectPath = Path(),
    drop: Annotated[
        float | None,
        typer.Option("--drop", help="The fall of a pass rate to look for; statistics.delta when left out."),
    ] = None,
    reference: Annotated[
        int,
        typer.Option(
            "--reference",
            min=10,
            help="Number of first trials of a scenario, with which later trials are compared.",
        ),
    ] = 50,
    in_control: Annotated[
        float, typer.Option("--in-control", help="Trials from one false alarm to the next, on average.")
    ] = 10_000,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with code 1 if drift is flagged.")
    ] = False,
    as_json: Json = False,
    agent: AgentRef = None,
) -> None:
    """Show scores and pass rates over the stored runs, and flag drift.

    Each stored trial of the current agent counts once. A chart compares later trials with the first ones; its rate
    of false alarms is printed. Changes that make runs incomparable are marked. Nothing is run.

    Example: agentmut trend --drop 0.1
    """
    from agentmut._base import ExitCode
    from agentmut.project import load_project
    from agentmut.report import render_trend
    from agentmut.usecases import trend as found

    with agents_on_stderr():
        loaded = load_project(project, agent)
        report = found(loaded, drop=drop, reference=reference, in_control=in_control)
    if as_json:
        print_json({**report.model_dump(mode="json"), "drifted": report.drifted})
    else:
        print_page(render_trend(report, wants_color()))
    raise typer.Exit(int(ExitCode.FAIL if exit_code and report.drifted else ExitCode.OK))
