"""The gateway of a session: a proxy for each model service, and the environment variables that lead there."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
)
from itertools import count
from typing import NamedTuple, Protocol
from urllib.parse import quote

from agentmut.nouns import Codec
from agentmut.recording import TRIAL_PREFIX, Trial
from agentmut.wire.carriers.proxy.courier import Courier
from agentmut.wire.carriers.proxy.interception import Interception, open_interception, targets
from agentmut.wire.carriers.proxy.roster import AdmittedTrials
from agentmut.wire.carriers.proxy.security import new_token
from agentmut.wire.carriers.proxy.server import Proxy
from agentmut.wire.carriers.proxy.upstream import Door, doors_of, past_http_proxies
from agentmut.wire.carriers.throttle import Throttle
from agentmut.wire.codecs import all_codecs


class ToolDoors(Protocol):
    """The addresses at which messages between agents and their tool servers pass."""

    def variables(self, trial: str) -> dict[str, str]:
        """Return the environment variables that lead a trial's program to these addresses."""


class NoToolDoors:
    """Tool servers are not met."""

    def variables(self, trial: str) -> dict[str, str]:
        """Return no variables."""
        return {}


class ServiceGateway:
    """Endpoints for the programs of trials; see `open_gateway`."""

    def __init__(
        self,
        doors: Mapping[str, Door],
        roster: AdmittedTrials,
        besides: Mapping[str, str],
        tools: ToolDoors,
        interception: Interception | None = None,
    ) -> None:
        self._doors = doors
        self._tools = tools
        self._roster = roster
        self._besides = besides
        self._interception = interception
        self._numbers = count(1)

    def attempt(self, trial_id: str) -> "NamedAttempt":
        """Return the addresses for one attempt; requests of earlier attempts do not count as its own."""
        name = f"{trial_id}.{next(self._numbers)}"
        found = {**self._besides, **self._tools.variables(name)}
        for origin, door in self._doors.items():
            found.update(door.variables(f"{origin}{TRIAL_PREFIX}{quote(name, safe='')}"))
        if self._interception:
            found.update(self._interception.variables(name))
        return NamedAttempt(name, found, self._roster)


class NamedAttempt(NamedTuple):
    """An attempt with its name, which is part of the addresses that its program gets."""

    name: str
    endpoints: Mapping[str, str]
    roster: AdmittedTrials

    def admitted(self, trial: Trial) -> AbstractContextManager[None]:
        """Accept requests of the trial during the block, and refuse them afterwards."""
        return self.roster.admitted(trial, self.name)


@asynccontextmanager
async def open_gateway(
    environment: Mapping[str, str],
    throttle: Throttle | None = None,
    port: int | None = None,
    codecs: tuple[Codec, ...] | None = None,
    tool_doors: Callable[[AdmittedTrials], AbstractAsyncContextManager[ToolDoors]] | None = None,
    intercept: Sequence[str] | None = None,
) -> AsyncIterator[ServiceGateway]:
    """Serve while the context is open.

    Services are those that the environment names, or else the real ones. At `port`, where given, all of them are
    served together to agents that are already running: requests without a trial's name belong to the only one under
    way. `tool_doors` opens the way to tool servers for the trials of a roster. With `intercept`, programs that
    hard-code the address of a service, or of one of these hosts, are led here as well. Raises `RunError` when a port
    cannot be had, `UsageError` for variables that hold no URL.
    """
    roster = AdmittedTrials()
    doors = doors_of(environment)
    async with AsyncExitStack() as stack:
        origins = {}
        for door in doors:
            proxy = Proxy([door.upstream], roster, codecs=codecs, throttle=throttle, token=new_token())
            origins[await stack.enter_async_context(proxy.serving())] = door
        if port is not None:
            upstreams = [door.upstream for door in doors]
            together = Proxy(upstreams, roster, codecs=codecs, throttle=throttle)
            await stack.enter_async_context(together.serving(port=port))
        tools = await stack.enter_async_context(tool_doors(roster)) if tool_doors else NoToolDoors()
        taken = None
        if intercept is not None:
            courier = Courier(all_codecs() if codecs is None else codecs, throttle, None)
            opened = open_interception(environment, targets(doors, intercept), roster, courier)
            taken = await stack.enter_async_context(opened)
        yield ServiceGateway(origins, roster, past_http_proxies(environment), tools, taken)
