"""`agentmut gate` and `run --gate`: deploy, block, or ask a person."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from agentmut._base import ExitCode
from agentmut.cli.options import AgentRef, Json, ProjectPath
from agentmut.cli.output import agents_on_stderr, print_json, print_report, wants_color
from agentmut.cli.run_output import print_result

if TYPE_CHECKING:
    from agentmut.nouns import Result
    from agentmut.project import Project
    from agentmut.usecases import GateReport

Inconclusive = Literal["manual", "block", "deploy"]
_CODES = {"deploy": ExitCode.OK, "block": ExitCode.FAIL, "manual": ExitCode.INCONCLUSIVE}


def gate(
    run: Annotated[
        str | None,
        typer.Argument(help="Use the reports of this run instead of the latest ones."),
    ] = None,
    project: ProjectPath = Path(),
    min_score: Annotated[
        float | None,
        typer.Option("--min-score", help="The least value of the lower end of the score's interval."),
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
        typer.Option("--inconclusive", help="Decision if the evidence is not enough either way."),
    ] = None,
    as_json: Json = False,
    agent: AgentRef = None,
) -> None:
    """Decide on the stored evidence whether to deploy.

    Checks the latest test, campaign, comparison and coverage against the section `gate` of the project file;
    options replace its keys. Nothing is run, and runs of another version of the agent or the suite are not used.
    Exit code 0 for deploy, 1 for block, 3 for manual.

    Example: agentmut gate --min-score 0.8
    """
    from agentmut.cli.verbs.verdicts import project_with
    from agentmut.usecases import gate as decided

    options = {
        "min_score": min_score,
        "min_coverage": min_coverage,
        "baseline": baseline,
        "inconclusive": inconclusive,
    }
    loaded = project_with(project, agent, "gate", options)
    with agents_on_stderr():
        report = decided(loaded, run)
    print_gate(report, as_json)
    raise typer.Exit(int(exit_code(report)))


def print_gate(report: "GateReport", as_json: bool) -> None:
    """Print the decision with its reasons: as JSON, or for reading."""

    from agentmut.report import render_gate

    print_report(report, as_json, lambda: render_gate(report, wants_color()))


def exit_code(report: "GateReport") -> ExitCode:
    """Return 0 for deploy, 1 for block, 3 for manual."""
    return _CODES[report.decision.value]


def decide_and_print(project: "Project", result: "Result | None", as_json: bool, where: Path) -> ExitCode:
    """Print the report of a run and the decision on it, as `run --gate` does; JSON has the decision under `gate`.

    Without a result, since nothing had to be run, what was stored before decides.
    """
    from agentmut.usecases import gate as decided

    with agents_on_stderr():
        report = decided(project, result.run_id if result else None)
    if result is None:
        print_gate(report, as_json)
    elif as_json:
        document = json.loads(result.model_dump_json(by_alias=True))
        print_json({**document, "gate": report.model_dump(mode="json")})
    else:
        print_result(result, as_json, where)
        typer.echo()
        print_gate(report, as_json)
    return exit_code(report)
