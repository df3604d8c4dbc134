"""The pages that `agentmut serve` shows: made when they are asked for, or all at once into a folder."""

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain, combinations, count
from pathlib import Path
from typing import TYPE_CHECKING

from agentmut._base import AgentmutError, UsageError, unwritten, write_whole

if TYPE_CHECKING:
    from agentmut.nouns import Result
    from agentmut.report import Extra, Links
    from agentmut.usecases import TeamProject, TeamReport

Page = Callable[[str], str]
"""Makes a page for a user, whose name may be empty."""
FRESH = 5.0
"""Seconds for which the list of runs is kept before it is read anew."""
LIST = "serve-bundle.json"
"""The list of the files of a bundle: it tells a bundle from a folder with files of a user."""
HOME = "index.html"
WRITTEN = "report.html"
"""The page in the folder of a run."""
NO_RUNS = "No stored run is shown: that would build the agent. `agentmut report --bundle DIR` shows them."
PAGED = ("run", "test", "compare", "relations")
"""Kinds of runs that have a page."""


class Site:
    """The pages of some projects, by path. Used by one thread at a time."""

    def __init__(self, places: Sequence[Path]) -> None:
        self._places = places
        self._pages: Mapping[str, Page] = {}
        self._read = 0.0

    def pages(self) -> Mapping[str, Page]:
        """Return the pages by their paths, read anew after some seconds. Raises `UsageError`."""
        if not self._pages or time.monotonic() - self._read > FRESH:
            self._pages = _pages(self._places)
            self._read = time.monotonic()
        return self._pages

    def page(self, path: str, user: str = "") -> str | None:
        """Return the page at a path; None where there is none."""
        if not path or path.endswith("/"):
            path += HOME
        made = self.pages().get(path)
        return None if made is None else made(user)


def write_site(folder: Path, site: Site) -> list[str]:
    """Write every page into a folder, and return the paths within it. An earlier bundle there is replaced.

    Raises `UsageError` for a folder with other files, and for one that cannot be written.
    """
    pages = site.pages()
    try:
        _emptied(folder)
        for path, made in pages.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            write_whole(folder / path, made("").encode("utf-8", "replace"))
        write_whole(folder / LIST, json.dumps({"files": sorted(pages)}, indent=2).encode())
    except OSError as error:
        problem = f"--bundle {folder} cannot be written"
        raise unwritten(problem, error, "Name a folder that can be made.") from None
    return list(pages)


def _emptied(folder: Path) -> None:
    """Make the folder, and remove the pages of an earlier bundle. Raises `UsageError` for a folder with other files."""
    listed = folder / LIST
    if folder.is_dir() and any(folder.iterdir()) and not listed.is_file():
        raise UsageError(
            f"--bundle {folder}: the folder has files and no {LIST}, so it is no bundle of serve. Name a new or an "
            "empty folder."
        )
    folder.mkdir(parents=True, exist_ok=True)
    if not listed.is_file():
        return
    home = folder.resolve()
    for name in _earlier(listed):
        path = (folder / name).resolve()
        if path.is_relative_to(home):
            path.unlink(missing_ok=True)


def _earlier(listed: Path) -> list[str]:
    try:
        return [str(name) for name in json.loads(listed.read_text())["files"]]
    except (ValueError, KeyError, TypeError):
        return []


def _pages(places: Sequence[Path]) -> dict[str, Page]:
    from agentmut.usecases import team_projects

    projects = team_projects(places)
    folders = dict(
        zip(
            (project.name for project in projects),
            _folders([project.name for project in projects]),
            strict=True,
        )
    )
    pages: dict[str, Page] = {HOME: partial(_home, projects, folders)}
    for project in projects:
        pages |= _of_project(project, folders[project.name])
    return pages


def _folders(names: Sequence[str]) -> list[str]:
    """Return a folder for each project, fit for an address; no two are the same.

    >>> _folders(["My desk", "my/desk", "…", "my desk 2", "my-desk"])
    ['my-desk', 'my-desk-2', 'project', 'my-desk-2-2', 'my-desk-3']
    """
    folders: list[str] = []
    for name in names:
        plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "project"
        numbered = (f"{plain}-{number}" for number in count(2))
        folders.append(next(folder for folder in chain([plain], numbered) if folder not in folders))
    return folders


def _home(projects: "Sequence[TeamProject]", folders: Mapping[str, str], user: str) -> str:
    from agentmut.report import Links, team_page

    return team_page(projects, Links(project=lambda name: f"{folders[name]}/{HOME}"), user)


def _of_project(project: "TeamProject", folder: str) -> dict[str, Page]:
    """Return the pages of a project: its own, those of its runs, and those that compare two campaigns."""
    runs = {run.id: f"runs/{_file(run.id)}" for run in project.runs if run.kind in PAGED}
    diffs = {
        (old, new): f"changes/{_file(f'{old}..{new}')}" for old, new in combinations(project.campaigns, 2)
    }
    later = {run: f"runs/{_file(f'{run}..later')}" for run in runs if _has_later_documents(project, run)}
    links = _links(runs, diffs, later)
    pages: dict[str, Page] = {f"{folder}/{HOME}": partial(_project_page, project, links)}
    for run, path in runs.items():
        pages[f"{folder}/{path}"] = partial(_run_page, project, run)
    for run, path in later.items():
        pages[f"{folder}/{path}"] = partial(_run_page, project, run, made_anew=True)
    for (old, new), path in diffs.items():
        pages[f"{folder}/{path}"] = partial(_diff_page, project, old, new)
    return pages


def _file(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", name) + ".html"


def _has_later_documents(project: "TeamProject", run: str) -> bool:
    """Return whether something was found about a run after the page that it wrote itself."""
    from agentmut.cli.runs import folder_of

    if project.root is None:
        return False
    folder = folder_of(project.root, run)
    try:
        written = (folder / WRITTEN).stat().st_mtime_ns
        return any(path.stat().st_mtime_ns > written for path in folder.glob("*.json"))
    except OSError:  # the run wrote no page, or the folder has just been removed
        return False


def _project_page(project: "TeamProject", links: "Links", user: str) -> str:
    from agentmut.report import project_page

    return project_page(project, links, user)


def _links(
    runs: Mapping[str, str], diffs: Mapping[tuple[str, str], str], later: Mapping[str, str]
) -> "Links":
    from agentmut.report import Links

    return Links(
        run=lambda run: runs.get(run, ""),
        later=lambda run: later.get(run, ""),
        diff=lambda old, new: diffs.get((old, new), ""),
        home=f"../{HOME}",
    )


def _run_page(project: "TeamProject", run: str, user: str, *, made_anew: bool = False) -> str:
    """Return the page of a run: the one that the run wrote, unless a page is to be made anew of its documents."""
    from agentmut.cli.runs import folder_of

    if (kept := project.of_store.get(run)) is not None:
        return _page_of(kept, _beside_in_store(project, run))
    assert project.root is not None
    try:
        written = folder_of(project.root, run) / WRITTEN
        if made_anew or not written.is_file():
            return _made(project.root, run)
        return written.read_text("utf-8", "replace")
    except (OSError, AgentmutError) as error:
        raise UsageError(f"the report of run {run} cannot be read: {error}") from None


def _beside_in_store(project: "TeamProject", run: str) -> "Extra":
    """Return what the page of a run of another machine shows beside its report. Raises `AgentmutError`."""
    from agentmut.report import Extra
    from agentmut.usecases import KeptBeside, kept_beside

    kept = KeptBeside() if project.where is None else kept_beside(project.where, project.stored_as, run)
    return Extra(project=project.name, no_runs=NO_RUNS, **kept._asdict())


def _made(root: Path, run: str) -> str:
    from agentmut.cli.runs import find_beside, folder_of
    from agentmut.nouns import read_result
    from agentmut.report import Extra
    from agentmut.store import read_relations, read_verdicts

    folder = folder_of(root, run)
    if (folder / "result.json").is_file():
        result = read_result(folder / "result.json")
        return _page_of(result, find_beside(root, None, result)._replace(no_runs=NO_RUNS))
    if (folder / "verdicts.json").is_file():
        return _page_of(read_verdicts(folder / "verdicts.json"), Extra())
    return _page_of(read_relations(folder / "relations.json"), Extra())


def _page_of(report: "TeamReport", extra: "Extra") -> str:
    """Return the page of a report; only the page of a campaign shows what is beside it."""
    from agentmut.nouns import Result
    from agentmut.report import View, outcomes_as, render_as
    from agentmut.store import SurvivorsReport

    if isinstance(report, Result):
        return render_as(report, "html", View(extra=extra))
    assert not isinstance(report, SurvivorsReport)  # the page of its campaign shows it
    return outcomes_as(report, "html")


def _diff_page(project: "TeamProject", old: str, new: str, user: str) -> str:
    from agentmut.report import Links, diff_page
    from agentmut.store import compare_results

    earlier = [run for run in project.campaigns[: project.campaigns.index(new)] if run != old]
    others = [(run, _file(f"{run}..{new}")) for run in earlier]
    compared = compare_results(_result(project, old), _result(project, new))
    return diff_page(compared, project.name, others, Links(home=f"../{HOME}"), user)


def _result(project: "TeamProject", run: str) -> "Result":
    from agentmut.cli.runs import folder_of
    from agentmut.nouns import Result, read_result

    kept = project.of_store.get(run)
    if isinstance(kept, Result):
        return kept
    assert project.root is not None
    return read_result(folder_of(project.root, run) / "result.json")
