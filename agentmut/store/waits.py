"""How long stored trials waited for model services."""

from pydantic_core import from_json
from sqlalchemy import Connection, select

from agentmut.nouns import Ending
from agentmut.store.quarantine import sound
from agentmut.store.schema import trials

LATEST = 500
"""So many trials are looked at."""


def waits_by_scenario(connection: Connection) -> dict[str, list[float]]:
    """Return the waits of the latest trials that were answered, by scenario, in seconds.

    Raises `ValueError` for a damaged row.
    """
    answered = trials.c.ending == Ending.ANSWERED.value
    query = (
        select(trials.c.scenario, trials.c.trace)
        .where(answered, sound())
        .order_by(trials.c.id.desc())
        .limit(LATEST)
    )
    found: dict[str, list[float]] = {}
    for scenario, trace in connection.execute(query):
        found.setdefault(scenario, []).extend(from_json(trace).get("service", {}).get("waits", ()))
    return found
