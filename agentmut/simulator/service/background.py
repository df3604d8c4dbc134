"""A simulator in its own thread, for code that does something else at the same time."""

import asyncio
import threading
from types import TracebackType

from agentmut.simulator.service.addresses import Addresses, exports
from agentmut.simulator.service.server import serve
from agentmut.simulator.service.service import ReceivedRequest
from agentmut.simulator.service.service_settings import Settings

_PATIENCE = 30.0
"""Seconds for starting and for stopping, of which both need a fraction."""


class Simulator:
    """A running simulator with its addresses and its received requests. A context manager, or `start` and `stop`."""

    def __init__(self, settings: Settings = Settings()) -> None:  # noqa: B008 - cannot be changed
        self.settings = settings
        self.requests: list[ReceivedRequest] = []
        """What was received, in the order of arrival; those that met trouble too."""
        self._addresses = Addresses("")
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name="agentmut-simulator")
        self._serving = serve(**settings._asdict(), received=self.requests.append)

    @property
    def openai_base_url(self) -> str:
        """Return what `OPENAI_BASE_URL` wants."""
        return self._addresses.openai_base_url

    @property
    def anthropic_base_url(self) -> str:
        """Return what `ANTHROPIC_BASE_URL` wants."""
        return self._addresses.anthropic_base_url

    @property
    def gemini_base_url(self) -> str:
        """Return what `GOOGLE_GEMINI_BASE_URL` wants."""
        return self._addresses.gemini_base_url

    @property
    def bedrock_endpoint(self) -> str:
        """Return the `endpoint_url` of `bedrock-runtime` and `bedrock-agent-runtime`."""
        return self._addresses.bedrock_endpoint

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables that lead all SDKs here, such as for `monkeypatch.setenv` or a subprocess."""
        return exports(self._addresses, self.settings)

    def of(self, trial: str) -> Addresses:
        """Return the addresses for the requests of one trial, which has its own random draws and faults."""
        return self._addresses.of(trial)

    def requests_of(self, trial: str) -> list[ReceivedRequest]:
        """Return the received requests of one trial; "" stands for requests without a trial."""
        return [received for received in self.requests if received.trial == trial]

    def start(self) -> "Simulator":
        """Serve from now on."""
        self._thread.start()
        try:
            entered = asyncio.run_coroutine_threadsafe(self._serving.__aenter__(), self._loop)
            self._addresses = Addresses.found_at(entered.result(_PATIENCE))
        except BaseException:
            self._end()
            raise
        return self

    def stop(self) -> None:
        """Stop serving; requests under way, also hanging ones, are cut off."""
        left = asyncio.run_coroutine_threadsafe(self._serving.__aexit__(None, None, None), self._loop)
        try:
            left.result(_PATIENCE)
        finally:
            self._end()

    def __enter__(self) -> "Simulator":
        return self.start()

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.stop()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_PATIENCE)
        self._loop.close()
