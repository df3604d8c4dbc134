"""What verbs print, and the exit code that follows from a result."""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

import typer

from agentmut._base import ExitCode, printable_json, supervisor

if TYPE_CHECKING:
    from pydantic import BaseModel

    from agentmut.nouns import Result
    from agentmut.project import Project

MOST_LINES = 40
"""Lines that a page takes at a terminal."""
JSON_VERSION = 1
"""`schema_version` of a document that has no version of its own: it rises when a key goes or means something else."""
LONGEST_END = 6
"""Lines of a last paragraph that is kept where a page is cut."""
_EXIT_CODES = {"finished": ExitCode.OK, "budget": ExitCode.INCONCLUSIVE, "interrupted": ExitCode.INTERRUPTED}


def say_collecting(project: "Project") -> None:
    """Say on stderr that the tests of another tool are collected, which may take long."""
    if project.imported is not None:
        typer.echo(f"agentmut: collecting the tests of the {project.imported.kind} suite", err=True)


@contextmanager
def agents_on_stderr() -> Iterator[None]:
    """Redirect stdout of agents and their child processes to stderr during the block.

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
        os.dup2(
            kept[1], 1
        )  # an agent may have closed it, and what it has written would wait for the document
        with suppress(OSError, ValueError):
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


def print_json(document: Mapping[str, Any]) -> None:
    """Print one JSON document on stdout, an object with the version of its schema."""
    versioned = {"schema_version": JSON_VERSION, **document}
    print_document(json.dumps(versioned, indent=2, ensure_ascii=False))


def print_document(text: str) -> None:
    """Print the one JSON document on stdout."""
    shown = printable_json(text)
    with printing_document():
        typer.echo(shown)


@contextmanager
def printing_document() -> Iterator[None]:
    """Let the supervisor know that the block prints the one JSON document, so that it prints no other one."""
    line = supervisor()
    with line.printing() if line else nullcontext():
        yield


def print_report(
    found: "BaseModel", as_json: bool, page: Callable[[], str], *, full: bool | None = None
) -> None:
    """Print a document as JSON, or as a page for reading; `full` as for `print_page`."""
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        print_page(page(), full=full)


def print_page(text: str, *, full: bool | None = None) -> None:
    """Print a page for reading. At a terminal it is cut to 40 lines, unless `full`.

    None is for a verb without `--full`: the page then names the pipe that shows everything.
    """
    if sys.stdout.isatty() and not full:
        text = cut_page(text, "| less" if full is None else "--full")
    typer.echo(text, nl=False)


def cut_page(text: str, way: str) -> str:
    """Return the head of a page and its last paragraph, which says what to do next: 40 lines at most.

    `way` is what a user adds to the command to see all of it.
    """
    lines = text.splitlines()
    if len(lines) <= MOST_LINES:
        return text
    last = text.rstrip("\n").rpartition("\n\n")[2].splitlines()
    tail = ["", *last] if len(last) <= LONGEST_END else []
    head = lines[: MOST_LINES - len(tail) - 1]
    missing = len(lines) - len(head) - len(tail)
    return "\n".join((*head, f"... {missing} more lines; add {way} to see all", *tail)) + "\n"


def project_option(project: Path) -> str:
    """Return the option of a proposed command that names the project, after a blank; empty for the current folder."""
    return "" if project == Path() else f" --project {shlex.quote(str(project))}"


def agent_option(agent: str | None) -> str:
    """Return the option with the agent of a test specification, with a blank ahead; empty where none was given."""
    return "" if agent is None else f" --agent {shlex.quote(agent)}"


def exit_code(result: "Result") -> ExitCode:
    """Return 0 for a finished run whatever its score, 3 when a budget stopped it, 130 when interrupted."""
    return _EXIT_CODES.get(result.status, ExitCode.BROKEN)
