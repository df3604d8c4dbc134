"""`agentmut show ID`: explain one mutant."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentmut._base import AgentmutError, UsageError
from agentmut.cli import completing
from agentmut.cli.options import Full, Json, ProjectPath
from agentmut.cli.output import agents_on_stderr, print_json, print_page, say_collecting, wants_color

if TYPE_CHECKING:
    from agentmut.insight import SideBySide
    from agentmut.nouns import MutantRow, Result
    from agentmut.report import Proposals

NAMED = 5
"""Mutants that are named where an id is ambiguous."""
SHOWN = 3


def show(
    mutant: Annotated[
        str | None,
        typer.Argument(help="The mutant's id, or the beginning of it.", autocompletion=completing.mutants),
    ] = None,
    run: Annotated[
        str | None,
        typer.Option("--run", help="The run's id; the latest when left out.", autocompletion=completing.runs),
    ] = None,
    trial: Annotated[
        int | None,
        typer.Option(
            "--trial", help="Show this run of the mutant; `agentmut trials --mutant ID` lists them."
        ),
    ] = None,
    project: ProjectPath = Path(),
    full: Full = False,
    as_json: Json = False,
) -> None:
    """Explain one mutant.

    Shows what was changed, what every scenario saw, and why the mutant has its status. A run of the original and a
    run of the mutant stand side by side, with the differences marked. If behaviour changed and no evaluator
    noticed, also shows assertions that would have noticed, found in the stored trials and checked on them.

    Example: agentmut show 3f9ac2d1
    """
    from agentmut.cli.runs import find_result
    from agentmut.cli.staleness import stale_note
    from agentmut.report import render_mutant

    result = find_result(project, run)
    row = _row_of(result, mutant)
    proposals = _proposals(project, result.run_id, row) if row.gap == "assertion" else None
    on = proposals.assertions[0].scenario if proposals and proposals.assertions else ""
    runs, note = _runs(project, result.run_id, row, trial, on)
    if not as_json:
        print_page(render_mutant(result, row, wants_color(), proposals, runs), full=full or trial is not None)
        for line in filter(None, (note, stale_note(project, result))):
            typer.echo(line, err=True)
        return
    document = row.model_dump(mode="json", by_alias=True)
    document["runs"] = [pair.model_dump(mode="json") for pair in runs]
    print_json(document | _suggestions(proposals))


def _row_of(result: "Result", mutant: str | None) -> "MutantRow":
    """Return the row of the one mutant whose id begins so; `UsageError` where none or several do."""
    if mutant is None:
        raise UsageError(_none_named(result))
    rows = [row for row in result.mutants if row.id.startswith(mutant)]
    if len(rows) != 1:
        raise UsageError(_none_or_several(result.run_id, mutant, rows))
    return rows[0]


def _suggestions(proposals: "Proposals | None") -> dict[str, object]:
    """Return what the JSON document tells of proposed assertions; nothing where none were looked for."""
    from agentmut.report import suggestion_document

    if not proposals:
        return {}
    found = [suggestion_document(assertion, proposals.where) for assertion in proposals.assertions]
    return {"suggestions": found, "suggestion_notes": list(proposals.notes)}


def _none_named(result: "Result") -> str:
    """Return the message for a command without an id: it names the mutants that most need a look."""
    from agentmut.report import most_worrying_first

    first = [row.id for row in most_worrying_first(result.mutants)][:NAMED]
    which = f"The first of run {result.run_id}: {', '.join(first)}. " if first else ""
    lists = "`agentmut report` lists survivors, `agentmut mutants` all mutants."
    return f"name a mutant: `agentmut show ID`. {which}{lists}"


def _none_or_several(run: str, begins: str, rows: "list[MutantRow]") -> str:
    """Raise `UsageError` that names the mutants whose ids begin with the text, or says that there is none."""
    if not rows:
        lists = "`agentmut report` lists survivors, `agentmut mutants` all mutants."
        return f"no mutant of run {run} has an id that begins with {begins!r}. {lists}"
    shown = ", ".join(f"{row.id} ({row.operator})" for row in rows[:NAMED])
    more = f" and {len(rows) - NAMED} more" if len(rows) > NAMED else ""
    return f"{len(rows)} mutants of run {run} begin with {begins!r}: {shown}{more}. Give more of the id."


def _runs(
    project: Path, run: str, row: "MutantRow", trial: int | None, on: str
) -> "tuple[tuple[SideBySide, ...], str]":
    """Return runs to read; where none can be shown, a note that says why."""
    from agentmut.project import FOLDER, load_project
    from agentmut.usecases import has_store, opened, run_pairs, stand_in_keys

    try:
        with agents_on_stderr(), stand_in_keys():
            loaded = load_project(project)
            if not has_store(loaded):
                raise UsageError(f"{loaded.root / FOLDER} holds no trials")
            if row.gap != "assertion":  # else it has been said
                say_collecting(loaded)
            with opened(loaded) as (session, store):
                return run_pairs(session, store, run, row, trial, on), ""
    except AgentmutError as error:
        if trial is not None:
            raise
        return (), f"no run is shown: {str(error).rstrip('.')}."


def _proposals(project: Path, run: str, row: "MutantRow") -> "Proposals":
    """Return assertions mined from the trials stored; a note where project or store do not allow it any more."""
    from agentmut.report import Proposals

    try:
        return _mined(project, run, row)
    except AgentmutError as error:
        return Proposals(notes=(f"no assertion is proposed: {str(error).rstrip('.')}",))


def _mined(project: Path, run: str, row: "MutantRow") -> "Proposals":
    from agentmut.project import FOLDER, load_project
    from agentmut.report import Proposals
    from agentmut.usecases import has_store, mined_assertions, opened, stand_in_keys

    with agents_on_stderr(), stand_in_keys():
        loaded = load_project(project)
        if not has_store(loaded):
            raise UsageError(f"{loaded.root / FOLDER} holds no trials")
        say_collecting(loaded)
        with opened(loaded) as (session, store):
            assertions, notes = mined_assertions(session, store, run, [row.id], SHOWN)
    none = () if assertions else ("no assertion was found that passes on the original and kills it",)
    suite = loaded.imported.kind if loaded.imported else ""
    return Proposals(assertions, loaded.sources.scenarios, (*notes, *none), suite)
