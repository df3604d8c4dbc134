"""`agentmut report`: render a stored run again, to stdout or into a file."""

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from agentmut._base import UsageError, without_cyclic_collection
from agentmut.cli.delivering import deliver, deliver_bytes
from agentmut.cli.options import Classes, Full, Json, Mutants, Operators, ProjectPath, RunId, Scenarios
from agentmut.cli.output import cut_page, printing_document, project_option, terminal_width, wants_color
from agentmut.cli.row_filters import Filters
from agentmut.report import WIDTH, Extra, View

if TYPE_CHECKING:
    from agentmut.nouns import MutantRow, Result
    from agentmut.seams import ReportFormat
    from agentmut.store import RelationReport, SurvivorsReport, VerdictReport
    from agentmut.usecases import OfAnAgent


PARQUET = "parquet"
"""No plugin: formats are text, and this one is binary."""
Formats = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="How it is written: terminal, json, markdown for pull requests, junit (XML) and sarif for CI, stryker "
        "for the viewer of mutation-testing-elements, html for browsers, csv and parquet with one row a mutant, or "
        "a format of an installed plugin.",
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


Bundle = Annotated[
    Path | None,
    typer.Option(
        "--bundle",
        help="Write the HTML page into this folder, with a page for each mutant that has all its stored runs.",
    ),
]
Runs = Annotated[
    bool,
    typer.Option(
        "--runs/--no-runs",
        help="HTML: show stored runs, with what the user, tools and model said, or leave them out.",
    ),
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
    full: Full = False,
    runs: Runs = True,
    bundle: Bundle = None,
    as_json: Json = False,
) -> None:
    """Print a stored run, test, comparison or check of relations again; nothing is executed.

    Without an id it is the latest of any kind; a check of survivors is part of its campaign's report. Filters,
    --compare, --bundle and the formats sarif, stryker, csv and parquet take the latest campaign, since only campaigns
    have them. Filters narrow the mutants that are listed; the scores stay those of the whole run.

    Example: agentmut report --format markdown --output summary.md
    """
    filters = Filters(classes, operators, mutants, scenarios)
    if format == PARQUET and not as_json:
        return _write_parquet(
            project, run, filters, output, append or compare is not None or bundle is not None
        )
    chosen = _format(format, as_json) if bundle is None else _bundled(format, as_json, output, compare)
    _check_append(append, output, chosen)
    text = _text(_ReportRequest(project, run, chosen, output, filters, compare, bundle, full, runs))
    if text is None:
        return
    if output is None and chosen == "terminal" and sys.stdout.isatty() and not full:
        text = cut_page(text, "--full")
    with printing_document() if chosen == "json" and output is None else nullcontext():
        deliver(text, output, append)


class _ReportRequest(NamedTuple):
    """What the command line asks for, once its format is chosen."""

    project: Path
    run: str | None
    chosen: str
    """The format."""
    output: Path | None
    filters: Filters
    compare: str | None
    bundle: Path | None
    full: bool
    runs: bool


def _text(request: _ReportRequest) -> str | None:
    """Return the report of whatever kind the run is; None where a bundle is written instead."""
    from agentmut.cli.runs import find_report
    from agentmut.store import read_relations, read_verdicts

    project, filters = request.project, request.filters
    if request.compare is not None:
        filters.refuse("--compare shows what changed of all mutants: leave the filters out.")
        return _comparison(project, request.run, request.compare, request.chosen, request.output)
    request = request._replace(run=_run_or_latest(request))
    verdicts = find_report(project, request.run, "verdicts.json", read_verdicts)
    relations = (
        find_report(project, request.run, "relations.json", read_relations) if verdicts is None else None
    )
    if verdicts is None and relations is None:
        return _of_a_campaign(request)
    filters.refuse(
        "--class, --operator, --mutant and --scenario are for runs of `agentmut run`. Leave them out."
    )
    if request.bundle is not None:
        raise UsageError("--bundle is for runs of `agentmut run`. Leave it out.")
    return _outcomes(request, verdicts, relations)


def _run_or_latest(request: _ReportRequest) -> str | None:
    """Return the run that is named, or the latest one that can be shown as was asked for."""
    from agentmut.cli.runs import latest_outcome

    if request.run is not None:
        return request.run
    of_a_campaign = request.bundle is not None or any(request.filters) or not _of_any_kind(request.chosen)
    return latest_outcome(request.project, alone=of_a_campaign)


def _of_a_campaign(request: _ReportRequest) -> str | None:
    """Return the report of a campaign; None where a bundle is written instead."""
    from agentmut.cli.runs import find_result

    with without_cyclic_collection():
        result = find_result(request.project, request.run)
        kept = request.filters.kept(result)
        view = _view(request.project, request.output, request.filters.listed(kept))._replace(
            full=request.full
        )
        shown = kept if request.runs else ()
        if request.bundle is None:
            return _campaign_page(request.project, request.run, result, request.chosen, view, shown)
        _write_bundle(request.bundle, request.project, request.run, result, view, shown)
        return None


def _write_parquet(
    project: Path, run: str | None, filters: Filters, output: Path | None, with_others: bool
) -> None:
    """Write the mutants of a run as Parquet. Raises `UsageError` for options that do not go with a binary file."""
    from agentmut.cli.runs import find_result
    from agentmut.report import mutants_parquet

    if output is None or with_others:
        raise UsageError(
            "--format parquet writes a binary file: name it with --output, without --append, --compare and --bundle."
        )
    result = find_result(project, run)
    listed = filters.listed(filters.kept(result))
    rows = tuple(row for row in result.mutants if listed is None or row.id in listed)
    deliver_bytes(mutants_parquet(result.model_copy(update={"mutants": rows})), output)


def _check_append(append: bool, output: Path | None, chosen: str) -> None:
    """Raise `UsageError` where the report cannot be added to a file."""
    from agentmut.report import format_named
    from agentmut.seams import CanBeAppended

    plugin = format_named(chosen)
    if append and output is None:
        raise UsageError("--append adds to a file: name it with --output.")
    if append and not isinstance(plugin, CanBeAppended):
        raise UsageError(
            f"--append: two {chosen} documents in one file can be read by nothing; leave it out."
        )


def _campaign_page(
    project: Path, run: str | None, result: "Result", chosen: str, view: View, shown: "Sequence[MutantRow]"
) -> str:
    """Return a campaign in the format; `shown` are the mutants whose stored runs are read."""
    from agentmut.report import format_named, render_as

    view = view._replace(extra=_beside(project, run, result, shown, format_named(chosen)))
    text = render_as(result, chosen, view)
    _say_stale(project, result, chosen)
    return text


def _outcomes(
    request: _ReportRequest,
    verdicts: "VerdictReport | None",
    relations: "RelationReport | SurvivorsReport | None",
) -> str:
    from agentmut.store import SurvivorsReport

    project, chosen = request.project, request.chosen
    view = _view(project, request.output)._replace(full=request.full or request.output is not None)
    text = _other(verdicts, relations, chosen, view)
    report = verdicts or relations
    # it names its campaign, whose own report says it
    if report is not None and not isinstance(report, SurvivorsReport):
        _say_stale(project, report, chosen)
    return text


def _say_stale(project: Path, found: "OfAnAgent", chosen: str) -> None:
    """Print on stderr what has changed since the run; an HTML page has that text itself."""
    from agentmut.cli.staleness import stale_note

    if chosen in ("terminal", "markdown") and (note := stale_note(project, found)):
        typer.echo(note, err=True)


def _bundled(format: str | None, as_json: bool, output: Path | None, compare: str | None) -> str:
    """Return the format of a bundle. Raises `UsageError` for options that do not go with it."""
    if as_json or format not in (None, "html") or output is not None or compare is not None:
        raise UsageError(
            "--bundle writes HTML into a folder: leave --format, --json, --output and --compare out."
        )
    return "html"


def _write_bundle(
    folder: Path, project: Path, run: str | None, result: "Result", view: View, shown: "Sequence[MutantRow]"
) -> None:
    from agentmut.cli.bundle import write_bundle
    from agentmut.cli.runs import find_beside
    from agentmut.cli.staleness import stale_note
    from agentmut.report import counted, most_worrying_first

    beside = find_beside(project, run, result)
    view = view._replace(extra=beside._replace(stale=stale_note(project, result)))
    pages = write_bundle(folder, result, view, project, most_worrying_first(shown))
    typer.echo(f"wrote {folder / 'index.html'} and {counted(pages, 'page')} of mutants")


def _beside(
    project: Path, run: str | None, result: "Result", shown: "Sequence[MutantRow]", chosen: "ReportFormat"
) -> Extra:
    """Read what the format shows beside the result; formats for other tools hold only the result.

    `shown` are the mutants whose stored runs are read.
    """
    from agentmut.cli.page_runs import with_runs
    from agentmut.cli.runs import find_beside, find_rescored
    from agentmut.cli.staleness import stale_note
    from agentmut.report import most_worrying_first
    from agentmut.seams import ShowsRescored, ShowsWholeRun

    if isinstance(chosen, ShowsWholeRun):
        beside = find_beside(project, run, result)._replace(stale=stale_note(project, result))
        return with_runs(beside, project, result, most_worrying_first(shown)) if shown else beside
    read = isinstance(chosen, ShowsRescored)
    return Extra(rescored=find_rescored(project, run, result) if read else None)


def _format(format: str | None, as_json: bool) -> str:
    if as_json and format not in (None, "json"):
        raise UsageError(f"--json and --format {format} contradict each other: leave one out.")
    return "json" if as_json else format or "terminal"


def _view(project: Path, output: Path | None, listed: frozenset[str] | None = None) -> View:

    return View(
        color=output is None and wants_color(),
        width=terminal_width() if output is None else WIDTH,
        listed=listed,
        project_option=project_option(project),
        prefix=prefix_of(project),
    )


def _comparison(project: Path, run: str | None, compare: str, chosen: str, output: Path | None) -> str:
    from agentmut.cli.runs import find_result
    from agentmut.report import compare_as
    from agentmut.store import compare_results

    old, new = find_result(project, compare), find_result(project, run)
    if old == new:
        raise UsageError(f"run {new.run_id} is compared with itself: name an earlier one with --compare.")
    return compare_as(compare_results(old, new), chosen, _view(project, output))


def _other(
    verdicts: "VerdictReport | None",
    relations: "RelationReport | SurvivorsReport | None",
    chosen: str,
    view: "View",
) -> str:
    """Return a test, a comparison of agents or a check of relations, which have no mutants."""
    from agentmut.report import (
        json_text,
        outcomes_as,
        render_relations,
        render_survivors,
        render_verdicts,
        verdicts_markdown,
    )

    report = verdicts or relations
    assert report is not None
    if chosen == "json":
        return json_text(report)
    if verdicts is not None and chosen == "markdown":
        return verdicts_markdown(verdicts)
    if chosen != "terminal":
        return outcomes_as(*_in_rows(report, chosen))
    if verdicts is not None:
        return render_verdicts(verdicts, view.color)
    assert relations is not None
    return (
        render_relations(relations, view.color, full=view.full)
        if relations.kind == "relations"
        else render_survivors(relations, view.color)
    )


def _of_any_kind(chosen: str) -> bool:
    """Return whether tests, comparisons and checks of relations have the format, too."""
    from agentmut.report import OUTCOME_FORMATS

    return chosen in ("terminal", "json", *OUTCOME_FORMATS)


def _in_rows(
    found: "VerdictReport | RelationReport | SurvivorsReport", chosen: str
) -> "tuple[VerdictReport | RelationReport | SurvivorsReport, str]":
    """Return the report and its format. Raises `UsageError` for a format that such a report does not have."""
    from agentmut.report import OUTCOME_FORMATS

    if chosen not in OUTCOME_FORMATS:
        known = ", ".join(OUTCOME_FORMATS)
        raise UsageError(
            f"--format {chosen} is for runs of `agentmut run`; for this run, choose terminal, json, {known}."
        )
    return found, chosen


def prefix_of(project: Path) -> str:
    """Return the project's folder relative to the working directory, with slashes; empty where it is not within it."""
    folder = project.resolve() if project.is_dir() else project.resolve().parent
    here = Path.cwd().resolve()
    return "" if folder == here or not folder.is_relative_to(here) else folder.relative_to(here).as_posix()
