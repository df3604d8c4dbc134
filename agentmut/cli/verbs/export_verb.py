"""`agentmut export`: stored trials for the tools of others."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentmut._base import UsageError
from agentmut.cli import completing
from agentmut.cli.options import Json, ProjectPath
from agentmut.cli.output import agents_on_stderr, print_json

if TYPE_CHECKING:
    from agentmut.usecases import ExportedTrial


class TraceFormat(StrEnum):
    """What an export is written in."""

    OTLP = "otlp"
    """One file, a line of OTLP/JSON for each trial."""
    ATIF = "atif"
    """A folder, a JSON file for each trial."""


Target = Annotated[
    Path | None,
    typer.Argument(help="The file to write, or the folder for atif. Left out where --endpoint is given."),
]
WrittenAs = Annotated[
    TraceFormat,
    typer.Option("--format", help="otlp: OpenTelemetry with GenAI names. atif: Harbor and Terminal-Bench."),
]
Endpoint = Annotated[
    str | None,
    typer.Option(
        "--endpoint", help="Send OTLP to the collector at this address, such as http://127.0.0.1:4318."
    ),
]
Mutant = Annotated[
    str | None,
    typer.Option(
        "--mutant",
        help="Only trials of this mutant, by its id or the beginning of it; `original` for the unchanged agent.",
        autocompletion=completing.mutants,
    ),
]


def export(
    target: Target = None,
    written_as: WrittenAs = TraceFormat.OTLP,
    endpoint: Endpoint = None,
    scenario: Annotated[str | None, typer.Option("--scenario", help="Only trials of this scenario.")] = None,
    mutant: Mutant = None,
    failed: Annotated[bool, typer.Option("--failed", help="Only trials that failed.")] = False,
    project: ProjectPath = Path(),
    as_json: Json = False,
) -> None:
    """Write the stored trials as traces that other tools read.

    Each trial is one trace, with its verdict by today's evaluators. Nothing is run. Secrets were taken out of the
    texts when they were stored. OTEL_EXPORTER_OTLP_HEADERS gives headers to send along.

    Example: agentmut export traces.jsonl
    """
    from agentmut.project import FOLDER, load_project
    from agentmut.report import send_lines
    from agentmut.usecases import exported_trials, has_store, opened, stand_in_keys

    _check(target, written_as, endpoint)
    with agents_on_stderr(), stand_in_keys():
        loaded = load_project(project)
        if not has_store(loaded):
            raise UsageError(f"{loaded.root / FOLDER} holds no trials. Run `agentmut run` first.")
        with opened(loaded) as (session, store):
            mutant = "" if mutant == "original" else mutant
            found = exported_trials(session, store, scenario=scenario, mutant=mutant, failed=failed)
            agent = loaded.root.resolve().name
            if target is None:
                count, said = send_lines(_lines(found, agent), endpoint or ""), f"traces sent to {endpoint}."
            elif written_as is TraceFormat.ATIF:
                count, said = _write_atif(found, agent, target), f"trajectories written to {target}."
            else:
                count, said = _write_otlp(found, agent, target), f"traces written to {target}."
    if as_json:
        print_json({"format": written_as.value, "trials": count, "target": str(target or endpoint)})
    else:
        typer.echo(f"{count} {said}")


def _check(target: Path | None, written_as: TraceFormat, endpoint: str | None) -> None:
    """Raise `UsageError` where it is not clear where the traces go."""
    if (target is None) == (endpoint is None):
        raise UsageError("name a file or an --endpoint, one of them: `agentmut export traces.jsonl`.")
    if endpoint is not None and written_as is not TraceFormat.OTLP:
        raise UsageError("--endpoint takes otlp only; leave --format out, or name a folder for atif.")
    if target is not None and written_as is TraceFormat.OTLP and target.is_dir():
        raise UsageError(f"{target} is a folder; otlp is one file. Name a file in it.")
    if target is not None and written_as is TraceFormat.ATIF and target.is_file():
        raise UsageError(f"{target} is a file; atif is a folder. Name another one.")


def _lines(found: "Iterable[ExportedTrial]", agent: str) -> Iterator[str]:
    from agentmut.report import otlp_line

    return (otlp_line(trial, agent) for trial in found)


def _write_otlp(found: "Iterable[ExportedTrial]", agent: str, target: Path) -> int:
    """Write a line for each trial, and put the file in its place once it is whole."""
    from agentmut._base import write_private_parts

    written = 0

    def counted() -> Iterator[bytes]:
        nonlocal written
        for line in _lines(found, agent):
            yield f"{line}\n".encode()
            written += 1

    with _problems_of(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        write_private_parts(target, counted())
    return written


def _write_atif(found: "Iterable[ExportedTrial]", agent: str, folder: Path) -> int:
    from agentmut._base import write_whole
    from agentmut.report import atif_trajectory

    written = 0
    for trial in found:
        document = json.dumps(atif_trajectory(trial, agent), ensure_ascii=False, indent=1)
        with _problems_of(folder):
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(folder / f"trial-{trial.number}.json", f"{document}\n".encode())
        written += 1
    return written


@contextmanager
def _problems_of(path: Path) -> Iterator[None]:
    """Raise `UsageError` where something cannot be written, `StoreError` on a full disk."""
    from agentmut._base import unwritten

    try:
        yield
    except OSError as error:
        raise unwritten(f"cannot write {path}", error, "Name another place.") from None
