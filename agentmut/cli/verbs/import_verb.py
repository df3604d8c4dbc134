"""`agentmut import`: runs that other tools recorded, into the store."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentmut.cli.options import Json, ProjectPath
from agentmut.cli.output import print_report
from agentmut.cli.unread_records import unread_lines

if TYPE_CHECKING:
    from agentmut.usecases import ImportReport

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(name="import")
def import_(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE", help="Files with recorded runs, or glob patterns of them.")
    ],
    read_as: Annotated[
        str, typer.Option("--format", help="The files' format; auto recognises each file by its content.")
    ] = "auto",
    scenario_by: Annotated[
        str | None,
        typer.Option(
            "--scenario-by", help="The field of a record that names its scenario, such as info.source."
        ),
    ] = None,
    outcome: Annotated[
        str | None,
        typer.Option(
            "--outcome",
            help="What says whether a run passed: reward, score:NAME, or evaluators, which judge it later.",
        ),
    ] = None,
    pass_score: Annotated[
        float | None, typer.Option("--pass-score", help="The least score that passes.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", help="Only runs that started then or later: 2026-05-01, 7d or 12h."),
    ] = None,
    project: ProjectPath = Path(),
    as_json: Json = False,
) -> None:
    """Import recorded runs of other tools into the store.

    Formats: OTLP/JSON, ATIF, inspect_ai, Langfuse, LangSmith, MLflow, tau-bench and tau2. Secrets are taken out
    first, a run that is stored already is not stored twice, and nothing is run. No project file is needed. An
    imported run is never the baseline of a kill.

    Example: agentmut import 'runs/*.json'
    """
    from agentmut._base import moment
    from agentmut.usecases import ImportWish, import_traces

    wish = ImportWish(
        format=read_as,
        scenario_by=scenario_by,
        outcome=outcome.removeprefix("score:") if outcome else None,
        pass_score=pass_score,
        since=None if since is None else moment(since, time.time(), "--since"),
    )
    here = [str(Path(file).absolute()) for file in files]
    report = import_traces(here, project, wish)
    print_report(report, as_json, lambda: _page(report), full=True)


def _page(report: "ImportReport") -> str:
    from agentmut.report import counted

    read = ", ".join(f"{count} of {name}" for name, count in report.formats.items())
    outcomes = ", ".join(f"{count} {name}" for name, count in report.outcomes.items())
    lines = [
        f"{counted(report.added, 'run')} imported, {report.known} stored before ({read}).",
    ]
    if outcomes:
        lines.append(f"{counted(report.scenarios, 'scenario')}; {outcomes}.")
    if report.earlier:
        lines.append(
            f"{counted(report.earlier, 'run')} left out: started before --since, or at an unknown time."
        )
    if report.unfinished:
        lines.append(
            f"{counted(report.unfinished, 'run')} left to the next import: still at work, as the first span is missing."
        )
    if report.masked:
        lines.append(f"Secrets were taken out of {counted(report.masked, 'run')}.")
    lines += unread_lines(report.broken)
    lines.append(
        f"The store holds {counted(report.stored, 'imported run')} ({report.stored_bytes / 2**20:.1f} MiB). "
        "Next: `agentmut analyze` looks at them. For verdicts, coverage and relations, `agentmut init` writes a "
        "project."
    )
    return "\n".join(lines) + "\n"
