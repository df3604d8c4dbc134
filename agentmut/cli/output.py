"""What verbs print, and the exit code that follows from a result."""

import json
import sys
from typing import Any

import typer

from agentmut.errors import ExitCode
from agentmut.result import Result

_EXIT_CODES = {"finished": ExitCode.OK, "budget": ExitCode.INCONCLUSIVE, "interrupted": ExitCode.INTERRUPTED}


def print_json(document: Any) -> None:
    """One JSON document on stdout."""
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False))


def print_result(result: Result, as_json: bool) -> None:
    """The report of a run: as JSON, or for reading."""
    if as_json:
        typer.echo(result.model_dump_json(indent=2, by_alias=True))
        return
    from agentmut.report.terminal import render

    typer.echo(render(result, color=sys.stdout.isatty()), nl=False)


def exit_code(result: Result) -> ExitCode:
    """0 for a finished run whatever its score, 3 when a budget stopped it, 130 when interrupted."""
    return _EXIT_CODES.get(result.status, ExitCode.BROKEN)
