"""The stored runs that a page shows beside a result, and the assertions that they suggest."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agentmut._base import AgentmutError, UsageError
from agentmut.cli.output import agents_on_stderr
from agentmut.report import Extra

if TYPE_CHECKING:
    from agentmut.campaign import Session
    from agentmut.nouns import AssertionSuggestion, MutantRow
    from agentmut.store import Store

MINED = 50
"""Survivors of a page for which assertions are looked for; `agentmut show ID` does it for any."""


def with_runs(beside: Extra, project: Path, run: str, rows: "Sequence[MutantRow]") -> Extra:
    """Return what a page shows with the stored runs of these mutants, as far as it has room, and with assertions.

    Nothing is run. Where project or store cannot be read any more, there are no runs, and the page says why.
    """
    from agentmut.report import ROOM

    try:
        found = _stored(beside, project, run, rows)
    except AgentmutError as error:
        return beside._replace(no_runs=f"No stored run is shown: {str(error).rstrip('.')}.")
    if not found.runs:
        return found._replace(no_runs="No stored run is shown: the project's store has none of this run.")
    limit = f"A page holds about {ROOM / 1_000_000:g} million characters of runs; `agentmut show ID` prints others."
    return found._replace(no_runs=limit)


def _stored(beside: Extra, project: Path, run: str, rows: "Sequence[MutantRow]") -> Extra:
    from agentmut.project import FOLDER, load_project
    from agentmut.report import FURTHER, runs_within
    from agentmut.usecases import opened, runs_of_mutants, stand_in_keys

    with agents_on_stderr(), stand_in_keys():
        loaded = load_project(project)
        if not (loaded.root / FOLDER / "store.db").is_file():
            raise UsageError(f"{loaded.root / FOLDER} holds no trials")
        with opened(loaded) as (session, store):
            assertions = _assertions(session, store, run, rows)
            on = {one.mutants[0]: one.scenario for one in reversed(assertions)}
            return beside._replace(
                runs=runs_within(runs_of_mutants(session, store, run, rows, FURTHER, on)),
                assertions=assertions,
                where=loaded.sources.scenarios,
            )


def _assertions(
    session: "Session", store: "Store", run: str, rows: "Sequence[MutantRow]"
) -> "tuple[AssertionSuggestion, ...]":
    """Return assertions for the first survivors that lack one; nothing where the run's plan has gone."""
    from agentmut.usecases import mined_assertions

    lacking = [row.id for row in rows if row.gap == "assertion"][:MINED]
    try:
        return mined_assertions(session, store, run, lacking).assertions if lacking else ()
    except AgentmutError:  # the runs can be shown all the same; `agentmut show` says why
        return ()
