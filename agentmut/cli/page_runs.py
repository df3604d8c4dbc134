"""The stored runs that a page shows beside a result, and the assertions that they suggest."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agentmut._base import AgentmutError, UsageError
from agentmut.cli.output import agents_on_stderr
from agentmut.report import Extra

if TYPE_CHECKING:
    from agentmut.campaign import Session
    from agentmut.insight import MutantRuns
    from agentmut.nouns import AssertionSuggestion, BaselineRow, MutantRow, Result
    from agentmut.store import Store

MINED = 50
"""Survivors of a page for which assertions are looked for; `agentmut show ID` does it for any."""
ALL = 1_000
"""Pairs that a page of a mutant's own has at most, beyond the typical and the telling one."""
Each = Callable[[Extra], "Callable[[MutantRuns], None]"]
"""Takes what the page shows, and gives what takes the runs of one mutant after the other."""


def with_runs(
    beside: Extra, project: Path, result: "Result", rows: "Sequence[MutantRow]", each: Each | None = None
) -> Extra:
    """Return what a page shows with the stored runs of these mutants, as far as it has room, and with assertions.

    What `each` gives takes all runs of every mutant, whether or not the page has room for them. Nothing is run. Where
    project or store cannot be read any more, there are no runs, and the page says why.
    """
    try:
        shown = _stored(beside, project, result, rows, each)
    except AgentmutError as error:
        return beside._replace(no_runs=f"No stored run is shown: {str(error).rstrip('.')}.")
    return shown._replace(no_runs=_limit(shown, bundled=each is not None))


def _limit(found: Extra, *, bundled: bool) -> str:
    from agentmut.report import ROOM

    if not found.runs:
        return "No stored trial is shown: the project's store has no trial of this run."
    others = "the mutant's own page shows all runs" if bundled else "`agentmut show ID` prints the others"
    return f"A page holds about {ROOM / 1_000_000:g} million characters of runs; {others}."


def _stored(
    beside: Extra, project: Path, result: "Result", rows: "Sequence[MutantRow]", each: Each | None
) -> Extra:
    from agentmut.project import FOLDER, project_path

    project_path(project)  # before the imports, which take half a second
    from agentmut.project import load_project
    from agentmut.report import FURTHER
    from agentmut.usecases import failing_runs, has_store, opened, runs_of_mutants, stand_in_keys

    run = result.run_id
    failing = [row.scenario for row in result.baseline if _fails(row)]
    with agents_on_stderr(), stand_in_keys():
        loaded = load_project(project)
        if not has_store(loaded):
            raise UsageError(f"{loaded.root / FOLDER} holds no trials")
        with opened(loaded) as (session, store):
            assertions = _assertions(session, store, run, rows)
            on = {assertion.mutants[0]: assertion.scenario for assertion in reversed(assertions)}
            found = runs_of_mutants(session, store, run, rows, ALL if each else FURTHER, on)
            extra = beside._replace(assertions=assertions, where=loaded.sources.scenarios)
            extra = extra._replace(failing=tuple(failing_runs(session, store, run, failing)))
            return extra._replace(runs=_runs_of_page(extra, found, each))


def _fails(row: "BaselineRow") -> bool:
    """Return whether the unchanged agent passes a scenario less often than its threshold."""
    return row.passes < row.trials and (not row.testable or (row.rate or 0.0) < row.threshold)


def _runs_of_page(extra: Extra, found: "Iterator[MutantRuns]", each: Each | None) -> "tuple[MutantRuns, ...]":
    """Return the runs that fit into the page; the receivers of `each` get all runs."""
    from agentmut.report import runs_within

    if each is None:
        return runs_within(found)
    given = _cut_pairs(found, each(extra))
    kept = runs_within(given)
    deque(given, maxlen=0)  # those for which the page has no room
    return kept


def _cut_pairs(found: "Iterable[MutantRuns]", take: "Callable[[MutantRuns], None]") -> "Iterator[MutantRuns]":
    """Yield the runs cut to as many pairs as a page shows, after the receivers got all pairs."""
    from agentmut.report import FURTHER

    for runs in found:
        take(runs)
        yield runs.model_copy(update={"pairs": runs.pairs[: FURTHER + 2]})


def _assertions(
    session: "Session", store: "Store", run: str, rows: "Sequence[MutantRow]"
) -> "tuple[AssertionSuggestion, ...]":
    """Return assertions for the first survivors that lack one; none where the run's plan was removed."""
    from agentmut.usecases import mined_assertions

    lacking = [row.id for row in rows if row.gap == "assertion"][:MINED]
    try:
        return mined_assertions(session, store, run, lacking).assertions if lacking else ()
    except AgentmutError:  # the runs can be shown all the same; `agentmut show` says why
        return ()
