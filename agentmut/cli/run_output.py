"""What the verbs that measure print of a run."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from agentmut.cli.output import print_document, project_option, terminal_width, wants_color

if TYPE_CHECKING:
    from agentmut.nouns import Result


def print_result(result: "Result", as_json: bool, project: Path = Path(), *, full: bool = False) -> None:
    """Print a run as JSON, as the whole report, or as a summary; at a terminal also write the summary's page."""
    if as_json:
        print_document(result.model_dump_json(indent=2, by_alias=True))
        return
    from agentmut.report import render, render_summary

    where, width = project_option(project), terminal_width()
    if full:
        text = render(result, wants_color(), None, where, width)
    else:
        html = write_page(result, project) if sys.stdout.isatty() else ""
        text = render_summary(result, wants_color(), where, width, html=html)
    typer.echo(text, nl=False)


def write_page(result: "Result", project: Path) -> str:
    """Write the HTML page of a run beside its `result.json` and return its path; empty where that cannot be done.

    The result is stored already, so a full disk or a damaged store loses nothing here.
    """
    from agentmut._base import AgentmutError, write_whole
    from agentmut.cli.page_runs import with_runs
    from agentmut.cli.runs import find_beside, folder_of
    from agentmut.report import View, most_worrying_first, render_as

    path = folder_of(project, result.run_id) / "report.html"
    try:
        shown = most_worrying_first(result.mutants)
        extra = with_runs(find_beside(project, None, result), project, result, shown)
        write_whole(path, render_as(result, "html", View(extra=extra)).encode("utf-8", "replace"))
    except (OSError, AgentmutError):
        return ""
    here = Path.cwd().resolve()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
