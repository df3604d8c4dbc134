"""The formats of `agentmut report`, by name."""

from enum import StrEnum
from typing import NamedTuple

from agentmut.report.beside import Extra
from agentmut.result import Result

WIDTH = 80
"""Columns of a report that no terminal shows."""


class Format(StrEnum):
    """How a result is written."""

    TERMINAL = "terminal"
    JSON = "json"
    MARKDOWN = "markdown"
    JUNIT = "junit"
    SARIF = "sarif"
    STRYKER = "stryker"
    HTML = "html"


COMPARABLE = (Format.TERMINAL, Format.MARKDOWN, Format.JSON)
"""The formats in which two results can be compared."""


class View(NamedTuple):
    """What is shown of a result, and how."""

    color: bool = False
    width: int = WIDTH
    listed: frozenset[str] | None = None
    """Ids of the mutants that are listed; None for all. Scores stay those of the whole run."""
    project_option: str = ""
    """The option that leads `agentmut show` to the project."""
    prefix: str = ""
    """The project's folder as seen from the working directory."""
    extra: Extra = Extra()
    """What the run's folder holds besides; the html report shows it."""


def render_as(  # noqa: PLR0911 (one a format)
    result: Result, format: Format, view: View | None = None
) -> str:
    """The whole document, with its last line break."""
    view = view or View()
    shown = result if view.listed is None else _narrowed(result, view.listed)
    match format:
        case Format.TERMINAL:
            from agentmut.report.terminal import render

            return render(result, view.color, view.listed, view.project_option, view.width)
        case Format.JSON:
            return shown.model_dump_json(indent=2, by_alias=True) + "\n"
        case Format.MARKDOWN:
            from agentmut.report.markdown import markdown_report

            return markdown_report(result, view.listed)
        case Format.JUNIT:
            from agentmut.report.junit import junit_report

            return junit_report(shown)
        case Format.SARIF:
            from agentmut.report.sarif import sarif_report

            return sarif_report(shown, view.prefix, why)
        case Format.STRYKER:
            from agentmut.report.stryker import stryker_report

            return stryker_report(shown)
        case Format.HTML:
            from agentmut.report.html import html_report

            return html_report(result, view.extra, view.listed)


def why(operator: str) -> str:
    """Why an operator's change happens in practice; empty for one that is not installed here."""
    from agentmut.errors import PluginError
    from agentmut.plugins import load

    try:
        return str(load("operators", operator).why)
    except PluginError:
        return ""


def _narrowed(result: Result, listed: frozenset[str]) -> Result:
    return result.model_copy(update={"mutants": tuple(row for row in result.mutants if row.id in listed)})
