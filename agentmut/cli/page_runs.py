"""The stored runs that a page shows beside a result."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agentmut._base import AgentmutError, UsageError
from agentmut.cli.output import agents_on_stderr

if TYPE_CHECKING:
    from agentmut.insight import MutantRuns
    from agentmut.nouns import MutantRow


def page_runs(project: Path, run: str, rows: "Sequence[MutantRow]") -> "tuple[tuple[MutantRuns, ...], str]":
    """Return stored runs of the mutants that a page has room for, and a sentence on what it does not show.

    Nothing is run. Where project or store cannot be read any more, there are no runs, and the sentence says why.
    """
    from agentmut.report import ROOM

    try:
        found = _stored(project, run, rows)
    except AgentmutError as error:
        return (), f"No stored run is shown: {str(error).rstrip('.')}."
    limit = f"A page holds about {ROOM / 1_000_000:g} million characters of runs; `agentmut show ID` prints others."
    return found, limit if found else "No stored run is shown: the project's store has none of this run."


def _stored(project: Path, run: str, rows: "Sequence[MutantRow]") -> "tuple[MutantRuns, ...]":
    from agentmut.project import FOLDER, load_project
    from agentmut.report import FURTHER, runs_within
    from agentmut.usecases import opened, runs_of_mutants, stand_in_keys

    with agents_on_stderr(), stand_in_keys():
        loaded = load_project(project)
        if not (loaded.root / FOLDER / "store.db").is_file():
            raise UsageError(f"{loaded.root / FOLDER} holds no trials")
        with opened(loaded) as (session, store):
            return runs_within(runs_of_mutants(session, store, run, rows, FURTHER))
