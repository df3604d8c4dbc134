"""The gateway of a session: a proxy for each model service, and the environment that leads programs to them."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import NamedTuple
from urllib.parse import quote

from agentmut.trial import Trial
from agentmut.wire.codec import Codec
from agentmut.wire.codecs import CODECS
from agentmut.wire.proxy.roster import Admitted
from agentmut.wire.proxy.server import PREFIX, Proxy
from agentmut.wire.proxy.upstream import Upstream
from agentmut.wire.throttle import Throttle


class Service(NamedTuple):
    """A model service, by the environment variables that say where it is."""

    variables: tuple[str, ...]
    default: str | None
    """Where it is when no variable says; None: programs do not use it then."""
    dialects: frozenset[str]

    def base(self, environment: Mapping[str, str]) -> str | None:
        """Its base URL."""
        return next((environment[name] for name in self.variables if environment.get(name)), self.default)


SERVICES = (
    Service(
        ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
        "https://api.openai.com/v1",
        frozenset({"chat_completions", "responses"}),
    ),
    Service(
        ("ANTHROPIC_BASE_URL",), "https://api.anthropic.com", frozenset({"messages", "anthropic_messages"})
    ),
    Service(
        ("GOOGLE_GEMINI_BASE_URL",),
        "https://generativelanguage.googleapis.com",
        frozenset({"gemini", "generate_content"}),
    ),
    Service(("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_ENDPOINT_URL"), None, frozenset({"converse"})),
)
PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


class _Door(NamedTuple):
    """Where programs reach a service."""

    variables: tuple[str, ...]
    origin: str
    """The proxy's URL, without a path."""
    path: str
    """Of the service's base URL."""


class ServiceGateway:
    """Endpoints for the programs of trials; see `open_gateway`."""

    def __init__(self, doors: Sequence[_Door], roster: Admitted, environment: Mapping[str, str]) -> None:
        self._doors = doors
        self._roster = roster
        self._environment = environment
        self._attempts = 0
        self._names: dict[str, str] = {}

    def endpoints(self, trial_id: str) -> Mapping[str, str]:
        """The variables for one attempt at a trial; what an earlier attempt left behind is not taken for its own."""
        self._attempts += 1
        name = self._names[trial_id] = f"{trial_id}.{self._attempts}"
        urls = {
            variable: f"{door.origin}{PREFIX}{quote(name, safe='')}{door.path}"
            for door in self._doors
            for variable in door.variables
        }
        return {**urls, **_not_through_a_proxy(self._environment)}

    @contextmanager
    def admitted(self, trial: Trial) -> Iterator[None]:
        """Take requests of the trial while the block lasts; afterwards they are refused."""
        name = self._names.pop(trial.id, None)
        with self._roster.admitted(trial, *([name] if name else [])):
            yield


@asynccontextmanager
async def open_gateway(
    environment: Mapping[str, str],
    throttle: Throttle | None = None,
    port: int | None = None,
    codecs: tuple[Codec, ...] = CODECS,
) -> AsyncIterator[ServiceGateway]:
    """Serve while the context is open.

    Services are those that the environment names, or else the real ones. At `port`, where given, all of them are
    served together to agents that are already running: requests without a trial's name belong to the only one under
    way. Raises `RunError` when a port cannot be had, `UsageError` for variables that hold no URL.
    """
    roster = Admitted()
    bases = [(service, base) for service in SERVICES if (base := service.base(environment))]
    async with AsyncExitStack() as stack:
        doors = []
        for service, base in bases:
            upstream = Upstream(base)
            proxy = Proxy([upstream], roster, codecs=codecs, throttle=throttle)
            origin = await stack.enter_async_context(proxy.serving())
            doors.append(_Door(service.variables, origin, upstream.path))
        if port is not None:
            everything = [Upstream(base, service.dialects) for service, base in bases]
            together = Proxy(everything, roster, codecs=codecs, throttle=throttle)
            await stack.enter_async_context(together.serving(port=port))
        yield ServiceGateway(doors, roster, environment)


def _not_through_a_proxy(environment: Mapping[str, str]) -> dict[str, str]:
    """Where programs are told of an HTTP proxy, this machine must not be reached through it."""
    upper = {name.upper() for name, value in environment.items() if value}
    if not upper.intersection(PROXY_VARIABLES):
        return {}
    exempt = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    value = ",".join(filter(None, (exempt, "127.0.0.1", "localhost")))
    return {"no_proxy": value, "NO_PROXY": value}
