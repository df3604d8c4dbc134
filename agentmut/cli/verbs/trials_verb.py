"""`agentmut trials`: the stored runs of the project, one by one."""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentmut._base import UsageError
from agentmut.cli.options import Full, Json, ProjectPath, TrialsOf
from agentmut.cli.output import MOST_LINES, agents_on_stderr, print_json

if TYPE_CHECKING:
    from agentmut.nouns import Step
    from agentmut.usecases import TrialRow, WholeTrial

LONGEST = 100
"""Characters of a reason in a list."""


Quarantined = Annotated[
    bool, typer.Option("--quarantined", help="Only trials that an outage has spoiled, with the reason.")
]
Trial = Annotated[
    int | None, typer.Option("--trial", help="Print one trial with its turns, calls and answer.")
]
AsParquet = Annotated[
    Path | None,
    typer.Option("--parquet", help="Write one row a trial into this Parquet file, for data frames."),
]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print one row a trial as CSV, for data frames.")]


def trials(
    scenario: Annotated[str | None, typer.Argument(help="Only trials of this scenario.")] = None,
    mutant: TrialsOf = None,
    failed: Annotated[bool, typer.Option("--failed", help="Only trials that failed.")] = False,
    quarantined: Quarantined = False,
    trial: Trial = None,
    project: ProjectPath = Path(),
    full: Full = False,
    as_csv: AsCsv = False,
    as_parquet: AsParquet = None,
    as_json: Json = False,
) -> None:
    """List the stored trials of the project, in the order in which they ended.

    Each trial has its number, its outcome by today's evaluators, and the reason. Nothing is run.

    Example: agentmut trials --failed
    """
    from agentmut.project import FOLDER, load_project
    from agentmut.usecases import has_store, opened, stand_in_keys, stored_trial, stored_trials

    if as_csv + as_json + (as_parquet is not None) > 1:
        raise UsageError("--csv, --parquet and --json contradict each other: leave all but one out.")

    with agents_on_stderr(), stand_in_keys():
        loaded = load_project(project)
        if not has_store(loaded):
            raise UsageError(f"{loaded.root / FOLDER} holds no trials. Run `agentmut run` first.")
        with opened(loaded) as (session, store):
            shown_trial = None if trial is None else stored_trial(session, store, trial)
            mutant = "" if mutant == "original" else mutant
            wanted = {"failed": failed, "quarantined": quarantined}
            rows = (
                []
                if shown_trial
                else list(stored_trials(session, store, scenario=scenario, mutant=mutant, **wanted))
            )
    if as_csv or as_parquet:
        _print_table([shown_trial.row] if shown_trial else rows, as_parquet)
        return
    if as_json:
        listed = {"trials": [row.model_dump(mode="json") for row in rows]}
        print_json(shown_trial.model_dump(mode="json") if shown_trial else listed)
        return
    from agentmut.report import clean

    most = MOST_LINES - 2 if sys.stdout.isatty() and not full else None
    for line in _trial_lines(shown_trial) if shown_trial else _listed(rows, most):
        typer.echo(clean(line))


def _print_table(rows: "list[TrialRow]", file: Path | None) -> None:
    """Print the trials as CSV, or write them into a Parquet file."""
    from agentmut.cli.delivering import deliver_bytes
    from agentmut.report import csv_table, parquet_table
    from agentmut.usecases import TrialRow

    columns = list(TrialRow.model_fields)
    cells = (tuple(row.model_dump().values()) for row in rows)
    if file is None:
        typer.echo(csv_table(columns, cells), nl=False)
        return
    numbers = dict.fromkeys(("trial", "repeat", "attempts"), "int64") | {"finished": "float64"}
    deliver_bytes(parquet_table(columns, cells, numbers), file)


def _listed(rows: "list[TrialRow]", most: int | None) -> Iterator[str]:
    """Yield a line a trial: the latest `most` of them, or all."""
    shown = rows[-most:] if most else rows
    if len(shown) < len(rows):
        yield f"... {len(rows) - len(shown)} earlier ones; add --full to see all"
    for row in shown:
        yield _line(row)
    yield (
        f"{len(rows)} trials. `agentmut trials --trial N` prints one."
        if rows
        else "No stored trial fits these options."
    )


def _line(row: "TrialRow") -> str:
    aside = f" | set aside: {row.quarantined}" if row.quarantined else ""
    reason = " ".join(row.reason.split())[:LONGEST]
    who = row.mutant or "original"
    outcome = row.outcome or row.ending
    scenario = " ".join(row.scenario.split())
    return (
        f"{row.trial:>6}  {_time(row.finished)}  {outcome:<14} {who:<12} {scenario}  {reason}{aside}".rstrip()
    )


def _time(finished: float) -> str:
    return f"{datetime.fromtimestamp(finished, UTC):%Y-%m-%d %H:%M:%S}"


def _trial_lines(trial: "WholeTrial") -> Iterator[str]:
    yield _line(trial.row)
    for number, turn in enumerate(trial.turns):
        yield f"  user {number}: {turn}"
    for step in trial.trace.steps:
        yield f"  turn {step.turn}  {_deed(step)}"
    for number, output in enumerate(trial.trace.outputs):
        yield f"  answer {number}: {output}"
    if trial.trace.texts_cut:
        yield f"  {trial.trace.texts_cut:,} characters are not kept (store.max_text, max_trial, max_run)"
    for check in trial.checks:
        yield f"  {'passed' if check.passed else 'failed'}  {check.evaluator}: {check.reason}"
    if spent := trial.trace.service:
        waited = sum(spent.waits) + spent.waiting
        yield f"  waited {waited:.1f} s for model services, {spent.own:.1f} s of its own"


def _deed(step: "Step") -> str:
    outcome = step.error or step.output
    what = f"{step.tool}({step.arguments or {}})" if step.tool else (step.model or step.action.value)
    return f"{step.action.value} {what}: {outcome}" if outcome is not None else f"{step.action.value} {what}"
