"""The formats of `agentmut report`, by name."""

import json
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from agentmut.report.beside import Extra

if TYPE_CHECKING:  # `agentmut --help` imports this module, and has no use for pydantic
    from pydantic import BaseModel

    from agentmut.nouns import Result

_STEERING = re.compile(
    "[\\x7f-\\x9f\\xad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\uffff"
    "\\U000e0000-\\U000e007f]"
)
"""Controls and format characters, which in JSON stand within strings only."""

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
    """What the run's folder holds besides: HTML shows all of it, terminal and Markdown a rescored score."""


def render_as(result: "Result", format: Format, view: View | None = None) -> str:
    """The whole document, with its last line break."""
    view = view or View()
    narrows_itself = format is Format.HTML  # its scores and its prompt stay those of the whole run
    shown = result if view.listed is None or narrows_itself else _narrowed(result, view.listed)
    return _WRITERS[format](shown, view)


def _terminal(result: "Result", view: View) -> str:
    from agentmut.report.terminal.result import render

    return render(result, view.color, view.listed, view.project_option, view.width, view.extra.rescored)


def _json(result: "Result", view: View) -> str:
    return json_text(result)


def _markdown(result: "Result", view: View) -> str:
    from agentmut.report.files.markdown import markdown_report

    return markdown_report(result, view.extra.rescored)


def _junit(result: "Result", view: View) -> str:
    from agentmut.report.files.junit import junit_report

    return junit_report(result)


def _sarif(result: "Result", view: View) -> str:
    from agentmut.report.files.sarif import sarif_report

    return sarif_report(result, view.prefix, why)


def _stryker(result: "Result", view: View) -> str:
    from agentmut.report.files.stryker import stryker_report

    return stryker_report(result)


def _html(result: "Result", view: View) -> str:
    from agentmut.report.html import html_report

    return html_report(result, view.extra, view.listed)


_WRITERS: "Mapping[Format, Callable[[Result, View], str]]" = MappingProxyType(
    {
        Format.TERMINAL: _terminal,
        Format.JSON: _json,
        Format.MARKDOWN: _markdown,
        Format.JUNIT: _junit,
        Format.SARIF: _sarif,
        Format.STRYKER: _stryker,
        Format.HTML: _html,
    }
)


def json_text(model: "BaseModel") -> str:
    """A model as JSON that is safe to print: characters that steer a terminal or turn text around are escaped."""
    from agentmut._base import storable_json

    return _STEERING.sub(_escaped, storable_json(model, indent=2, by_alias=True)) + "\n"


def _escaped(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1]


def why(operator: str) -> str:
    """Why an operator's change happens in practice; empty for one that is not installed here."""
    from agentmut._base import PluginError
    from agentmut.seams import load

    try:
        return str(load("operators", operator).why)
    except PluginError:
        return ""


def _narrowed(result: "Result", listed: frozenset[str]) -> "Result":
    return result.model_copy(update={"mutants": tuple(row for row in result.mutants if row.id in listed)})
