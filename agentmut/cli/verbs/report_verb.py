"""`agentmut report`: render a stored run again."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentmut._base import UsageError, nearest
from agentmut.cli.options import Classes, Json, Mutants, Operators, ProjectPath, RunId, Scenarios
from agentmut.report import COMPARABLE, WIDTH, Extra, Format, View, json_text, render_as

if TYPE_CHECKING:
    from agentmut.nouns import MutantRow, Result
    from agentmut.store import RelationReport, SurvivorsReport, VerdictReport


Formats = Annotated[
    Format | None,
    typer.Option(
        "--format",
        help="How it is written: markdown for pull requests, junit (XML) and sarif for CI, stryker for the viewer "
        "of mutation-testing-elements, html for browsers.",
    ),
]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write into this file instead of stdout.")
]
Append = Annotated[
    bool, typer.Option("--append", help="Add to the end of the --output file, as step summaries want it.")
]
Compare = Annotated[
    str | None,
    typer.Option("--compare", help="Show what changed since this run: an id, a result.json or its folder."),
]


def report(
    run: RunId = None,
    project: ProjectPath = Path(),
    classes: Classes = None,
    operators: Operators = None,
    mutants: Mutants = None,
    scenarios: Scenarios = None,
    format: Formats = None,
    output: Output = None,
    append: Append = False,
    compare: Compare = None,
    as_json: Json = False,
) -> None:
    """Print a stored run, test, comparison or check of relations again; nothing is executed.

    Filters narrow the mutants that are listed; the scores stay those of the whole run.

    Example: agentmut report --format markdown --output summary.md
    """
    from agentmut.cli.documents import deliver
    from agentmut.cli.runs import find_relations, find_result, find_verdicts

    chosen = _format(format, as_json)
    if append and output is None:
        raise UsageError("--append adds to a file: name it with --output.")
    if append and chosen not in (Format.TERMINAL, Format.MARKDOWN):
        raise UsageError(
            f"--append: two {chosen} documents in one file can be read by nothing; leave it out."
        )
    verdicts = find_verdicts(project, run) if compare is None else None
    relations = find_relations(project, run) if compare is None and verdicts is None else None
    filtered = any((classes, operators, mutants, scenarios))
    if verdicts is not None or relations is not None:
        if filtered:
            raise UsageError("--class, --operator, --mutant and --scenario are for runs of `agentmut run`.")
        text = _other(verdicts, relations, chosen, _view(project, output).color)
    elif compare is not None:
        text = _comparison(project, run, compare, chosen, filtered, output)
    else:
        result = find_result(project, run)
        kept = _filtered(result.mutants, "--class", classes, lambda row: [row.operator_class.value])
        kept = _of_operators(kept, operators, result.mutants)
        kept = _filtered(kept, "--scenario", scenarios, _tried_on, result.mutants, _names(result))
        kept = _beginning(kept, mutants)
        listed = frozenset(row.id for row in kept) if filtered else None
        view = _view(project, output, listed)
        view = view._replace(extra=_beside(project, run, result, chosen))
        text = render_as(result, chosen, view)
    deliver(text, output, append)


def _beside(project: Path, run: str | None, result: "Result", chosen: Format) -> Extra:
    """What the format shows besides the result; documents for other tools hold the result alone."""
    from agentmut.cli.beside import find_beside, find_rescored

    if chosen is Format.HTML:
        return find_beside(project, run, result)
    read = chosen in (Format.TERMINAL, Format.MARKDOWN)
    return Extra(rescored=find_rescored(project, run, result) if read else None)


def _format(format: Format | None, as_json: bool) -> Format:
    if as_json and format not in (None, Format.JSON):
        raise UsageError(f"--json and --format {format} contradict each other: leave one out.")
    return Format.JSON if as_json else format or Format.TERMINAL


def _view(project: Path, output: Path | None, listed: frozenset[str] | None = None) -> View:
    from agentmut.cli.documents import prefix_of
    from agentmut.cli.output import terminal_width, wants_color

    return View(
        color=output is None and wants_color(),
        width=terminal_width() if output is None else WIDTH,
        listed=listed,
        project_option="" if project == Path() else f" --project {project}",
        prefix=prefix_of(project),
    )


def _comparison(
    project: Path, run: str | None, compare: str, chosen: Format, filtered: bool, output: Path | None
) -> str:
    from agentmut.cli.runs import find_result
    from agentmut.report import markdown_comparison, render_comparison
    from agentmut.store import compare_results

    if chosen not in COMPARABLE:
        raise UsageError(f"--compare is shown as {', '.join(COMPARABLE)}, not as {chosen}.")
    if filtered:
        raise UsageError("--compare shows what changed of all mutants: leave the filters out.")
    old, new = find_result(project, compare), find_result(project, run)
    if old == new:
        raise UsageError(f"run {new.run_id} is compared with itself: name an earlier one with --compare.")
    found = compare_results(old, new)
    if chosen is Format.JSON:
        return json_text(found)
    view = _view(project, output)
    if chosen is Format.MARKDOWN:
        return markdown_comparison(found)
    return render_comparison(found, view.color, view.width)


def _other(
    verdicts: "VerdictReport | None",
    relations: "RelationReport | SurvivorsReport | None",
    chosen: Format,
    color: bool,
) -> str:
    """A test, a comparison of agents or a check of relations, which have no mutants."""
    found = verdicts or relations
    if chosen not in (Format.TERMINAL, Format.JSON) or found is None:
        raise UsageError(f"--format {chosen} is for runs of `agentmut run`; this run has terminal and json.")
    if chosen is Format.JSON:
        return json_text(found)
    from agentmut.report import render_relations, render_survivors, render_verdicts

    if verdicts is not None:
        return render_verdicts(verdicts, color)
    assert relations is not None
    return (
        render_relations(relations, color)
        if relations.kind == "relations"
        else render_survivors(relations, color)
    )


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


def _of_operators(
    rows: "Sequence[MutantRow]", wanted: list[str] | None, everything: "Sequence[MutantRow]"
) -> "list[MutantRow]":
    """The rows of operators that a name, a class or a pattern fits. Raises `UsageError` for one that fits none."""
    from agentmut.seams import is_named, unknown_name

    known = {row.operator for row in everything}
    unknown = unknown_name(wanted or (), known)
    if unknown is not None:
        raise UsageError(f"--operator {unknown}: no operator of the run fits. {nearest(unknown, known)}")
    kept = {name for name in known if wanted is None or any(is_named(name, each) for each in wanted)}
    return [row for row in rows if row.operator in kept]


def _tried_on(row: "MutantRow") -> Iterable[str]:
    return [item.scenario for item in row.evidence]


def _names(result: "Result") -> list[str]:
    return [row.scenario for row in result.baseline]


def _beginning(rows: "Sequence[MutantRow]", wanted: list[str] | None) -> "list[MutantRow]":
    for prefix in wanted or ():
        if not any(row.id.startswith(prefix) for row in rows):
            raise UsageError(f"--mutant {prefix}: the run has no such mutant.")
    return [row for row in rows if not wanted or row.id.startswith(tuple(wanted))]
