"""Clients of Amazon's SDK for the adapters that call it themselves."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from os import environ
from threading import Lock
from typing import Any, ClassVar

from agentmut._base import AdapterError, UsageError, nearest
from agentmut.adapters._shared.sdk_version import Requirement
from agentmut.seams import AgentSpec


def boto3_requirement(adapter: str) -> Requirement:
    """Return what the adapters of Bedrock need."""
    return Requirement(adapter, "boto3", (1, 40), (2, 0), "bedrock", ("botocore",))


AT_ONCE = 64
"""Connections that a client keeps open; more than that at once are made and thrown away."""


@dataclass(eq=False)
class Boto3:
    """The client for an agent's runs, made by `made` when the first run begins.

    It keeps nothing of a run, may be used by several threads, and takes long to make.
    """

    _lock: ClassVar[Lock] = Lock()

    service: str
    region: str | None = None
    read_timeout: float = field(default=60, kw_only=True)
    made: Callable[[Any], None] = field(default=lambda client: None, kw_only=True)

    def client(self) -> Any:
        """Return the client. Raise `AdapterError` if there is no region, or no credentials."""
        with self._lock:
            return self._client

    @property
    def _takes_keys(self) -> bool:
        return self.service == "bedrock-runtime"

    @cached_property
    def _client(self) -> Any:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError, NoRegionError

        config = Config(read_timeout=self.read_timeout, max_pool_connections=AT_ONCE)
        try:
            session = boto3.Session(region_name=self.region)
            if not (self._takes_keys and environ.get(_BEARER)) and session.get_credentials() is None:
                raise AdapterError(_NO_KEY.format(_KEYS[self._takes_keys]))
            client = session.client(self.service, config=config)
        except NoRegionError:
            raise AdapterError(_NO_REGION) from None
        except (BotoCoreError, ValueError) as error:
            raise AdapterError(f"no client of {self.service} could be made: {error}") from error
        self.made(client)
        return client


_BEARER = "AWS_BEARER_TOKEN_BEDROCK"
"""An API key of Bedrock; boto3 looks for it when it makes the client, and does not count it as credentials."""
_NO_KEY = (
    "no client could be made: there are no credentials. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
    "AWS_PROFILE{}"
)
_KEYS = {True: f", or {_BEARER}", False: f"; API keys of Bedrock ({_BEARER}) are not for its agents"}
_NO_REGION = (
    "no client could be made: no region is known. Set AWS_DEFAULT_REGION (boto3 does not look at AWS_REGION), or "
    "agent.options.region"
)


@contextmanager
def hung_up(stream: Any) -> Iterator[None]:
    """Close an event stream after the block, whether it was read or not."""
    try:
        yield
    finally:
        stream.close()


def region_of(spec: AgentSpec, known: Collection[str]) -> str | None:
    """Return `agent.options.region`, once the names of all options are checked. Raises `UsageError`."""
    for name in spec.options:
        if name not in known:
            raise UsageError(f"agent.options: unknown key {name!r}. {nearest(name, known)}")
    return text_option(spec, "region")


def text_option(spec: AgentSpec, name: str) -> str | None:
    """Return an option that is a text. Raises `UsageError`."""
    value = spec.options.get(name)
    if value is not None and not (isinstance(value, str) and value):
        raise UsageError(f"agent.options.{name}: expected a text, found {value!r:.80}")
    return value
