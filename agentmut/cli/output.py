"""What verbs print, and the exit code that follows from a result."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

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

    On the level of the file descriptor, so that the report, or the one JSON document, stands alone on stdout. Both
    streams are whole again after the block, even if an agent has closed them.
    """
    streams = sys.stdout, sys.stderr
    sys.stdout.flush()
    kept = os.dup(1), os.dup(2)
    os.dup2(2, 1)
    sys.stdout, sys.stderr = (cast("TextIO", _Unclosed(stream)) for stream in streams)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams
        with suppress(OSError, ValueError):  # of what an agent wrote, and then closed the file
            sys.stdout.flush()
        for number, copy in enumerate(kept, 1):
            os.dup2(copy, number)
            os.close(copy)


class _Unclosed:
    """A stream that stays open when it is closed."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._stream)

    def __enter__(self) -> "_Unclosed":
        return self

    def __exit__(self, *error: object) -> None:
        """Stay open."""

    def close(self) -> None:
        """Stay open; others write to it, too."""
        self._stream.flush()


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
