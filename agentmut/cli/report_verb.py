"""`agentmut report`: render a stored run again."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agentmut.cli.options import Classes, Json, Mutants, Operators, ProjectPath, RunId, Scenarios
from agentmut.errors import UsageError, nearest

if TYPE_CHECKING:
    from agentmut.relation_report import RelationReport, SurvivorsReport
    from agentmut.result import MutantRow, Result
    from agentmut.verdict_report import VerdictReport


def report(
    run: RunId = None,
    project: ProjectPath = Path(),
    classes: Classes = None,
    operators: Operators = None,
    mutants: Mutants = None,
    scenarios: Scenarios = None,
    as_json: Json = False,
) -> None:
    """Print a stored run, test, comparison or check of relations again; nothing is executed.

    Filters narrow the mutants that are listed; the scores stay those of the whole run.

    Example: agentmut report --class tool
    """
    from agentmut.cli.output import print_result
    from agentmut.cli.runs import find_relations, find_result, find_verdicts

    verdicts = find_verdicts(project, run)
    if verdicts is not None:
        _print_verdicts(verdicts, as_json)
        return
    relations = find_relations(project, run)
    if relations is not None:
        _print_relations(relations, as_json)
        return
    result = find_result(project, run)
    kept = _filtered(result.mutants, "--class", classes, lambda row: [row.operator_class.value])
    kept = _filtered(kept, "--operator", operators, lambda row: [row.operator], result.mutants)
    kept = _filtered(kept, "--scenario", scenarios, _tried_on, result.mutants, _names(result))
    kept = _beginning(kept, mutants)
    print_result(result, as_json, project, frozenset(row.id for row in kept))


def _print_verdicts(verdicts: "VerdictReport", as_json: bool) -> None:
    import typer

    from agentmut.cli.output import print_json, wants_color
    from agentmut.report.verdicts import render_verdicts

    if as_json:
        print_json(verdicts.model_dump(mode="json"))
    else:
        typer.echo(render_verdicts(verdicts, wants_color()), nl=False)


def _print_relations(found: "RelationReport | SurvivorsReport", as_json: bool) -> None:
    import typer

    from agentmut.cli.output import print_json, wants_color
    from agentmut.report.relations import render_relations, render_survivors

    if as_json:
        print_json(found.model_dump(mode="json"))
    elif found.kind == "relations":
        typer.echo(render_relations(found, wants_color()), nl=False)
    else:
        typer.echo(render_survivors(found, wants_color()), nl=False)


def _filtered(
    rows: "Sequence[MutantRow]",
    option: str,
    wanted: list[str] | None,
    values: "Callable[[MutantRow], Iterable[str]]",
    everything: "Sequence[MutantRow]" = (),
    known: Iterable[str] = (),
) -> "list[MutantRow]":
    """The rows with one of the wanted values. Raises `UsageError` for a value that the run does not have."""
    found: dict[str, set[str]] = defaultdict(set, {name: set() for name in known})
    for row in everything or rows:
        for value in values(row):
            found[value].add(row.id)
    for name in wanted or ():
        if name not in found:
            raise UsageError(f"{option} {name}: the run has no such thing. {nearest(name, found)}")
    kept = set().union(*(found[name] for name in wanted)) if wanted else {row.id for row in rows}
    return [row for row in rows if row.id in kept]


def _tried_on(row: "MutantRow") -> Iterable[str]:
    return [item.scenario for item in row.evidence]


def _names(result: "Result") -> list[str]:
    return [row.scenario for row in result.baseline]


def _beginning(rows: "Sequence[MutantRow]", wanted: list[str] | None) -> "list[MutantRow]":
    for prefix in wanted or ():
        if not any(row.id.startswith(prefix) for row in rows):
            raise UsageError(f"--mutant {prefix}: the run has no such mutant.")
    return [row for row in rows if not wanted or row.id.startswith(tuple(wanted))]
