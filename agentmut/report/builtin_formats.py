"""The built-in report formats, and how a report format is found and used."""

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from agentmut._base import AgentmutError, PluginError, UsageError, error_location, nearest
from agentmut.report.view import View
from agentmut.seams import (
    CanBeAppended,
    Catalogue,
    ComparesResults,
    Group,
    ReportFormat,
    ShowsRescored,
    ShowsWholeRun,
    load,
    names,
)

if TYPE_CHECKING:
    from pydantic import BaseModel

    from agentmut.nouns import Result
    from agentmut.store import Comparison

TRACES = ("otlp", "atif")
"""Formats of traces, which people look for among those of reports."""


def render_as(result: "Result", format: str, view: View | None = None) -> str:
    """Return the whole document, with its last line break.

    Raises `UsageError` for an unknown format, else `PluginError`.
    """
    view = view or View()
    chosen = format_named(format)
    narrowed = view.listed is not None and not isinstance(chosen, ShowsWholeRun)
    shown = _narrowed(result, view.listed or frozenset()) if narrowed else result
    return _written(chosen, lambda: chosen.render(shown, view))


def compare_as(found: "Comparison", format: str, view: View) -> str:
    """Return what changed between two results.

    Raises `UsageError` for a format that cannot show it, else `PluginError`.
    """
    chosen = format_named(format)
    if not isinstance(chosen, ComparesResults):
        able = [
            name for name in names(Group.REPORT_FORMATS) if isinstance(format_named(name), ComparesResults)
        ]
        raise UsageError(f"--compare is shown as {', '.join(able)}, not as {format}.")
    return _written(chosen, lambda: chosen.compare(found, view))


def format_named(name: str) -> ReportFormat:
    """Return the installed report format of that name. Raises `UsageError` for an unknown one, and `PluginError`."""
    catalogue = Catalogue.from_group(Group.REPORT_FORMATS)
    if name not in catalogue.names:
        where = " `agentmut export` writes traces." if name in TRACES else ""
        raise UsageError(f"--format {name}: no such format. {nearest(name, catalogue.names)}{where}")
    found: ReportFormat = catalogue.load(name)()
    return found


def _written(format: ReportFormat, write: "Callable[[], str]") -> str:
    try:
        text = write()
    except AgentmutError:
        raise
    except Exception as error:  # a plugin's code may raise anything at all
        where = (
            f"report format {format.name!r} raised {type(error).__name__}: {error} ({error_location(error)})"
        )
        raise PluginError(f"{where}. Fix the format or choose another one with --format.") from error
    if not isinstance(text, str):
        raise PluginError(f"report format {format.name!r} gave a {type(text).__name__}; expected text")
    return text


class Terminal(ComparesResults, CanBeAppended, ShowsRescored):
    """Text for a terminal, readable at 80 columns and without colour."""

    name: ClassVar[str] = "terminal"

    def render(self, result: "Result", view: View) -> str:
        """Return the summary of a run as text; the whole report where it is asked for, or only some mutants are."""
        from agentmut.report.terminal.run_page import render
        from agentmut.report.terminal.summary_page import render_summary

        if not view.full and view.listed is None:
            return render_summary(
                result, view.color, view.project_option, view.width, rescored=view.extra.rescored
            )
        return render(result, view.color, view.listed, view.project_option, view.width, view.extra.rescored)

    def compare(self, found: "Comparison", view: View) -> str:
        """Return what changed between two results, as text."""
        from agentmut.report.run_comparison import render_comparison

        return render_comparison(found, view.color, view.width)


class Json(ComparesResults):
    """The result as JSON that is safe to print."""

    name: ClassVar[str] = "json"

    def render(self, result: "Result", view: View) -> str:
        """Return the result in the form of `result.json`."""
        return json_text(result)

    def compare(self, found: "Comparison", view: View) -> str:
        """Return what changed between two results, as JSON."""
        return json_text(found)


class Markdown(ComparesResults, CanBeAppended, ShowsRescored):
    """Markdown for pull-request comments and step summaries."""

    name: ClassVar[str] = "markdown"

    def render(self, result: "Result", view: View) -> str:
        """Return the report of a run as Markdown."""
        from agentmut.report.files.markdown import markdown_report

        return markdown_report(result, view.extra.rescored)

    def compare(self, found: "Comparison", view: View) -> str:
        """Return what changed between two results, as Markdown."""
        from agentmut.report.run_comparison import markdown_comparison

        return markdown_comparison(found)


class JUnit:
    """JUnit XML for CI."""

    name: ClassVar[str] = "junit"

    def render(self, result: "Result", view: View) -> str:
        """Return one test case a mutant."""
        from agentmut.report.files.junit import junit_report

        return junit_report(result)


class Sarif:
    """SARIF 2.1.0 for code scanning."""

    name: ClassVar[str] = "sarif"

    def render(self, result: "Result", view: View) -> str:
        """Return one finding for each change that the suite does not notice."""
        from agentmut.report.files.sarif import sarif_report

        return sarif_report(result, view.prefix, why)


class Stryker:
    """The schema of mutation-testing-elements."""

    name: ClassVar[str] = "stryker"

    def render(self, result: "Result", view: View) -> str:
        """Return the report for Stryker's viewer."""
        from agentmut.report.files.stryker import stryker_report

        return stryker_report(result)


class Csv:
    """One row a mutant, for spreadsheets and data frames."""

    name: ClassVar[str] = "csv"

    def render(self, result: "Result", view: View) -> str:
        """Return the mutants of a run as CSV."""
        from agentmut.report.files.csv_tables import mutants_csv

        return mutants_csv(result)


class Html(ShowsWholeRun):
    """One HTML file that loads nothing."""

    name: ClassVar[str] = "html"

    def render(self, result: "Result", view: View) -> str:
        """Return the page; its scores and its prompt stay those of the whole run."""
        from agentmut.report.html import html_report

        return html_report(result, view.extra, view.listed).rstrip() + "\n"


def json_text(model: "BaseModel") -> str:
    """Return a model as JSON that is safe to print: characters that steer a terminal or turn text around
    are escaped.
    """
    from agentmut._base import printable_json, storable_json

    return printable_json(storable_json(model, indent=2, by_alias=True)) + "\n"


def why(operator: str) -> str:
    """Return why an operator's change happens in practice; empty for one that is not installed here."""
    try:
        return str(load("operators", operator).why)
    except PluginError:
        return ""


def _narrowed(result: "Result", listed: frozenset[str]) -> "Result":
    return result.model_copy(update={"mutants": tuple(row for row in result.mutants if row.id in listed)})
