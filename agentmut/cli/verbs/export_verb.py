"""`agentmut export`: stored trials for the tools of others."""

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from agentmut._base import UsageError
from agentmut.cli.options import Json, ProjectPath, TrialsOf
from agentmut.cli.output import agents_on_stderr, print_json

if TYPE_CHECKING:
    from agentmut.store import ImportQuery
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
Version = Annotated[
    list[str] | None,
    typer.Option(
        "--version", help="With --imported: only runs of this version, or of versions that begin so."
    ),
]
Since = Annotated[
    str | None,
    typer.Option(
        "--since", help="With --imported: only runs that started then or later: 2026-05-01, 7d or 12h."
    ),
]
Until = Annotated[str | None, typer.Option("--until", help="With --imported: only runs that started before.")]
Sample = Annotated[
    int | None,
    typer.Option("--sample", min=1, help="With --imported: at most so many runs, drawn at random."),
]


def export(
    target: Target = None,
    written_as: WrittenAs = TraceFormat.OTLP,
    endpoint: Endpoint = None,
    scenario: Annotated[str | None, typer.Option("--scenario", help="Only trials of this scenario.")] = None,
    mutant: TrialsOf = None,
    mutants: Annotated[
        bool,
        typer.Option("--mutants", help="Write the trials of all mutants too, and not the original's alone."),
    ] = False,
    failed: Annotated[bool, typer.Option("--failed", help="Only trials that failed.")] = False,
    imported: Annotated[
        bool,
        typer.Option("--imported", help="Write imported runs instead of the project's own trials."),
    ] = False,
    version: Version = None,
    since: Since = None,
    until: Until = None,
    sample: Sample = None,
    output: Annotated[
        Path | None, typer.Option("--output", help="Another way to give TARGET, as in other verbs.")
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", help="Seed of the sample: the same seed draws the same runs.")
    ] = 0,
    project: ProjectPath = Path(),
    as_json: Json = False,
) -> None:
    """Write the stored trials as traces that other tools read.

    Each trial is one trace, with its verdict by today's evaluators. Without `--mutant` or `--mutants`, the trials are
    those of the unchanged agent. With `--imported` the imported runs are written,
    each with its recorded outcome; no project file is needed then. Nothing is run. Secrets were taken out of the
    texts when they were stored. OTEL_EXPORTER_OTLP_HEADERS gives headers to send along.

    Example: agentmut export traces.jsonl
    """
    if target is not None and output is not None:
        raise UsageError(f"give one file or folder to write: {target} or --output {output}.")
    target = target or output
    _check(target, written_as, endpoint)
    goal = _Goal(target, written_as, endpoint or "")
    if imported:
        if mutant is not None or mutants:
            option = "--mutants" if mutants else "--mutant"
            raise UsageError(f"{option}: an imported run is of no mutant. Leave {option} or --imported out.")
        query = _query(scenario, version, failed, (since, until), sample)._replace(seed=seed)
        count, summary = _imported(project, query, goal)
    else:
        _check_imported_only(version, since, until, sample)
        if mutants and mutant is not None:
            raise UsageError(
                "--mutants writes the trials of all mutants. Leave it out, or leave --mutant out."
            )
        wanted = None if mutants else "" if mutant in (None, "original") else mutant
        count, summary = _own(project, scenario, wanted, failed, goal)
    if as_json:
        print_json({"format": written_as.value, "trials": count, "target": str(target or endpoint)})
    else:
        typer.echo(summary)


class _Goal(NamedTuple):
    """Where trials are written to, and as what."""

    target: Path | None
    written_as: TraceFormat
    endpoint: str


def _query(
    scenario: str | None,
    versions: list[str] | None,
    failed: bool,
    times: tuple[str | None, str | None],
    sample: int | None,
) -> "ImportQuery":
    from agentmut._base import moment
    from agentmut.store import ImportQuery

    now = time.time()
    since, until = (
        None if text is None else moment(text, now, name)
        for text, name in zip(times, ("--since", "--until"), strict=True)
    )
    return ImportQuery(
        scenarios=() if scenario is None else (scenario,),
        versions=tuple(versions or ()),
        outcomes=("fail",) if failed else (),
        since=since,
        until=until,
        sample=sample,
    )


def _imported(project: Path, query: "ImportQuery", goal: _Goal) -> tuple[int, str]:
    """Write the imported runs that are asked for. Raises `UsageError` where there are none."""
    from agentmut.usecases import exported_imports, foreign_store

    with foreign_store(project) as home:
        if not home.store.imports.numbers(query):
            raise UsageError(
                "no imported run fits the filters. `agentmut import FILE` puts recorded runs into the store."
                if home.store.imports.totals().trials
                else "the store holds no imported run. `agentmut import FILE` puts recorded runs there."
            )
        return _write(exported_imports(home.store, query), home.root.resolve().name, goal)


def _own(
    project: Path, scenario: str | None, mutant: str | None, failed: bool, goal: _Goal
) -> tuple[int, str]:
    """Write the trials of the project's own runs."""
    from agentmut.project import FILE_NAME, FOLDER, load_project
    from agentmut.usecases import exported_trials, has_store, opened, stand_in_keys

    if (project / FOLDER / "store.db").is_file() and not (project / FILE_NAME).is_file():
        raise UsageError(
            f"{project.resolve()} has a store and no {FILE_NAME}. Add --imported to write imported runs."
        )
    with agents_on_stderr(), stand_in_keys():
        loaded = load_project(project)
        if not has_store(loaded):
            raise UsageError(
                f"{loaded.root / FOLDER} holds no trials. Run `agentmut run` first, or add --imported."
            )
        with opened(loaded) as (session, store):
            found = exported_trials(session, store, scenario=scenario, mutant=mutant, failed=failed)
            count, summary = _write(found, loaded.root.resolve().name, goal)
            if mutant == "" and store.listing.has_mutants():
                summary += " They are of the unchanged agent: --mutants adds the trials of mutants."
            if not count:
                summary += _why_none(store.imports.totals().trials)
            return count, summary


def _why_none(imported: int) -> str:
    """Return what to do where no trial of the project was written."""
    if imported:
        return f" The store holds {imported} imported runs: --imported writes these."
    return " No stored trial fits: `agentmut trials` lists the stored trials, `agentmut run` makes some."


def _write(trials: "Iterable[ExportedTrial]", agent: str, goal: _Goal) -> tuple[int, str]:
    """Write or send trials; return their number, and what has become of them."""
    from agentmut.report import send_lines

    if goal.target is None:
        count, what = send_lines(_lines(trials, agent), goal.endpoint), f"sent to {goal.endpoint}."
    elif goal.written_as is TraceFormat.ATIF:
        count, what = _write_atif(trials, agent, goal.target), f"written to {goal.target}."
    else:
        count, what = _write_otlp(trials, agent, goal.target), f"written to {goal.target}."
    one, many = ("trajectory", "trajectories") if goal.written_as is TraceFormat.ATIF else ("trace", "traces")
    return count, f"{count} {one if count == 1 else many} {what}"


def _check_imported_only(
    version: list[str] | None, since: str | None, until: str | None, sample: int | None
) -> None:
    """Raise `UsageError` for options that only imported runs have."""
    options = {"--version": version, "--since": since, "--until": until, "--sample": sample}
    for name, value in options.items():
        if value is not None:
            raise UsageError(f"{name} chooses imported runs. Add --imported, or leave {name} out.")


def _check(target: Path | None, written_as: TraceFormat, endpoint: str | None) -> None:
    """Raise `UsageError` where it is not clear where the traces go."""
    if (target is None) == (endpoint is None):
        raise UsageError(
            "name either a file to write, as in `agentmut export traces.jsonl`, or an address with --endpoint."
        )
    if endpoint is not None and written_as is not TraceFormat.OTLP:
        raise UsageError("--endpoint takes otlp only; leave --format out, or name a folder for atif.")
    if target is not None and written_as is TraceFormat.OTLP and target.is_dir():
        raise UsageError(f"{target} is a folder; otlp is one file. Name a file in it.")
    if target is not None and written_as is TraceFormat.ATIF and target.is_file():
        raise UsageError(f"{target} is a file; atif is a folder. Name another one.")


def _lines(trials: "Iterable[ExportedTrial]", agent: str) -> Iterator[str]:
    from agentmut.report import otlp_line

    return (otlp_line(trial, agent) for trial in trials)


def _write_otlp(trials: "Iterable[ExportedTrial]", agent: str, target: Path) -> int:
    """Write a line for each trial, and put the file in its place once it is whole."""
    from agentmut._base import write_private_parts

    written = 0

    def counted() -> Iterator[bytes]:
        nonlocal written
        for line in _lines(trials, agent):
            yield f"{line}\n".encode()
            written += 1

    with _problems_of(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        write_private_parts(target, counted())
    return written


def _write_atif(trials: "Iterable[ExportedTrial]", agent: str, folder: Path) -> int:
    from agentmut._base import write_whole
    from agentmut.report import atif_trajectory

    new: list[Path] = []
    written = 0
    try:
        for trial in trials:
            document = json.dumps(atif_trajectory(trial, agent), ensure_ascii=False, indent=1)
            kind = "imported" if trial.imported else "trial"
            # padded: in the order of names the runs of a scenario stay in their order
            path = folder / f"{kind}-{trial.number:06}.json"
            with _problems_of(folder):
                folder.mkdir(parents=True, exist_ok=True)
                new += [] if path.exists() else [path]
                write_whole(path, f"{document}\n".encode())
            written += 1
    except BaseException:  # some of the trials would look like all of them
        for path in new:
            path.unlink(missing_ok=True)
        raise
    return written


@contextmanager
def _problems_of(path: Path) -> Iterator[None]:
    """Raise `UsageError` where something cannot be written, `StoreError` on a full disk."""
    from agentmut._base import unwritten

    try:
        yield
    except OSError as error:
        raise unwritten(f"cannot write {path}", error, "Name another place.") from None
