"""From stores of earlier versions to the tables of today: one step a version, in order."""

from collections.abc import Callable

from sqlalchemy import Connection

from agentmut.store.schema import fixed, imported, judged, proposed, quarantined

Step = Callable[[Connection], None]


def _with_ages_of_evaluators(connection: Connection) -> None:
    """Add what judges cost, which some stores of format 1 have, and when evaluators were fixed."""
    for table in (judged, fixed, proposed):
        table.create(connection, checkfirst=True)


def _with_quarantine(connection: Connection) -> None:
    """Add which trials an outage has spoiled."""
    quarantined.create(connection, checkfirst=True)


def _with_imports(connection: Connection) -> None:
    """Add the runs that other tools recorded."""
    imported.create(connection, checkfirst=True)


STEPS: tuple[Step, ...] = (_with_ages_of_evaluators, _with_quarantine, _with_imports)
"""Step k makes format k + 1 of format k, counted from 1. A change of the tables appends a step here."""
VERSION = len(STEPS) + 1
"""The format that this version writes."""


def migrate(connection: Connection, version: int) -> None:
    """Bring the tables of format `version` to those of today."""
    for step in STEPS[version - 1 :]:
        step(connection)
