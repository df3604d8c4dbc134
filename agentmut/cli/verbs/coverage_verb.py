"""`agentmut coverage`: what the suite exercises of the agent, from stored trials."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from agentmut.cli import completing
from agentmut.cli.options import Full, Json, ProjectPath, Scenarios
from agentmut.cli.output import agents_on_stderr, print_report, wants_color

Items = Literal["few", "all", "none"]


def coverage(
    project: ProjectPath = Path(),
    run: Annotated[
        str | None,
        typer.Option(
            "--run",
            help="Only the trials of this campaign; all that fit when left out.",
            autocompletion=completing.runs,
        ),
    ] = None,
    scenarios: Scenarios = None,
    items: Annotated[
        Items, typer.Option("--items", help="How many uncovered or left-out items to list.")
    ] = "few",
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Estimate the expected number of states again, and keep it.")
    ] = False,
    full: Full = False,
    as_json: Json = False,
) -> None:
    """Show what the scenarios exercise of the agent.

    Counts tools, decision paths, states, boundaries of parameters, models, nodes and edges of a graph, and rules of
    the prompt. Shows what is covered, by which scenarios, by one scenario alone, and what is not covered. Only
    stored trials of the unchanged agent count; nothing is run. Without --scenario the coverage is kept in the run's
    folder, for `agentmut report`.

    Example: agentmut coverage --items all
    """
    from agentmut._base import UsageError
    from agentmut.insight import CoverageRequest, latest_result, project_coverage, write_coverage
    from agentmut.report import SHOWN, render_coverage
    from agentmut.store import COVERAGE
    from agentmut.usecases import opened, stand_in_keys

    if calibrate and (run or scenarios):
        raise UsageError(
            "--calibrate estimates from all stored trials; give it without --run and --scenario."
        )
    # to read its config the agent may be built, which may take keys
    with agents_on_stderr(), stand_in_keys(), opened(project) as (session, store):
        report = project_coverage(session, store, CoverageRequest(run, tuple(scenarios or ()), calibrate))
        latest = None if scenarios else latest_result(session, run)
        if latest is not None:
            write_coverage(report, session.project.runs / latest.run_id)
            store.reports.keep_later(latest.run_id, COVERAGE, report)
    print_report(
        report,
        as_json,
        lambda: render_coverage(report, wants_color(), SHOWN[items]),
        full=full or items == "all",
    )
