"""In-process carrier for `aiohttp`: it wraps `ClientSession._request`, which every call of a session uses.

The method is private, and aiohttp has no public place where a body can be changed and a reply be replaced. aiohttp is
not imported for this: where an agent imports it later, the method is replaced then.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from typing import Any

from agentmut.nouns import HttpCall, Take
from agentmut.recording import TRIAL_HEADER, current_trial
from agentmut.wire.carriers.compression import is_packed
from agentmut.wire.carriers.hosts import is_loopback
from agentmut.wire.carriers.nested_hooks import OF_THE_BODY, Begin, beneath, pause, waits_for_its_end
from agentmut.wire.carriers.passage import Passage, Relay
from agentmut.wire.carriers.patching import replaced, when_imported
from agentmut.wire.carriers.signing import signed_again
from agentmut.wire.carriers.throttle import Throttle

METHOD = "_request"
LIMIT = 2**16
"""Bytes that a reader of a reply holds back."""


class AiohttpHooks:
    """Carries what sessions of aiohttp send while installed."""

    def __init__(self, begin: Begin, throttle: Throttle | None = None) -> None:
        self._begin = begin
        self._throttle = throttle

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Carry the requests of every session of this process during the block, then restore the original method."""
        with ExitStack() as stack, when_imported("aiohttp.client", lambda: self._install(stack)):
            yield

    def _install(self, stack: ExitStack) -> None:
        session = import_module("aiohttp.client").ClientSession
        if METHOD in vars(session):
            stack.enter_context(replaced(session, METHOD, self._request))

    def _request(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @waits_for_its_end
        async def request(session: Any, method: str, target: Any, **options: Any) -> Any:
            if current_trial() is None:
                return await original(session, method, target, **options)
            url, body = _url(session, target, options.get("params")), _body(session, options)
            passage = self._begin(url.raw_path_qs, body, url.host or "")
            if passage is None:
                return await original(session, method, target, **options)
            await pause(passage.pause)
            if played := passage.played():
                return _recorded(method, url, played)
            while True:
                with passage:
                    await pause(passage.hold(self._throttle))
                    sent = _outgoing(session, method, url, options, passage.call, body)
                    with beneath(), _refusals(passage):
                        response = await original(session, method, sent.pop("url"), **sent)
                    given = await _in_agents_form(response, passage)
                if given is not None:
                    return given

        return request


def _url(session: Any, target: Any, params: Any) -> Any:
    """Return the URL with its query parameters, as aiohttp adds them."""
    url = session._build_url(target)
    return url.update_query({**url.query, **url.with_query(params).query}) if params else url


def _body(session: Any, options: Mapping[str, Any]) -> bytes | None:
    """Return the body; None for a form or a stream, which can be read only once."""
    said, data = options.get("json"), options.get("data")
    if said is not None and data is None:
        written = getattr(session, "_json_serialize_bytes", None) or session._json_serialize
        data = written(said)
    return (
        data.encode()
        if isinstance(data, str)
        else bytes(data)
        if isinstance(data, bytes | bytearray)
        else None
    )


def _outgoing(
    session: Any, method: str, url: Any, options: Mapping[str, Any], call: HttpCall, body: bytes | None
) -> dict[str, Any]:
    """Return the options of the request with this path and body. Only a stand-in service is told the trial."""
    headers = import_module("multidict").CIMultiDict(options.get("headers") or {})
    trial = current_trial()
    if trial is not None and is_loopback(url.host or ""):
        headers[TRIAL_HEADER] = trial.id
    if (call.path, call.body) == (url.raw_path_qs, body):
        return {**options, "url": url, "params": None, "headers": headers}
    if options.get("json") is not None and "content-type" not in {*headers, *session.headers}:
        headers["Content-Type"] = "application/json"
    headers.popall("Content-Length", None)
    if not is_packed(call.body):
        headers.popall("Content-Encoding", None)
    sent = type(url)(f"{url.origin()}{call.path}", encoded=True)
    lowered = {name.lower(): value for name, value in headers.items()}
    headers.update(signed_again(method, str(sent), lowered, call.body))
    return {**options, "url": sent, "params": None, "headers": headers, "json": None, "data": call.body}


@contextmanager
def _refusals(passage: Passage) -> Iterator[None]:
    """Record a refusal that the session raises instead of returning it (`raise_for_status`)."""
    try:
        yield
    except import_module("aiohttp").ClientResponseError as error:
        if error.status >= 400:
            passage.refused(error.status)
        raise


async def _in_agents_form(response: Any, passage: Passage) -> Any | None:
    """Return the response in the agent's form; None where another round is needed."""
    if response.status >= 400:
        passage.refused(response.status)
        return response
    if passage.relays(response.headers.get("content-type", "")):
        relay = passage.relay(response.status)
        relay.begun()
        response.content = _passing(response.content, relay)
        for name in ("close", "release"):
            setattr(response, name, partial(_ended, relay, getattr(response, name)))
        return response
    given = passage.received(response.status, await response.read())
    return None if given is None else _with_body(response, given)


def _ended(relay: Relay, leave: Callable[[], Any]) -> Any:
    relay.end()
    return leave()


def _with_body(response: Any, body: bytes) -> Any:
    """Return the response with a complete body, for every way in which the agent may read it."""
    reader = import_module("aiohttp.streams").StreamReader(response.content._protocol, LIMIT)
    reader.feed_data(body)
    reader.feed_eof()
    kept = [(k, v) for k, v in response.headers.items() if k.lower() not in OF_THE_BODY]
    multidict = import_module("multidict")
    headers = multidict.CIMultiDict([*kept, ("Content-Length", str(len(body)))])
    response._headers = multidict.CIMultiDictProxy(headers)
    response._cache.pop("headers", None)
    response._body, response.content = body, reader
    return response


def _passing(content: Any, relay: Relay) -> Any:
    """Return a reader that passes a reply through a relay piece by piece, as the agent reads it."""
    reader = import_module("aiohttp.streams").StreamReader

    class Passing(reader):  # type: ignore[misc, valid-type]  # imported at run time
        async def _wait(self, func_name: str) -> None:
            relay.awaits()
            try:
                piece = await content.readany()
            except Exception as error:
                relay.end(error)
                raise
            if piece:
                self.feed_data(relay.feed(piece))
                return
            self.feed_data(relay.rest())
            relay.end()
            self.feed_eof()

    return Passing(content._protocol, LIMIT)


def _recorded(method: str, url: Any, take: Take) -> Any:
    """Return the recorded response. aiohttp makes responses only from connections, and a record has none."""
    made, loop = import_module("aiohttp.client_reqrep").ClientResponse, asyncio.get_running_loop()
    response = object.__new__(made)
    response.method, response._url, response._real_url = method, url, url
    response.status, response.reason = take.status, "as recorded"
    response._loop, response._cache, response._traces, response._request_info = loop, {}, [], None
    multidict = import_module("multidict")
    response._headers = multidict.CIMultiDictProxy(multidict.CIMultiDict({"Content-Type": take.content_type}))
    protocol = import_module("aiohttp.base_protocol").BaseProtocol(loop)
    response.content = import_module("aiohttp.streams").StreamReader(protocol, LIMIT)
    return _with_body(response, take.body)
