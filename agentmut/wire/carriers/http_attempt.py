"""One HTTP attempt at a model service, from its start to its record; every ending makes a record."""

import asyncio
import json
import re
from collections.abc import Callable

from agentmut._base import described
from agentmut.nouns import Codec, Exchange, HttpCall, ModelReply, ModelRequest
from agentmut.recording import Trial, call_place
from agentmut.wire.dialects.reading import CutOffError
from agentmut.wire.dialects.sse import DONE, MEDIA_TYPE, events, is_event_stream

Keep = Callable[[Exchange], None]


class UnderWay:
    """One HTTP attempt from its start to its record."""

    def __init__(self, trial: Trial, codec: Codec, call: HttpCall, keep: Keep | None, host: str) -> None:
        self.codec = codec
        self._recorder = trial.recorder
        self._purse = trial.purse
        self._keep = keep
        self._host = host
        self._place = call_place()
        self._call: HttpCall | None = call
        self._request: ModelRequest | None = None
        self._started = self._asked = self._recorder.now()
        self._status: int | None = None
        self._begun: Exchange | None = None
        """What the recorder has of it since its stream began."""
        self._body: bytes | None = None
        self._complete = False
        self._seconds: float | None = None
        self._pending = True
        self._ended = False
        self.recalled = False
        """Whether a recorded run answers it."""
        self._streams = False
        """Whether some of its reply has come."""
        self._recorder.request_left(self._asked)

    def note_wait(self, seconds: float) -> float:
        """Note the seconds that a request waits for its place under the rate limit."""
        self._recorder.count(held=seconds)
        self._recorder.settled(self._asked)  # what it is held for is no silence of the service
        self._started += seconds
        self._asked = self._started
        self._recorder.request_left(self._asked)
        return seconds

    @property
    def seconds(self) -> float:
        """Return the seconds so far, or the seconds until the reply was complete."""
        return self._recorder.now() - self._started if self._seconds is None else self._seconds

    def _read(self) -> ModelRequest | None:
        """Return the request; None if it cannot be read."""
        if self._call is not None:
            call, self._call = self._call, None
            try:
                self._request = self.codec.decode_request(call)
            except ValueError:  # not a request of this dialect after all: the service judges it
                self._request = None
        return self._request

    def streams(self, status: int) -> None:
        """Note that a stream has begun."""
        self._status = status
        self.settled()

    def awaits(self) -> None:
        """Begin a wait for the next piece of a stream, until `settled` is called or the stream ends."""
        if not self._pending and not self._ended:
            self._pending, self._asked = True, self._recorder.now()
            self._recorder.request_left(self._asked)

    def settled(self) -> None:
        """End the wait for a piece, which has arrived."""
        if self._pending:
            self._pending = False
            self._recorder.settled(self._asked, goes_on=self._streams)
            self._streams = self._status is not None

    def begun(self) -> None:
        """Record a stream that is under way, since an agent may leave it without closing it."""
        if self._begun is None and not self._ended and self._keep is None and (request := self._read()):
            self._begun = self._seen(request, None, None)
            self._recorder.exchanges.append(self._begun)

    def has_streamed(self, body: bytes) -> None:
        """Record the part of a stream that has arrived; it may be the whole."""
        if self._begun is not None and not self._ended and (reply := self._reply(body)):
            self._replace(self._begun._replace(reply=reply))

    def answered(self, status: int, body: bytes | None) -> None:
        """Settle the request with a refusal or a whole reply, recorded at `end`, as reading takes time."""
        self._status, self._body, self._complete = status, body, True
        self._seconds = self._recorder.now() - self._started
        self.settled()

    def has_ended(self, body: bytes, error: BaseException | None, *, complete: bool) -> None:
        """End a stream, with an `error` if it was cut off. `complete` means that the service has sent everything."""
        if not self._ended:
            self._body, self._complete = None if error else body, complete
            self.end(error)

    def left(self, error: BaseException | None) -> None:
        """End the carrier's part, but for a stream that goes on; a fault after the answer is the carrier's own."""
        if self._seconds is not None:
            self.end()
        elif error is not None:
            self.end(error)

    def end(self, error: BaseException | None = None) -> None:
        """Record how the request ended: a reply (not a damaged one), a refusal, or an exception."""
        if self._ended:
            return
        reply = None if self._body is None else self._reply(self._body)
        problem = None if error is None else without_url_secrets(error)
        if reply is None and self._body is not None:
            problem = damage(self.codec, self._body, complete=self._complete)
        self._record(reply, problem, isinstance(error, asyncio.CancelledError))

    def _reply(self, body: bytes) -> ModelReply | None:
        try:
            return self.codec.decode_reply(body)
        except ValueError:  # the agent's client will complain in its own words
            return None

    def _record(self, reply: ModelReply | None, problem: str | None, cancelled: bool) -> None:
        self._ended = True
        self.settled()
        self._body, request = None, self._read()
        if request is None:
            return
        seen = self._seen(request, reply, problem)._replace(cancelled=cancelled)
        if self._purse is not None and reply is not None and not self.recalled:
            self._purse.pay(reply.model or request.model, reply.usage)
        if self._keep is not None:
            self._keep(seen)
        elif self._begun is None:
            self._recorder.exchanges.append(seen)
        else:
            self._replace(seen)

    def _replace(self, seen: Exchange) -> None:
        exchanges = self._recorder.exchanges
        exchanges[next(i for i, found in enumerate(exchanges) if found is self._begun)] = seen
        self._begun = seen

    def _seen(self, request: ModelRequest, reply: ModelReply | None, problem: str | None) -> Exchange:
        return Exchange(
            request=request,
            reply=reply,
            status=self._status,
            error=problem,
            started=self._started,
            seconds=self.seconds,
            dialect=self.codec.name,
            host=self._host,
            turn=self._place.turn,
            node=self._place.node,
            recalled=self.recalled,
        )


def damage(codec: Codec, body: bytes, *, complete: bool = True) -> str | None:
    """Return what is wrong with an accepted reply that `codec` cannot read; None if nothing shows.

    Not `complete`: the agent closed a stream before its end, so that only the events that came can tell.
    """
    if not body.strip():
        return "the reply is empty" if complete else None
    if not _is_broken(body):
        return None
    if not is_event_stream(body) and codec.content_type(stream=True) == MEDIA_TYPE:
        return "the reply is not JSON" if complete else None
    broken = _damage_of_frames(codec, body, complete=complete)
    return broken or (_cut_off(codec, body) if complete else None)


def _damage_of_frames(codec: Codec, body: bytes, *, complete: bool) -> str | None:
    framing = codec.framing()
    frames = framing.feed(body)
    if is_event_stream(body):
        return _damage_of_events(b"".join(frame.raw for frame in frames), framing.rest() if complete else b"")
    if any(frame.value is None for frame in frames):  # frames of bytes, with checksums
        return "the reply is damaged"
    return "the reply breaks off" if complete and framing.rest() else None


def _cut_off(codec: Codec, body: bytes) -> str | None:
    """Return what is missing at the end of a stream whose events are all whole; None if nothing is.

    A stream with its `[DONE]` is whole: some servers leave out why the model stopped.
    """
    if is_event_stream(body) and body.rstrip().endswith(DONE.encode()):
        return None
    try:
        codec.decode_reply(body)
    except CutOffError as error:
        return str(error)
    except ValueError:
        return None
    return None


def _damage_of_events(came: bytes, rest: bytes) -> str | None:
    """Return what is wrong with the events that came whole, or with the last one of a stream that has ended."""
    if _has_broken_event(came):
        return "an event of the reply is not JSON"
    return "the reply breaks off in an event" if _has_broken_event(rest) else None


def _has_broken_event(stream: bytes) -> bool:
    try:
        return any(map(_is_broken, events(stream)))
    except UnicodeDecodeError:
        return True


def _is_broken(data: str | bytes) -> bool:
    """Return whether no client can read this as JSON; the end mark of a stream is readable."""
    if isinstance(data, str) and data.strip() in ("", DONE):
        return False
    try:
        json.loads(data)
    except RecursionError:
        return False
    except ValueError:
        return True
    return False


_URL = re.compile(r"\b([a-z][a-z0-9+.-]{0,30}://)(?:[^\s/?#'\"]*@)?([^\s?#'\"<>]*)[^\s'\"<>]*", re.IGNORECASE)


def without_url_secrets(error: BaseException) -> str:
    """Return `described` without secret parts of URLs, which clients' errors quote whole.

    >>> without_url_secrets(ValueError("no reply, url='http://me:pass@h/v1/g?key=abc'"))
    "ValueError: no reply, url='http://h/v1/g'"
    """
    return _URL.sub(r"\1\2", described(error))
