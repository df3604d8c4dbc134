"""A team's view of its projects: runs, scores over time, repeated survivors, and ignored mutants with reasons.

The report in a run's folder shows the run. Where another machine has the folder, the report in the store does. Only
files and the store are read: no agent is built, and no code of users is imported.
"""

import itertools
import re
import subprocess
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import starmap
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from agentmut._base import AgentmutError, UsageError
from agentmut.nouns import Intent, MutantRow, Result, Status
from agentmut.project import Project, load_project, project_path
from agentmut.store import (
    RELATIONS,
    ListedRun,
    RelationReport,
    StoreUrl,
    SurvivorsReport,
    VerdictReport,
    Where,
    kept_reports,
    listed_runs,
    parse_relations,
    read_relations,
)
from agentmut.usecases.runtime import store_place
from agentmut.usecases.stored_reports import CHEAP, StoredReport, report_kept, stored_reports
from agentmut.usecases.trend_rows import TrendRow, row_of

TeamReport = Result | VerdictReport | RelationReport | SurvivorsReport
UNNOTICED = (Status.SURVIVED, Status.NO_COVERAGE)
LATEST = 12
"""Campaigns over which survivors are shown."""
_GIT_SECONDS = 10
"""Seconds after which git is no longer waited for."""


class SeenRun(NamedTuple):
    """A run in a list, from its report or from the store."""

    id: str
    kind: str
    """run, test or compare; empty where there is no report."""
    status: str
    trials: int
    """Trials that the run executed itself."""
    row: TrendRow | None = None
    unnoticed: int = 0
    """Degrading mutants that survived or have no coverage."""
    note: str = ""
    """Why there is no report."""


class History(NamedTuple):
    """A degrading mutant that some campaign did not notice, with its history."""

    id: str
    operator: str
    description: str
    statuses: tuple[Status | None, ...]
    """In each campaign, the earliest first; None where the campaign does not have the mutant."""

    @property
    def unnoticed_now(self) -> bool:
        """Return whether the latest campaign with the mutant did not notice it."""
        last = [status for status in self.statuses if status is not None][-1:]
        return bool(last) and last[0] in UNNOTICED

    @property
    def times(self) -> int:
        """Return in how many campaigns the mutant was not noticed."""
        return sum(status in UNNOTICED for status in self.statuses)


class Ignored(NamedTuple):
    """A mutant that is ignored, or was."""

    id: str
    operator: str
    description: str
    reason: str
    first: str
    last: str
    """The first and the last run in which it was ignored."""
    who: str
    """Author and day of the line that ignores it, by git; empty where git does not know it."""


class TeamProject(NamedTuple):
    """One project."""

    name: str
    root: Path | None
    """Its folder; None for a project of which only the database is known."""
    runs: tuple[SeenRun, ...]
    """The earliest first."""
    campaigns: tuple[str, ...] = ()
    """Runs whose statuses `survivors` shows, the earliest first."""
    survivors: tuple[History, ...] = ()
    """Changes that are unnoticed now come first, then the most often unnoticed ones."""
    ignored: tuple[Ignored, ...] = ()
    problems: tuple[str, ...] = ()
    """What could not be read, and why."""
    of_store: Mapping[str, TeamReport] = MappingProxyType({})
    """By run: a report that the store alone has."""
    where: Where | None = None
    """The store; None where it cannot be told."""
    stored_as: str = ""
    """The project's name in a database; empty in a file."""


class _KeptReports(NamedTuple):
    """The reports of runs whose folders are not on this machine."""

    reports: tuple[StoredReport, ...] = ()
    """Results and verdicts."""
    relations: Mapping[str, RelationReport | SurvivorsReport] = MappingProxyType({})
    """By run."""
    damaged: tuple[SeenRun, ...] = ()
    """Checks of relations that cannot be read."""


def team_projects(places: Sequence[Path]) -> list[TeamProject]:
    """Return the projects in these folders or project files, and the other projects in their databases.

    Raises `UsageError` for a place that has no project.
    """
    projects = [load_project(project_path(place, "")) for place in places]
    own = [_project(project) for project in projects]
    names = _distinct([one.name for one in own])
    found = [one._replace(name=name) for one, name in zip(own, names, strict=True)]
    taken = {one.stored_as for one in own if one.stored_as}
    for project in projects:
        for name, runs, kept in _of_others(project, taken):
            taken.add(name)
            seen = _seen(f"{name} (database)", None, (), runs, kept)
            found.append(seen._replace(where=store_place(project), stored_as=name))
    return found


def _distinct(names: Sequence[str]) -> list[str]:
    """Return the names, with a number after repeated ones.

    >>> _distinct(["desk", "shop", "desk", "desk 2", "desk"])
    ['desk', 'shop', 'desk 2', 'desk 2 2', 'desk 3']
    """
    found: list[str] = []
    for name in names:
        numbered = (f"{name} {number}" for number in itertools.count(2))
        found.append(next(one for one in itertools.chain([name], numbered) if one not in found))
    return found


def _of_others(
    project: Project, taken: Iterable[str]
) -> Iterator[tuple[str, tuple[ListedRun, ...], _KeptReports]]:
    """Yield the other projects in a project's database, without those that are shown already."""
    with suppress(AgentmutError):  # the project itself names the problem
        if isinstance(where := store_place(project), StoreUrl):
            shown = set(taken)
            others = {name: runs for name, runs in listed_runs(where).items() if name not in shown}
            yield from ((name, runs, _stored_reports(where, name, ())) for name, runs in others.items())


def _project(project: Project) -> TeamProject:
    """Return a project of this machine."""
    problems: list[str] = []
    stored: tuple[ListedRun, ...] = ()
    kept = _KeptReports()
    where: Where | None = None
    shared = ""
    try:
        where = store_place(project)
        shared = where.project if isinstance(where, StoreUrl) else ""
        stored = listed_runs(where).get(shared, ())
        kept = _stored_reports(where, shared, {path.name for path in project.runs.glob("*")})
    except AgentmutError as error:
        problems.append(str(error))
    reports = tuple(stored_reports(project.runs))
    found = _seen(project.root.name or "project", project, reports, stored, kept)
    return found._replace(problems=tuple(problems), where=where, stored_as=shared)


def _stored_reports(where: Where, name: str, here: Collection[str]) -> _KeptReports:
    """Read the reports that a store has of a project, without those of runs whose folders are `here`."""
    reports: list[StoredReport] = []
    relations: dict[str, RelationReport | SurvivorsReport] = {}
    damaged: list[SeenRun] = []
    for each in kept_reports(where, name, here):
        if each.name != RELATIONS:
            reports.append(report_kept(each))
            continue
        try:
            place = f"{each.name} of run {each.run} in the store"
            relations[each.run] = parse_relations(partial(str, each.text), place)
        except UsageError as error:
            damaged.append(SeenRun(each.run, "", "damaged", 0, note=str(error)))
    return _KeptReports(tuple(reports), relations, tuple(damaged))


def _seen(
    name: str,
    project: Project | None,
    reports: Sequence[StoredReport],
    stored: Sequence[ListedRun],
    kept: _KeptReports,
) -> TeamProject:
    """Return a project as its reports and its store show it; None stands for one whose folder is elsewhere."""
    every = sorted((*reports, *kept.reports), key=lambda each: each.run)
    results = [
        (each.run, each.report) for each in every if isinstance(each.report, Result) and each.kind != CHEAP
    ]
    campaigns = results[-LATEST:]
    return TeamProject(
        name=name,
        root=project.root if project else None,
        runs=tuple(_runs(project.runs if project else None, every, stored, kept)),
        campaigns=tuple(run for run, _ in campaigns),
        survivors=tuple(histories([result for _, result in campaigns])),
        ignored=tuple(_ignored(project, results)),
        of_store={**kept.relations, **{each.run: each.report for each in kept.reports if each.report}},
    )


def _runs(
    project_runs: Path | None,
    reports: Sequence[StoredReport],
    stored: Sequence[ListedRun],
    kept: _KeptReports,
) -> Iterator[SeenRun]:
    """Return the runs with a report, and the store's other runs, in the order of their ids."""
    trials = {run.id: run.trials for run in stored}
    files = sorted(project_runs.glob("*/relations.json")) if project_runs else []
    found: list[SeenRun] = []
    before: TrendRow | None = None
    for each in reports:
        if each.report is None:
            note = each.problem
            found.append(SeenRun(each.run, "", "damaged", trials.get(each.run, 0), note=note))
            continue
        row = row_of(each.report, before, {})
        before = before if each.kind == CHEAP else row
        unnoticed = _unnoticed(each.report.mutants) if isinstance(each.report, Result) else 0
        found.append(SeenRun(each.run, each.kind, row.status, row.runs_of_agent, row, unnoticed))
    shown = {run.id for run in found}
    checks = (*_of_relations(files), *starmap(_relations_run, kept.relations.items()), *kept.damaged)
    found += (check for check in checks if check.id not in shown)
    shown = {run.id for run in found}
    found += (_only_stored(run) for run in stored if run.id not in shown)
    yield from sorted(found, key=lambda run: run.id)


def _of_relations(files: Iterable[Path]) -> Iterator[SeenRun]:
    """Yield the checks of relations."""
    for path in files:
        try:
            yield _relations_run(path.parent.name, read_relations(path))
        except UsageError as error:
            yield SeenRun(path.parent.name, "", "damaged", 0, note=str(error))


def _relations_run(run: str, report: RelationReport | SurvivorsReport) -> SeenRun:
    return SeenRun(run, report.kind, report.status, report.cost.trials)


def _only_stored(run: ListedRun) -> SeenRun:
    note = "Its report is not on this machine and not in the store, which knows its trials."
    return SeenRun(run.id, "", run.status, run.trials, note=note)


def _unnoticed(rows: Iterable[MutantRow]) -> int:
    return sum(row.intent is Intent.DEGRADE and row.status in UNNOTICED for row in rows)


def histories(results: Sequence[Result]) -> list[History]:
    """Return each degrading mutant that some of these results did not notice, with its status in all of them.

    >>> histories([])
    []
    """
    by_run = [{row.id: row for row in result.mutants} for result in results]
    seen = {
        row.id: row
        for result in results
        for row in result.mutants
        if row.intent is Intent.DEGRADE and row.status in UNNOTICED
    }
    found = [
        History(id, row.operator, row.description, tuple(rows[id].status if id in rows else None for rows in by_run))
        for id, row in seen.items()
    ]  # fmt: skip
    return sorted(found, key=lambda each: (not each.unnoticed_now, -each.times, each.id))


def _ignored(project: Project | None, results: Sequence[tuple[str, Result]]) -> Iterator[Ignored]:
    """Yield the mutants that some run ignored, with the reason that the latest of these runs gives."""
    found: dict[str, list[tuple[str, MutantRow]]] = {}
    for run, result in results:
        for row in result.mutants:
            if row.status is Status.IGNORED:
                found.setdefault(row.id, []).append((run, row))
    blamed = {file: list(_blame(file)) for file in _files_of(project)} if found and project else {}
    for id, times in found.items():
        row = times[-1][1]
        yield Ignored(
            id=id,
            operator=row.operator,
            description=row.description,
            reason=row.reason,
            first=times[0][0],
            last=times[-1][0],
            who=_author(blamed.values(), id, row.reason),
        )


def _files_of(project: Project) -> Iterator[Path]:
    """Yield the files that may list ignored mutants: the project file and the prompt's file."""
    yield project.path
    if project.sources.prompt is not None:
        yield project.root / project.sources.prompt


class _Line(NamedTuple):
    text: str
    who: str


def _author(files: Iterable[Sequence[_Line]], id: str, reason: str) -> str:
    """Return the author of the line that ignores a mutant: the line with its id, else the line with the reason."""
    lines = [line for file in files for line in file]
    for word in (id, reason):
        for line in lines:
            if word and word in line.text:
                return line.who
    return ""


def _blame(file: Path) -> Iterator[_Line]:
    """Yield the lines of a file with author and day from git; none without git."""
    command = ["git", "-C", str(file.parent), "blame", "--line-porcelain", "--", file.name]
    try:
        done = subprocess.run(command, capture_output=True, check=True, timeout=_GIT_SECONDS)
    except (OSError, subprocess.SubprocessError):
        return
    author = day = ""
    for line in done.stdout.decode("utf-8", "replace").split("\n"):
        if line.startswith("author "):
            author = line.removeprefix("author ")
        elif match := re.fullmatch(r"author-time (\d+)", line):
            day = _day(int(match[1]))
        elif line.startswith("\t"):
            yield _Line(
                line[1:], f"{author}, {day}" if author != "Not Committed Yet" else "not committed yet"
            )


def _day(seconds: int) -> str:
    from datetime import UTC, datetime

    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"
