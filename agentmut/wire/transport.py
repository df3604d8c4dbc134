"""In-process carrier: sees the model requests of each trial as they leave through httpx or httpx2.

Concurrent trials are told apart by the ContextVar of `agentmut.trial`; nothing has to be configured.
"""

import asyncio
import importlib
import importlib.util
import ipaddress
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from agentmut.plain import described
from agentmut.trial import Recorder, Trial, current_trial
from agentmut.wire.codec import Codec, HttpCall
from agentmut.wire.messages import Exchange, ModelReply, ModelRequest
from agentmut.wire.throttle import Throttle

TRIAL_HEADER = "x-agentmut-trial"
SEEN = "agentmut"
"""Key in a request's extensions while it is on its way."""
LIBRARIES = ("httpx", "httpx2")


class TrialOverError(RuntimeError):
    """An abandoned run tried to reach a model after its trial had ended."""


class Tap:
    """Watches `send` of both libraries' clients while installed; see `installed`."""

    def __init__(self, codecs: tuple[Codec, ...], throttle: Throttle | None = None) -> None:
        self._codecs = codecs
        self._throttle = throttle

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Watch every client of this process until the block ends, then restore what was there."""
        with ExitStack() as stack:
            for library in filter(importlib.util.find_spec, LIBRARIES):
                module = importlib.import_module(library)
                stack.enter_context(_replaced(module.AsyncClient, "send", self._async_send))
                stack.enter_context(_replaced(module.Client, "send", self._sync_send))
            yield

    def _async_send(self, original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def send(client: Any, request: Any, **options: Any) -> Any:
            attempt = self._begin(request, await _async_body(request, self._codec(request)))
            if attempt is None:
                return await original(client, request, **options)
            with attempt:
                if self._throttle:
                    await asyncio.sleep(attempt.held(self._throttle.reserve()))
                response = await original(client, request, **options)
                attempt.answered(response, streamed=bool(options.get("stream")))
            return response

        return send

    def _sync_send(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def send(client: Any, request: Any, **options: Any) -> Any:
            attempt = self._begin(request, request.read() if self._codec(request) else b"")
            if attempt is None:
                return original(client, request, **options)
            with attempt:
                if self._throttle:
                    time.sleep(attempt.held(self._throttle.reserve()))
                response = original(client, request, **options)
                attempt.answered(response, streamed=bool(options.get("stream")))
            return response

        return send

    def _codec(self, request: Any) -> Codec | None:
        if current_trial() is None or SEEN in request.extensions:  # seen by a tap installed on top of this
            return None
        return next((codec for codec in self._codecs if codec.matches(request.url.path)), None)

    def _begin(self, request: Any, body: bytes) -> "_Attempt | None":
        trial, codec = current_trial(), self._codec(request)
        if trial is None or codec is None:
            return None
        if trial.recorder.closed:
            raise TrialOverError(f"trial {trial.id} is over; this run was abandoned at its timeout")
        if _is_loopback(request.url.host):  # a stand-in may want it; a real service is told nothing
            request.headers[TRIAL_HEADER] = trial.id
        try:
            return _Attempt(trial, codec, codec.decode_request(HttpCall(request.url.path, body)), request)
        except ValueError:  # not a request of this dialect after all: let the service judge it
            return None


class _Attempt:
    """One HTTP attempt from send to answer; records an `Exchange` however it ends."""

    def __init__(self, trial: Trial, codec: Codec, request: ModelRequest, http: Any) -> None:
        self._recorder: Recorder = trial.recorder
        self._http = http
        self._codec = codec
        self._request = request
        self._status: int | None = None
        self._reply: ModelReply | None = None

    def __enter__(self) -> None:
        self._started = self._recorder.now()
        self._recorder.count(requests=1)
        self._http.extensions[SEEN] = True

    def held(self, seconds: float) -> float:
        """The request is to wait so long for its place under the rate limit."""
        self._recorder.count(held=seconds)
        self._started += seconds
        return seconds

    def answered(self, response: Any, *, streamed: bool) -> None:
        self._status = response.status_code
        if self._status is not None and self._status < 400 and not streamed:
            try:
                self._reply = self._codec.decode_reply(response.content)
            except ValueError:
                self._reply = None  # the SDK will complain in its own words

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        self._recorder.count(requests=-1)
        self._http.extensions.pop(SEEN, None)
        self._recorder.exchanges.append(
            Exchange(
                request=self._request,
                reply=self._reply,
                status=self._status,
                error=None if error is None else described(error),
                started=self._started,
                seconds=self._recorder.now() - self._started,
                dialect=self._codec.name,
                host=self._http.url.host,
            )
        )


async def _async_body(request: Any, codec: Codec | None) -> bytes:
    return bytes(await request.aread()) if codec else b""


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@contextmanager
def _replaced(owner: Any, name: str, wrap: Callable[[Any], Any]) -> Iterator[None]:
    original = owner.__dict__[name]
    setattr(owner, name, wrap(original))
    try:
        yield
    finally:
        setattr(owner, name, original)
