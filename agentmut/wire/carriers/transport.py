"""In-process carrier: the model requests of each trial as they leave through httpx or httpx2.

Concurrent trials are told apart by the ContextVar of `agentmut.recording.current`; nothing has to be configured. Tasks,
`asyncio.to_thread` and what is submitted to a `ThreadPoolExecutor` carry it along. A bare `threading.Thread` and
other processes do not: their requests pass unseen.
"""

import asyncio
import importlib
import importlib.util
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar, copy_context
from typing import Any

from agentmut.nouns import Codec, HttpCall
from agentmut.recording import TRIAL_HEADER, current_trial
from agentmut.wire.carriers import genai_hook
from agentmut.wire.carriers.hosts import is_loopback
from agentmut.wire.carriers.http_replies import ReplyMaker
from agentmut.wire.carriers.packing import PackingError, is_packed, unpacked
from agentmut.wire.carriers.passage import Passage, begin
from agentmut.wire.carriers.patching import replaced
from agentmut.wire.carriers.signing import signed_again
from agentmut.wire.carriers.throttle import Throttle

SEEN = "agentmut"
"""Key in a request's extensions while it is on its way."""
LARGEST_REQUEST = 256 * 2**20
"""Bytes of a packed body that is unpacked."""
LIBRARIES = ("httpx", "httpx2")

_own: "ContextVar[Tap | None]" = ContextVar("agentmut_tap", default=None)
"""The tap of the session that the calling code belongs to: several sessions of a process each carry their own."""


class Tap:
    """Carries what `send` of both libraries' clients sends while installed; see `installed`."""

    def __init__(self, codecs: tuple[Codec, ...], throttle: Throttle | None = None) -> None:
        self._codecs = codecs
        self._throttle = throttle

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Carry for every client of this process until the block ends, then restore what was there."""
        outer = _own.get()
        with ExitStack() as stack:
            stack.callback(_own.set, outer)  # also where the block ends in another context than it began in
            _own.set(self)
            for library in filter(importlib.util.find_spec, LIBRARIES):
                module = importlib.import_module(library)
                maker = ReplyMaker(module)
                stack.enter_context(replaced(module.AsyncClient, "send", self._async_send(maker)))
                stack.enter_context(replaced(module.Client, "send", self._sync_send(maker)))
            stack.enter_context(replaced(ThreadPoolExecutor, "submit", _submit_with_trial))
            genai_hook.enter(stack)
            yield

    def _async_send(self, maker: ReplyMaker) -> Callable[..., Any]:
        def wrap(original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
            async def send(client: Any, request: Any, **options: Any) -> Any:
                body = bytes(await request.aread()) if self._may_see(request) else None
                passage = self._passage(request, body)
                if passage is None:
                    return await original(client, request, **options)
                await _pause(passage.pause)
                if played := passage.played():
                    return await _aread(maker.played(request, played), options)
                while True:
                    with passage:
                        await _pause(passage.hold(self._throttle))
                        outgoing = _outgoing(request, passage.call)
                        try:
                            response = await original(client, outgoing, **options)
                        finally:
                            outgoing.extensions.pop(SEEN, None)
                        _give_back(request, outgoing, response)
                        if relayed := maker.passing(response, passage, options):
                            return relayed
                        given = passage.received(response.status_code, await response.aread())
                    if given is not None:
                        return await _aread(maker.given(response, given, options), options)

            return send

        return wrap

    def _sync_send(self, maker: ReplyMaker) -> Callable[..., Any]:
        def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
            def send(client: Any, request: Any, **options: Any) -> Any:
                passage = self._passage(request, request.read() if self._may_see(request) else None)
                if passage is None:
                    return original(client, request, **options)
                time.sleep(passage.pause)
                if played := passage.played():
                    return _read(maker.played(request, played), options)
                while True:
                    with passage:
                        time.sleep(passage.hold(self._throttle))
                        outgoing = _outgoing(request, passage.call)
                        try:
                            response = original(client, outgoing, **options)
                        finally:
                            outgoing.extensions.pop(SEEN, None)
                        _give_back(request, outgoing, response)
                        if relayed := maker.passing(response, passage, options):
                            return relayed
                        given = passage.received(response.status_code, response.read())
                    if given is not None:
                        return _read(maker.given(response, given, options), options)

            return send

        return wrap

    def _may_see(self, request: Any) -> bool:
        if current_trial() is None or SEEN in request.extensions:  # seen by a tap installed on top of this
            return False
        if _own.get() not in (None, self):
            return False
        return any(codec.matches(_path(request)) for codec in self._codecs)

    def _passage(self, request: Any, body: bytes | None) -> Passage | None:
        trial = current_trial()
        if trial is None or body is None:
            return None
        with suppress(PackingError):  # then it passes unread, and the service judges it
            body = unpacked(body, LARGEST_REQUEST)
        passage = begin(trial, self._codecs, _path(request), body, host=request.url.host)
        if is_loopback(request.url.host):  # a stand-in may want it; a real service is told nothing
            request.headers[TRIAL_HEADER] = trial.id
        return passage


async def _aread(response: Any, options: Mapping[str, Any]) -> Any:
    """Return the response, read whole unless the client streams it."""
    if not options.get("stream"):
        await response.aread()
    return response


def _read(response: Any, options: Mapping[str, Any]) -> Any:
    if not options.get("stream"):
        response.read()
    return response


async def _pause(seconds: float) -> None:
    """Wait, whichever library runs the agent's coroutines; without leaving it where there is nothing to wait for."""
    if not seconds:
        return
    try:
        asyncio.get_running_loop()
    except RuntimeError:  # trio
        import anyio

        await anyio.sleep(seconds)
    else:
        await asyncio.sleep(seconds)


def _path(request: Any) -> str:
    return str(request.url.raw_path.decode("ascii"))


def _outgoing(request: Any, call: HttpCall) -> Any:
    """Return the request with this path and body, marked as seen."""
    headers = request.headers.copy()
    for length in (
        "content-length",
        "transfer-encoding",
    ):  # one of them is set anew, for a body that is all there
        headers.pop(length, None)
    if not is_packed(call.body):
        headers.pop("content-encoding", None)
    url = request.url.copy_with(raw_path=call.path.encode("ascii"))
    if (call.path, call.body) != (_path(request), request.content):
        headers.update(signed_again(request.method, str(url), headers, call.body))
    return type(request)(
        request.method,
        url,
        headers=headers,
        content=call.body,
        extensions={**request.extensions, SEEN: True},
    )


def _give_back(request: Any, outgoing: Any, response: Any) -> None:
    """Give back what the agent will send again (a retry, a redirect), so that it is seen again."""
    for sent in (response.request, response.next_request):
        if sent is not None:
            sent.extensions.pop(SEEN, None)
    if response.request is outgoing:
        response.request = request


def _submit_with_trial(original: Callable[..., Any]) -> Callable[..., Any]:
    """Work that a trial gives to a pool of threads remains the trial's."""

    def submit(pool: Any, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        if current_trial() is None:
            return original(pool, function, *args, **kwargs)
        return original(pool, copy_context().run, function, *args, **kwargs)

    return submit
