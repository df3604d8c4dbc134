"""Interception beside a proxy that stands alone: one trial, for whatever program is given its variables."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from agentmut.wire.carriers.passage import Watch
from agentmut.wire.carriers.proxy.courier import Courier
from agentmut.wire.carriers.proxy.interception import open_interception, targets
from agentmut.wire.carriers.proxy.roster import Roster
from agentmut.wire.carriers.proxy.upstream import Door
from agentmut.wire.codecs import all_codecs


@asynccontextmanager
async def intercepting(
    environment: Mapping[str, str],
    doors: Sequence[Door],
    hosts: Sequence[str],
    roster: Roster,
    watch: Watch | None = None,
) -> AsyncIterator[Mapping[str, str]]:
    """Serve while the context is open; yield the environment variables that lead programs there.

    `hosts` are taken beside the services of the doors. Raises `UsageError` behind another proxy, for what is no host,
    and without trustme.
    """
    courier = Courier(all_codecs(), None, watch)
    async with open_interception(environment, targets(doors, hosts), roster, courier) as interception:
        yield interception.variables("proxy")
