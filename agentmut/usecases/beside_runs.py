"""What stands beside the report of a run in the store: coverage, what was judged again, and relations."""

from functools import partial
from typing import NamedTuple

from agentmut.insight import Coverage, parse_coverage
from agentmut.store import (
    COVERAGE,
    RELATIONS,
    RESCORED,
    SURVIVORS,
    RelationReport,
    Rescored,
    SurvivorsReport,
    Where,
    kept_reports,
    parse_relations,
    parse_rescored,
)


class KeptBeside(NamedTuple):
    """The documents of one run."""

    rescored: Rescored | None = None
    coverage: Coverage | None = None
    relations: tuple[RelationReport | SurvivorsReport, ...] = ()
    """The run's own check of relations, and the latest one on its survivors."""


def kept_beside(where: Where, project: str, run: str) -> KeptBeside:
    """Return what a store has beside the report of a run of a project.

    Raises `UsageError` for a document that cannot be read, and `StoreError` for such a store.
    """
    kept = kept_reports(where, project, names=(COVERAGE, RESCORED, RELATIONS, SURVIVORS), run=run)
    found = {one.name: (partial(str, one.text), f"{one.name} of run {run} in the store") for one in kept}
    return KeptBeside(
        rescored=parse_rescored(*found[RESCORED]) if RESCORED in found else None,
        coverage=parse_coverage(*found[COVERAGE]) if COVERAGE in found else None,
        relations=tuple(parse_relations(*found[name]) for name in (RELATIONS, SURVIVORS) if name in found),
    )
