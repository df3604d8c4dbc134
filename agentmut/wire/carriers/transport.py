"""In-process carrier: the model requests that each trial sends through httpx, httpx2, requests or aiohttp.

Concurrent trials are told apart by the ContextVar of `agentmut.recording.current`; nothing has to be configured. Tasks,
`asyncio.to_thread`, what is submitted to a `ThreadPoolExecutor` and threads that a trial starts carry it along. Threads
that are older than the trial, and other processes, do not: their requests pass as they are. The tap
notes the names of threads that send model requests for no trial.
"""

import importlib
import importlib.util
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from typing import Any

from agentmut.nouns import Codec, HttpCall
from agentmut.recording import TRIAL_HEADER, current_trial
from agentmut.wire.carriers import genai_hook, threads
from agentmut.wire.carriers.aiohttp_hooks import AiohttpHooks
from agentmut.wire.carriers.compression import PackingError, is_packed, unpacked
from agentmut.wire.carriers.hosts import is_loopback
from agentmut.wire.carriers.http_replies import ReplyMaker
from agentmut.wire.carriers.nested_hooks import beneath, is_beneath, pause, waits_for_its_end
from agentmut.wire.carriers.passage import Passage, begin
from agentmut.wire.carriers.patching import replaced
from agentmut.wire.carriers.requests_hooks import RequestsHooks
from agentmut.wire.carriers.signing import signed_again
from agentmut.wire.carriers.throttle import Throttle

SEEN = "agentmut"
"""Key in a request's extensions while it is on its way."""
LIBRARIES = ("httpx", "httpx2")

_own: "ContextVar[Tap | None]" = ContextVar("agentmut_tap", default=None)
"""The tap of the session that the calling code belongs to: several sessions of a process each carry their own."""


class Tap:
    """Carries what `send` of both libraries' clients sends while installed; see `installed`."""

    def __init__(self, codecs: tuple[Codec, ...], throttle: Throttle | None = None) -> None:
        self._codecs = codecs
        self._throttle = throttle
        self._strangers: Counter[str] = Counter()

    def strangers(self) -> Callable[[], tuple[str, ...]]:
        """Return what tells the names of threads without a trial that have sent model requests since this call."""
        before = dict(self._strangers)
        return lambda: tuple(sorted(n for n, sent in [*self._strangers.items()] if sent > before.get(n, 0)))

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Carry the requests of every client of this process during the block, then restore the original methods."""
        outer = _own.get()
        with ExitStack() as stack:
            stack.callback(_own.set, outer)  # also where the block ends in another context than it began in
            _own.set(self)
            for library in filter(importlib.util.find_spec, LIBRARIES):
                module = importlib.import_module(library)
                maker = ReplyMaker(module)
                stack.enter_context(replaced(module.AsyncClient, "send", self._async_send(maker)))
                stack.enter_context(replaced(module.Client, "send", self._sync_send(maker)))
            threads.enter(stack)
            stack.enter_context(RequestsHooks(self._begun, self._throttle).installed())
            stack.enter_context(AiohttpHooks(self._begun, self._throttle).installed())
            genai_hook.enter(stack)
            yield

    def _async_send(self, maker: ReplyMaker) -> Callable[..., Any]:
        def wrap(original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
            @waits_for_its_end
            async def send(client: Any, request: Any, **options: Any) -> Any:
                body = bytes(await request.aread()) if self._may_see(request) else None
                passage = self._passage(request, body)
                if passage is None:
                    return await original(client, request, **options)
                await pause(passage.pause)
                if played := passage.played():
                    return await _aread(maker.played(request, played), options)
                while True:
                    with passage:
                        await pause(passage.hold(self._throttle))
                        outgoing = _outgoing(request, passage.call)
                        try:
                            with beneath():
                                response = await original(client, outgoing, **options)
                        finally:
                            outgoing.extensions.pop(SEEN, None)
                        _give_back(request, outgoing, response)
                        if relayed := maker.passing(response, passage, options):
                            return relayed
                        given = passage.received(response.status_code, await response.aread())
                    if given is not None:
                        return await _aread(maker.with_body(response, given, options), options)

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
                            with beneath():
                                response = original(client, outgoing, **options)
                        finally:
                            outgoing.extensions.pop(SEEN, None)
                        _give_back(request, outgoing, response)
                        if relayed := maker.passing(response, passage, options):
                            return relayed
                        given = passage.received(response.status_code, response.read())
                    if given is not None:
                        return _read(maker.with_body(response, given, options), options)

            return send

        return wrap

    def _may_see(self, request: Any) -> bool:
        # else a tap on top of this saw it
        return SEEN not in request.extensions and self._is_ours(_path(request))

    def _is_ours(self, path: str) -> bool:
        """Return whether this is a model request of a trial of this tap's session."""
        trial = current_trial()
        if trial is None or _own.get() not in (None, self) or threads.outlived(trial):
            if _own.get() is None and (name := threads.strange()) and self._asks_model(path):
                self._strangers[name] += 1
            return False
        return self._asks_model(path)

    def _asks_model(self, path: str) -> bool:
        return any(codec.matches(path) for codec in self._codecs)

    def _begun(self, path: str, body: bytes | None, host: str) -> Passage | None:
        """Return the passage of a request whose client does not use `send`; None if the request is not this tap's."""
        if is_beneath() or not self._is_ours(path):
            return None
        trial = current_trial()
        if trial is None or body is None:
            return None
        with suppress(PackingError):
            body = unpacked(body)
        return begin(trial, self._codecs, path, body, host=host)

    def _passage(self, request: Any, body: bytes | None) -> Passage | None:
        trial = current_trial()
        if trial is None or body is None:
            return None
        with suppress(PackingError):  # then it passes unread, and the service judges it
            body = unpacked(body)
        passage = begin(trial, self._codecs, _path(request), body, host=request.url.host)
        if is_loopback(request.url.host):  # a stand-in may want it; a real service is told nothing
            request.headers[TRIAL_HEADER] = trial.id
        return passage


async def _aread(response: Any, options: Mapping[str, Any]) -> Any:
    """Return the response, completely read unless the client streams it."""
    if not options.get("stream"):
        await response.aread()
    return response


def _read(response: Any, options: Mapping[str, Any]) -> Any:
    if not options.get("stream"):
        response.read()
    return response


def _path(request: Any) -> str:
    return str(request.url.raw_path.decode("ascii"))


def _outgoing(request: Any, call: HttpCall) -> Any:
    """Return the request with this path and body, marked as seen."""
    headers = request.headers.copy()
    # one of them is set anew, for a body that is all there
    for length in (
        "content-length",
        "transfer-encoding",
    ):
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
    """Restore the request that the agent will send again (a retry, a redirect), so that agentmut sees it again."""
    for sent in (response.request, response.next_request):
        if sent is not None:
            sent.extensions.pop(SEEN, None)
    if response.request is outgoing:
        response.request = request
