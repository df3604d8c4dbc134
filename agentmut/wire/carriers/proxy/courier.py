"""The handling of a valid request in the proxy: send it on, and give the client the reply."""

import asyncio
from collections.abc import AsyncIterable
from typing import NamedTuple
from urllib.parse import urlsplit

import aiohttp
from aiohttp import hdrs, web

from agentmut.nouns import Codec, HttpCall, ReplayError
from agentmut.recording import Trial, TrialOverError
from agentmut.wire.carriers.compression import PackingError, is_packed, unpacked_in_turns, unpacker
from agentmut.wire.carriers.http_attempt import without_url_secrets
from agentmut.wire.carriers.passage import Passage, Watch, begin
from agentmut.wire.carriers.proxy.forwarding import Reply, Unpack, pass_on, relay, whole
from agentmut.wire.carriers.proxy.refusal import RefusalError, error_response
from agentmut.wire.carriers.proxy.upstream import TROUBLE, Headers, Upstream, is_signed, unsignable
from agentmut.wire.carriers.signing import signed_again
from agentmut.wire.carriers.throttle import Throttle

REDIRECTS = frozenset({301, 302, 303, 307, 308})
LARGEST_REQUEST = 256 * 2**20
"""Bytes of a model request, which has to be read as a whole."""
LARGEST_REPLY = 256 * 2**20
"""Bytes of a model's reply, unpacked, streamed ones too: what is recorded is held in memory."""


class ProxiedCall(NamedTuple):
    """A request whose sender and target are in order."""

    trial: Trial
    path: str
    """With the query, as the upstream is asked for it."""
    upstream: Upstream


class Courier:
    """Carries requests to upstreams over one `session`."""

    session: aiohttp.ClientSession

    def __init__(self, codecs: tuple[Codec, ...], throttle: Throttle | None, watch: Watch | None) -> None:
        self._codecs = codecs
        self._throttle = throttle
        self._watch = watch

    async def carry(self, http: web.BaseRequest, proxied: ProxiedCall) -> web.StreamResponse:
        """Send the request on. Raises `RefusalError`."""
        if http.method == "POST" and (passage := await self._passage(http, proxied)):
            return await self._to_model(http, proxied, passage)
        return await self._unread(http, proxied)

    async def _passage(self, http: web.BaseRequest, proxied: ProxiedCall) -> Passage | None:
        if not any(codec.matches(proxied.path) for codec in self._codecs):
            return None
        try:
            body = await unpacked_in_turns(await _body(http))
        except PackingError as error:
            raise RefusalError(415, "packed_request", f"the request cannot be unpacked: {error}") from None
        try:
            host = proxied.upstream.base.host or ""
            return begin(proxied.trial, self._codecs, proxied.path, body, self._watch, host=host)
        except TrialOverError as error:
            raise RefusalError(410, "trial_over", str(error)) from None

    async def _unread(self, http: web.BaseRequest, proxied: ProxiedCall) -> web.StreamResponse:
        """Return a request to something else than a model: both bodies pass as they come, but for a signed one,
        which is read to be signed again. Raises `RefusalError`.
        """
        if http.method == "POST":
            host = proxied.upstream.base.host
            unread = f"a POST request to {host} was in no dialect that agentmut reads (docs/wire.md)"
            proxied.trial.recorder.unread[unread] = None
        headers = proxied.upstream.headers(http.headers, proxied.trial.id)
        if length := http.headers.get(hdrs.CONTENT_LENGTH):
            headers[hdrs.CONTENT_LENGTH] = length
        body: bytes | AsyncIterable[bytes] | None = http.content.iter_any() if http.can_read_body else None
        if is_signed(http.headers):
            body = await _body(http)
            headers = await _signed_anew(http, proxied, HttpCall(proxied.path, body), headers)
        try:
            reply = await proxied.upstream.send(self.session, http.method, proxied.path, headers, body)
        except TROUBLE as error:
            raise RefusalError(502, "upstream_unreachable", _unreachable(error)) from error
        async with reply:
            return await pass_on(http, reply, _location(http, proxied, reply))

    async def _to_model(
        self, http: web.BaseRequest, proxied: ProxiedCall, passage: Passage
    ) -> web.StreamResponse:
        if passage.pause:
            await asyncio.sleep(passage.pause)
        if played := _played(passage):
            return played
        headers = proxied.upstream.headers(http.headers, proxied.trial.id)
        if not is_packed(passage.call.body):
            headers.pop(hdrs.CONTENT_ENCODING, None)
        headers[hdrs.ACCEPT_ENCODING] = "identity"  # what is read need not be packed
        while True:
            try:
                with passage:
                    if held := passage.hold(self._throttle):
                        await asyncio.sleep(held)
                    response = await self._round(http, proxied, passage, headers)
            except TrialOverError as error:
                return error_response(passage.codec, 410, str(error), "trial_over")
            except TROUBLE as error:
                return error_response(passage.codec, 502, _unreachable(error), "upstream_unreachable")
            if response is not None:
                return response

    async def _round(
        self, http: web.BaseRequest, proxied: ProxiedCall, passage: Passage, headers: Headers
    ) -> web.StreamResponse | None:
        """Return the client's reply; None where the passage needs another round."""
        path, body = passage.call
        if is_signed(http.headers):
            headers = await _signed_anew(http, proxied, passage.call, headers)
        async with await proxied.upstream.post(self.session, path, headers, body) as reply:
            if reply.status >= 400:
                passage.refused(reply.status)
                return await pass_on(http, reply)
            if reply.status in REDIRECTS and hdrs.LOCATION in reply.headers:
                location = _model_location(http, proxied, reply)
                passage.redirected(reply.status)
                return await pass_on(http, reply, location)
            unpack = unpacker(reply.headers.get(hdrs.CONTENT_ENCODING, ""), LARGEST_REPLY)
            packed_up = hdrs.CONTENT_LENGTH in reply.headers
            if not packed_up and passage.relays(reply.headers.get(hdrs.CONTENT_TYPE, "")):
                return await relay(http, reply, passage.relay(reply.status), unpack)
            given = passage.received(reply.status, await _unpacked_reply(reply, unpack))
            return None if given is None else await whole(http, reply, given)


async def _unpacked_reply(reply: Reply, unpack: Unpack) -> bytes:
    """Return the whole body of a reply. Raises `PackingError` for one that is too large, before more of it is read."""
    pieces = []
    while piece := await reply.content.readany():
        pieces.append(unpack(piece))
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


async def _signed_anew(
    http: web.BaseRequest, proxied: ProxiedCall, call: HttpCall, headers: Headers
) -> Headers:
    """Return the headers signed for the service with the client's own key. Raise `RefusalError`."""
    path, body = call
    plain = {name.lower(): value for name, value in headers.items()}
    signature = await asyncio.to_thread(signed_again, http.method, proxied.upstream.url(path), plain, body)
    if not signature and not proxied.upstream.is_local:
        raise unsignable()
    signed = headers.copy()
    signed.update(signature)
    return signed


def _location(http: web.BaseRequest, proxied: ProxiedCall, reply: Reply) -> str | None:
    """Return the address of a redirect that stays with the proxy; None for no redirect, or one that leads elsewhere."""
    if reply.status not in REDIRECTS or hdrs.LOCATION not in reply.headers:
        return None
    path = proxied.upstream.path_of(reply.headers[hdrs.LOCATION], proxied.path)
    return None if path is None else http.raw_path.removesuffix(proxied.path) + path


def _model_location(http: web.BaseRequest, proxied: ProxiedCall, reply: Reply) -> str:
    """Return where a model request goes; such a request has to be seen. Raises `ConnectionError`."""
    if location := _location(http, proxied, reply):
        return location
    place = urlsplit(reply.headers[hdrs.LOCATION])
    raise ConnectionError(
        f"it redirects ({reply.status}) to {place.scheme}://{place.netloc.rpartition('@')[2]}{place.path}, past this "
        f"proxy; put that address in the place of the base URL {proxied.upstream.base}"
    )


def _played(passage: Passage) -> web.Response | None:
    """Return the recorded answer, where a trial is replayed."""
    try:
        take = passage.played()
    except ReplayError as error:
        return error_response(passage.codec, 409, str(error), "not_as_recorded")
    except ConnectionError as error:
        return error_response(passage.codec, 502, str(error), "upstream_unreachable")
    if take is None or take.status is None:
        return None
    return web.Response(status=take.status, body=take.body, headers={hdrs.CONTENT_TYPE: take.content_type})


async def _body(http: web.BaseRequest) -> bytes:
    """Return the whole body of a model request."""
    if http.content.is_eof():  # all of it is here, as with most requests
        return _checked(http.content.read_nowait())
    pieces, size = [], 0
    async for piece in http.content.iter_any():
        size += len(piece)
        if size > LARGEST_REQUEST:
            raise _too_large()
        pieces.append(piece)
    return b"".join(pieces)


def _checked(body: bytes) -> bytes:
    if len(body) > LARGEST_REQUEST:
        raise _too_large()
    return body


def _too_large() -> RefusalError:
    return RefusalError(413, "too_large", f"a model request may have {LARGEST_REQUEST >> 20} MiB")


def _unreachable(error: BaseException) -> str:
    return f"the model service did not answer: {without_url_secrets(error)}"
