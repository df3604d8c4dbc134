"""Replies of httpx and httpx2 in the form that the agent's client gets; both libraries work the same way."""

from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import timedelta
from typing import Any

from agentmut.nouns import Take
from agentmut.wire.carriers.passage import Passage, Relay

_OF_THE_BODY = ("content-encoding", "content-length", "transfer-encoding")
"""Headers that describe a body as it was sent."""


class ReplyMaker:
    """Makes responses of one library."""

    def __init__(self, library: Any) -> None:
        self._library = library
        sync, of_async = library.SyncByteStream, library.AsyncByteStream
        self._passing: Any = type("PassingStream", (_RelayedStream, sync, of_async), {})
        self._whole: Any = type("WholeStream", (_CompleteBody, sync, of_async), {})

    def passing(self, response: Any, passage: Passage, options: Mapping[str, Any]) -> Any | None:
        """Return the response if the agent gets it unchanged: a refusal, or a stream that passes piece by piece."""
        if response.status_code >= 400:
            passage.refused(response.status_code)
            return response
        if not options.get("stream") or response.is_stream_consumed:
            return None
        if not passage.relays(response.headers.get("content-type", "")):
            return None
        relay, decoded = passage.relay(response.status_code), self._decoded(response)
        relay.begun()
        response.stream = self._passing(response.stream, decoded, relay)
        if relay.rewrites or "content-encoding" in response.headers:
            for name in _OF_THE_BODY:
                response.headers.pop(name, None)
        return response

    def with_body(self, response: Any, body: bytes, options: Mapping[str, Any]) -> Any:
        """Return the response with another body; the same object if the body is unchanged and already read."""
        if body == response.content and not options.get("stream"):
            return response
        return self._fresh(response, body)

    def played(self, request: Any, take: Take) -> Any:
        """Return the response that was recorded."""
        fresh = self._library.Response(
            take.status,
            headers={"content-type": take.content_type, "content-length": str(len(take.body))},
            stream=self._whole(take.body),
            request=request,
        )
        fresh.elapsed = timedelta(0)
        return fresh

    def _decoded(self, response: Any) -> Any:
        """Return a response with the decoded body of this one, which may be gzip."""
        return self._library.Response(
            response.status_code, headers=response.headers.copy(), stream=response.stream
        )

    def _fresh(self, response: Any, body: bytes) -> Any:
        headers = response.headers.copy()
        for name in _OF_THE_BODY:
            headers.pop(name, None)
        headers["content-length"] = str(len(body))
        fresh = self._library.Response(
            response.status_code,
            headers=headers,
            stream=self._whole(body),
            request=response.request,
            extensions=response.extensions,
            history=response.history,
        )
        try:
            fresh.elapsed = response.elapsed
        except RuntimeError:  # never measured: a transport of the user's own made it as a whole
            fresh.elapsed = timedelta(0)
        return fresh


class _RelayedStream:
    """A byte stream through a relay, for sync and async clients."""

    def __init__(self, stream: Any, decoded: Any, relay: Relay) -> None:
        self._stream = stream
        self._decoded = decoded
        self._relay = relay
        self._pieces: Any = None  # one for all readers: SDKs stop at the end mark, and then read what is left

    def __iter__(self) -> Iterator[bytes]:
        self._pieces = self._pieces or self._decoded.iter_bytes()
        return self._relay.through(self._pieces)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        self._pieces = self._pieces or self._decoded.aiter_bytes()
        with self._relay.reading():
            self._relay.awaits()
            async for piece in self._pieces:
                if given := self._relay.feed(piece):
                    yield given
                self._relay.awaits()
            if given := self._relay.rest():
                yield given

    def close(self) -> None:
        """End the relay and close the stream."""
        self._relay.end()
        self._stream.close()

    async def aclose(self) -> None:
        """End the relay and close the stream."""
        self._relay.end()
        await self._stream.aclose()

    @property
    def elapsed(self) -> Any:
        """Return the time that httpx2 asks the stream for."""
        return getattr(self._stream, "elapsed", None)


class _CompleteBody:
    """A complete body."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def __iter__(self) -> Iterator[bytes]:
        yield self._body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body
