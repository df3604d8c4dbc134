"""A bundle: a folder with the page of a run and a page for each mutant, for any web server or as an artifact of CI."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agentmut._base import UsageError, unwritten, write_whole
from agentmut.cli.page_runs import with_runs
from agentmut.report import Extra, View

if TYPE_CHECKING:
    from agentmut.insight import MutantRuns
    from agentmut.nouns import MutantRow, Result

LIST = "bundle.json"
"""The list of the files of a bundle: it tells a bundle from a folder with files of a user."""


def write_bundle(
    folder: Path, result: "Result", view: View, project: Path, rows: "Sequence[MutantRow]"
) -> int:
    """Write `index.html` and a page for each mutant with stored runs into the folder; return how many these are.

    An earlier bundle in the folder is replaced. Raises `UsageError` for a folder with other files, and for one that
    cannot be written.
    """
    from agentmut.report import mutant_files, render_as

    files: dict[str, str] = {}

    def each(extra: Extra) -> "Callable[[MutantRuns], None]":
        page_of = mutant_files(result, extra)

        def take(runs: "MutantRuns") -> None:
            if made := page_of(runs):
                write_whole(folder / made.path, made.text.encode("utf-8", "replace"))
                files[made.mutant] = made.path

        return take

    try:
        _emptied(folder)
        extra = with_runs(view.extra, project, result, rows, each)
        index = render_as(result, "html", view._replace(extra=extra._replace(files=files)))
        write_whole(folder / "index.html", index.encode("utf-8", "replace"))
        written = {"run": result.run_id, "files": sorted(["index.html", *files.values()])}
        write_whole(folder / LIST, json.dumps(written, indent=2).encode())
    except OSError as error:
        problem = f"--bundle {folder} cannot be written"
        raise unwritten(problem, error, "Name a folder that can be made.") from None
    return len(files)


def _emptied(folder: Path) -> None:
    """Make the folder, and remove the pages of an earlier bundle. Raises `UsageError` for a folder with other files."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / LIST).is_file():
        raise UsageError(
            f"--bundle {folder}: the folder has files and no {LIST}, so it is no bundle. Name a new or an empty folder."
        )
    (folder / "mutants").mkdir(parents=True, exist_ok=True)
    for page in (folder / "mutants").glob("*.html"):
        page.unlink()
