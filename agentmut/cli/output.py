"""What verbs print, and the exit code that follows from a result."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from agentmut._base import ExitCode

if TYPE_CHECKING:
    from pydantic import BaseModel

    from agentmut.nouns import Result

Listed = frozenset[str] | None
_EXIT_CODES = {"finished": ExitCode.OK, "budget": ExitCode.INCONCLUSIVE, "interrupted": ExitCode.INTERRUPTED}


@contextmanager
def agents_on_stderr() -> Iterator[None]:
    """Send what agents (and their child processes) write to stdout to stderr for the block.

    On the level of the file descriptor, so that the report, or the one JSON document, stands alone on stdout.
    """
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def wants_color() -> bool:
    """Return whether stdout is a terminal that shows colour, and nobody has asked for none."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def terminal_width() -> int:
    """Return the number of columns for a report: those of the terminal, from 80 to 120; 80 where there is none."""
    return min(max(shutil.get_terminal_size().columns, 80), 120) if sys.stdout.isatty() else 80


def print_json(document: Any) -> None:
    """Print one JSON document on stdout."""
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False))


def print_report(found: "BaseModel", as_json: bool, page: Callable[[], str]) -> None:
    """Print a document as JSON, or as a page for reading."""
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        typer.echo(page(), nl=False)


def print_result(result: "Result", as_json: bool, project: Path = Path(), listed: Listed = None) -> None:
    """Print the report of a run as JSON, or for reading. `listed` narrows the mutants to some ids."""
    if as_json:
        rows = tuple(row for row in result.mutants if listed is None or row.id in listed)
        typer.echo(result.model_copy(update={"mutants": rows}).model_dump_json(indent=2, by_alias=True))
        return
    from agentmut.report import render

    typer.echo(render(result, wants_color(), listed, project_option(project), terminal_width()), nl=False)


def project_option(project: Path) -> str:
    """Return what a command needs that is proposed to the user, with a blank ahead; empty for the folder
    they are in.
    """
    return "" if project == Path() else f" --project {project}"


def exit_code(result: "Result") -> ExitCode:
    """0 for a finished run whatever its score, 3 when a budget stopped it, 130 when interrupted."""
    return _EXIT_CODES.get(result.status, ExitCode.BROKEN)
