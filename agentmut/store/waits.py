"""How long stored trials waited for model services."""

import json

from sqlalchemy import Connection, Text, cast, func, select

from agentmut.nouns import Ending
from agentmut.store.quarantine import sound
from agentmut.store.schema import trials

LATEST = 500
"""So many trials are looked at."""


def waits_by_scenario(connection: Connection) -> dict[str, list[float]]:
    """Return the waits of the latest trials that were answered, by scenario, in seconds."""
    waited = func.json_extract(cast(trials.c.trace, Text), "$.service.waits")
    answered = trials.c.ending == Ending.ANSWERED.value
    query = (
        select(trials.c.scenario, waited).where(answered, sound()).order_by(trials.c.id.desc()).limit(LATEST)
    )
    found: dict[str, list[float]] = {}
    for scenario, waits in connection.execute(query):
        found.setdefault(scenario, []).extend(json.loads(waits or "[]"))
    return found
