"""What `gate` and `run --gate` share: printing a decision, and the exit code that it means."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from agentmut._base import ExitCode
from agentmut.cli.output import agents_on_stderr, print_json, print_result, wants_color
from agentmut.usecases import Decision, GateReport

if TYPE_CHECKING:
    from agentmut.nouns import Result
    from agentmut.project import Project

_CODES = {
    Decision.DEPLOY: ExitCode.OK,
    Decision.BLOCK: ExitCode.FAIL,
    Decision.MANUAL: ExitCode.INCONCLUSIVE,
}


def print_gate(report: GateReport, as_json: bool) -> None:
    """The decision with its reasons: as JSON, or for reading."""
    if as_json:
        print_json(report.model_dump(mode="json"))
        return
    from agentmut.report import render_gate

    typer.echo(render_gate(report, wants_color()), nl=False)


def exit_code(report: GateReport) -> ExitCode:
    """0 deploy, 1 block, 3 manual."""
    return _CODES[report.decision]


def decide_and_print(project: "Project", result: "Result | None", as_json: bool, where: Path) -> ExitCode:
    """`run --gate`: the report of a run and the decision on it; with `--json` under the key `gate` of the result.

    Without a result, since nothing had to be run, what was stored before decides.
    """
    from agentmut.usecases import gate

    with agents_on_stderr():
        report = gate(project, result.run_id if result else None)
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
