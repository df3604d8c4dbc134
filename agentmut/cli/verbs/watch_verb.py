"""`agentmut watch`: has the agent changed in the runs that arrive?"""

import textwrap
import time
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentmut.cli.options import Json, ProjectPath
from agentmut.cli.output import agents_on_stderr, print_json, print_page
from agentmut.cli.unread_records import unread_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentmut.insight import NearestVersion
    from agentmut.usecases import ChartRow, ImportWish, WatchReport


Sources = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="SOURCE",
        help="Files or folders with recorded runs, which are imported first. Left out: the imported runs alone.",
    ),
]
Outcome = Annotated[
    str | None,
    typer.Option("--outcome", help="What says whether a run passed: reward, score:NAME, or evaluators."),
]
PassScore = Annotated[float | None, typer.Option("--pass-score", help="The least score that passes.")]
ScenarioBy = Annotated[
    str | None, typer.Option("--scenario-by", help="The field of a record that names its scenario.")
]
Since = Annotated[
    str | None,
    typer.Option(
        "--since", help="Only runs that started then or later, such as after the last alarm was handled."
    ),
]
Version = Annotated[
    list[str] | None,
    typer.Option("--version", help="Only runs of this version of the agent, or of versions that begin so."),
]
Reference = Annotated[
    int, typer.Option("--reference", help="Number of first runs, with which later runs are compared.")
]
InControl = Annotated[float, typer.Option("--in-control", help="Runs to the first false alarm, on average.")]


WIDTH = 80
"""Characters of a line of the page."""
TOGETHER = "That hides changes in some scenarios: give --reference six runs a scenario"


def watch(
    sources: Sources = None,
    outcome: Outcome = None,
    pass_score: PassScore = None,
    scenario_by: ScenarioBy = None,
    since: Since = None,
    version: Version = None,
    reference: Reference = 50,
    drop: Annotated[float, typer.Option("--drop", help="The fall of the pass rate that matters.")] = 0.1,
    in_control: InControl = 1000,
    project: ProjectPath = Path(),
    as_json: Json = False,
) -> None:
    """Watch recorded runs that arrive: import them, and compare them with the first ones.

    Draws CUSUM and Page-Hinkley charts on the pass rate and on behaviour, with the number of runs to a false alarm.
    Exit code 0 if nothing has changed, 1 if a chart alarms, 3 if there is no run after the reference. Nothing is sent
    anywhere, so a nightly job may read the exit code.

    Example: agentmut watch traces/
    """
    from agentmut._base import ExitCode, moment
    from agentmut.store import ImportQuery
    from agentmut.usecases import ImportWish, WatchWish, watch_imports

    named = outcome.removeprefix("score:") if outcome else None
    with agents_on_stderr():
        wish = ImportWish(outcome=named, pass_score=pass_score, scenario_by=scenario_by, may_be_empty=True)
        arrived = _imported(sources, project, wish) if sources else {}
        begin = None if since is None else moment(since, time.time(), "--since")
        query = ImportQuery(since=begin, versions=tuple(version or ()))
        asked = WatchWish(query, reference, drop, in_control)
        report = watch_imports(project, asked).model_copy(update=arrived)
    if as_json:
        print_json({**report.model_dump(mode="json"), "changed": report.changed})
    else:
        print_page("\n".join(_lines(report)) + "\n")
    quiet = ExitCode.OK if report.enough else ExitCode.INCONCLUSIVE
    raise typer.Exit(int(ExitCode.FAIL if report.changed else quiet))


def _imported(sources: list[Path], project: Path, wish: "ImportWish") -> dict[str, Any]:
    """Import the runs of files and folders. Return the report's fields that count them."""
    from agentmut._base import UsageError
    from agentmut.usecases import import_traces

    files = [str(source.absolute() / "*" if source.is_dir() else source.absolute()) for source in sources]
    read = import_traces(files, project, wish)
    if read.broken and not read.stored:
        raise UsageError(f"there is no run in these files: {read.broken[0]}. Name files with recorded runs.")
    return {"added": read.added, "broken": read.broken}


def _lines(report: "WatchReport") -> list[str]:
    from agentmut.report import clean, origins_line

    came = "" if report.added is None else f"{report.added} runs imported. "
    mode = "of its own scenario" if report.within_scenarios else f"of all scenarios together. {TOGETHER}"
    lines = [
        _head(report),
        *unread_lines(report.broken),
        *_versions(report),
        f"{came}{report.watched} runs are compared with the first {report.reference}.",
        f"The behaviour of each run is compared with runs {mode}".rstrip(".") + ".",
        f"If nothing changes, the first alarm comes after {report.in_control:.0f} runs or more on average.",
        *(_line(row) for row in report.charts),
    ]
    rate = report.pass_rate
    if rate.false_alarm is not None:
        lines.append(
            f"{rate.reference_passes} of the first {rate.reference_trials} runs passed, and {rate.watched_passes} of "
            f"the {rate.watched} later runs. The chance of a false alarm of the CUSUM so far is {rate.false_alarm:.3f}."
        )
    if nearest := report.nearest:
        stated, known = (", ".join(names) or "none" for names in (nearest.stated, nearest.versions))
        lines.append(
            f"The last {nearest.runs} runs are nearest to version {nearest.version} of {known}; they state {stated}."
        )
        lines.append(_errors(nearest))
    lines.append(origins_line(report.origins))
    return [part for line in lines for part in _wrapped(clean(line))]


def _wrapped(line: str) -> list[str]:
    """Return the line in parts of `WIDTH` characters; a record that could not be read stays whole, for its path."""
    if line.startswith("  "):
        return [line]
    return textwrap.wrap(line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _errors(nearest: "NearestVersion") -> str:
    """Return the sentence on how often known runs are matched to a wrong version."""
    single = f"{nearest.error_of_one:.2f}{{}}{_by_version(nearest.errors_of_one)}, by guessing {nearest.by_chance:.2f}."
    wrong = "of known versions are matched to a wrong version"
    if nearest.batch == 1:
        return f"Single runs {wrong} {single.format(' of the time')}"
    many = f"{nearest.error_of_batch:.2f} of the time{_by_version(nearest.errors_of_batch)}"
    return f"Batches of {nearest.batch} runs {wrong} {many}, single runs {single.format('')}"


def _by_version(errors: "Mapping[str, float]") -> str:
    """Return the errors of versions in brackets, where they are not the same for all."""
    if len(set(errors.values())) < 2:
        return ""
    return f" ({', '.join(f'{name}: {rate:.2f}' for name, rate in errors.items())})"


_CHART = {"cusum": "CUSUM", "page-hinkley": "Page-Hinkley"}


def _line(row: "ChartRow") -> str:
    """Return the sentences on one chart."""
    rate = "the pass rate" if row.of == "pass rate" else row.of
    name = f"The {_CHART.get(row.chart, row.chart)} chart of {rate}"
    if row.in_control is None:
        return f"{name} watches nothing: {row.reason}."
    how = "by simulation" if row.simulated else "by an exact formula"
    usual = f"Without a change it raises one alarm in {row.in_control:.0f} runs ({how})."
    if row.alarm_at is None:
        return f"{name} raises no alarm in {row.watched} runs. {usual}"
    when = "" if row.started is None else f", {datetime.fromtimestamp(row.started, UTC):%Y-%m-%d %H:%M}"
    return f"{name} raises an ALARM at run {row.alarm_at} of {row.watched}: {row.run}{when}. {usual}"


def _head(report: "WatchReport") -> str:
    """Return the first line: whether a chart raises an alarm."""
    if report.changed:
        return "CHANGED: at least one chart raises an alarm."
    return "No change is shown." if report.enough else "Nothing is watched yet."


MOST_VERSIONS = 3
"""Versions that a page names; it counts the others."""


def _versions(report: "WatchReport") -> list[str]:
    """Return what to know where several versions of the agent made the runs, in one line."""
    versions = report.versions
    if len(versions) < 2:
        return []
    named = "; ".join(
        f"{row.version or 'without a version'}: {row.reference} of the first, {row.watched} of the later runs"
        for row in versions[:MOST_VERSIONS]
    )
    more = f"; {len(versions) - MOST_VERSIONS} more versions" if len(versions) > MOST_VERSIONS else ""
    largest = next((row.version for row in versions if row.version), "")
    return [
        f"These runs come from {len(versions)} versions of the agent ({named}{more}). A chart also raises an alarm "
        "where a later version behaves differently. To watch one version alone, give its name: "
        f"`--version {quote(largest)}`."
    ]
