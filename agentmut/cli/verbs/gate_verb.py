"""`agentmut gate`: deploy, block, or ask a person."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from agentmut.cli.options import AgentRef, Json, ProjectPath

Inconclusive = Literal["manual", "block", "deploy"]


def gate(
    run: Annotated[
        str | None,
        typer.Argument(help="Take the reports of this run in the place of the latest of their kind."),
    ] = None,
    project: ProjectPath = Path(),
    agent: AgentRef = None,
    min_score: Annotated[
        float | None, typer.Option("--min-score", help="What the score's lower bound has to reach.")
    ] = None,
    min_coverage: Annotated[
        float | None, typer.Option("--min-coverage", help="The least overall coverage.")
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", help="The stored baseline that the agent must not be worse than."),
    ] = None,
    inconclusive: Annotated[
        Inconclusive | None,
        typer.Option("--inconclusive", help="What follows where the evidence is not enough either way."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Decide on the stored evidence whether to deploy.

    Holds the latest test, campaign, comparison and coverage against the section `gate` of the project file; options
    take the place of its keys. Nothing is executed, and evidence on another version of the agent or the suite is not
    used. Exit code 0 for deploy, 1 for block, 3 for manual.

    Example: agentmut gate --min-score 0.8
    """
    from agentmut.cli.output import agents_on_stderr
    from agentmut.cli.verbs.gating import exit_code, print_gate
    from agentmut.cli.verbs.verdicts import project_with
    from agentmut.usecases import gate as decided

    given = {
        "min_score": min_score,
        "min_coverage": min_coverage,
        "baseline": baseline,
        "inconclusive": inconclusive,
    }
    loaded = project_with(project, agent, "gate", given)
    with agents_on_stderr():
        report = decided(loaded, run)
    print_gate(report, as_json)
    raise typer.Exit(int(exit_code(report)))
