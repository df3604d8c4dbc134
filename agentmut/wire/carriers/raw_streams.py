"""The stream beneath a response of requests or botocore: urllib3's, through a relay."""

from collections.abc import Iterator
from typing import Any

from agentmut.wire.carriers.passage import Relay


class PassingRaw:
    """urllib3's response, of which the agent is given what the relay returns."""

    def __init__(self, raw: Any, relay: Relay) -> None:
        self._raw = raw
        self._relay = relay

    def stream(self, *arguments: Any, **options: Any) -> Iterator[bytes]:
        """Yield the pieces of the body."""
        return self._relay.through(self._raw.stream(*arguments, **options))

    def close(self) -> None:
        """Close the connection: the agent has heard enough."""
        self._relay.end()
        self._raw.close()

    def release_conn(self) -> None:
        """Give the connection back."""
        self._relay.end()
        self._raw.release_conn()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)
