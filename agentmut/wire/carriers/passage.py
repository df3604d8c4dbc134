"""One model request of a trial on its way to the service and back, over any carrier.

Carriers send and receive; everything else is here: the request as its mutant sends it, the reply as the agent is
given it, plain or streamed, and the record of each exchange however it ends.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from types import TracebackType

from agentmut.nouns import Codec, Exchange, Frame, HttpCall, Take, take
from agentmut.recording import (
    OVER_BUDGET,
    HandledReply,
    OutgoingRequest,
    OverBudgetError,
    Recorder,
    Rewriter,
    Trial,
    TrialOverError,
)
from agentmut.wire.carriers.http_attempt import UnderWay
from agentmut.wire.carriers.throttle import Throttle


class TakeRecorder:
    """Records one take. A stream may be recorded several times as it grows; the last record counts.

    Does nothing for a trial that is not recorded.
    """

    def __init__(self, recorder: Recorder, codec: Codec, call: HttpCall) -> None:
        self._takes = recorder.takes
        self._codec = codec
        self._asked = call
        self._mine: Take | None = None

    def given(self, status: int, body: bytes, seconds: float, *, whole: bool = True) -> None:
        """Record the agent's reply and its seconds; not `whole` where the agent left a stream early."""
        if self._takes is not None:
            kind = self._codec.content_type(stream=_reads_as_stream(self._codec, body))
            self._keep_take(take(self._asked, status, kind, body, seconds=seconds, whole=whole))

    def refused(self, status: int) -> None:
        """Record the refusal that the agent was given, in the service's words."""
        if self._takes is not None:
            words = self._codec.encode_error(status, "as recorded", "recorded")
            self._keep_take(take(self._asked, status, self._codec.content_type(stream=False), words))

    def failed(self) -> None:
        """Record that the agent was given no complete answer."""
        if self._takes is not None:
            self._keep_take(take(self._asked, None, "", b""))

    def _keep_take(self, new: Take) -> None:
        takes = self._takes
        assert takes is not None
        if self._mine is None:
            takes.append(new)
        else:
            takes[next(i for i, found in enumerate(takes) if found is self._mine)] = new
        self._mine = new


MOST_IN_A_ROW = 16
"""Requests that are sent in answer to replies before the agent is given one as it is."""
LINES = "application/x-ndjson"
STREAMS = frozenset({"text/event-stream", "application/vnd.amazon.eventstream", LINES})
"""Media types of streamed replies."""


def begin(
    trial: Trial,
    codecs: Sequence[Codec],
    path: str,
    body: bytes,
    watch: "Watch | None" = None,
    *,
    host: str = "",
) -> "Passage | None":
    """Return the passage of a request with this path (and query); None if it is no request to a model.

    `host` is the service that it goes to. `watch` is told of each exchange once it has ended, in place of the trial's
    recorder. Raises `TrialOverError`.
    """
    codec = next((codec for codec in codecs if codec.matches(path)), None)
    if codec is None:
        return None
    if trial.recorder.over_budget:
        raise OverBudgetError(f"trial {trial.id} is over ({OVER_BUDGET})")
    if trial.recorder.closed:
        raise TrialOverError(f"trial {trial.id} is over; this run was abandoned at its timeout")
    return Passage(trial, codec, HttpCall(path, body), watch, host)


class Passage:
    """A request to a model, from the agent to the service and back.

    A carrier waits for `pause` seconds. Then, inside `with passage`, it waits for `hold`, sends `call`, and gives
    the answer to one of `refused`, `relay` and `received`; the last of them may want another round. The exchange is
    recorded when the block is left, also by an exception, and that of a stream when it ends. What cannot be read as a
    request to a model passes and is not recorded.
    """

    def __init__(
        self, trial: Trial, codec: Codec, call: HttpCall, watch: "Watch | None" = None, host: str = ""
    ) -> None:
        self.codec = codec
        rewriter = None if trial.player else trial.rewriter  # what is replayed has been changed already
        outgoing = rewriter.request(codec, call) if rewriter else OutgoingRequest(call)
        self.call: HttpCall = outgoing.call
        """What is to be sent next."""
        self.pause = outgoing.pause
        self.changed = outgoing.call != call
        """Whether the request differs from the agent's."""
        self._trial = trial
        self._rewriter: Rewriter | None = rewriter
        self._asked = call
        self._take_recorder = TakeRecorder(trial.recorder, codec, call)
        self._keep = partial(watch, self) if watch else None
        self._rounds = 0
        self._host = host
        self._exchange: UnderWay | None = None

    def __enter__(self) -> "Passage":
        self._exchange = UnderWay(self._trial, self.codec, self.call, self._keep, self._host)
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._take_recorder.failed()
        self._under_way.left(error)

    def played(self) -> Take | None:
        """Return the agent's reply from a record; None if the request is live.

        In a trial that is replayed that is every request's recorded answer. Raises `ReplayError` where the agent had
        asked something else then, `ConnectionError` where it was given nothing. In a trial that goes along a recorded
        run of the original, it is the answer to a request that leaves as the original's did.
        """
        if self._trial.player is None:
            return self._recalled()
        with self:
            found = self._trial.player.answer(self._asked)
            if found.status is None:
                raise ConnectionError("when this was recorded, the connection failed")
            self._under_way.answered(found.status, found.body if found.status < 400 else None)
        return found

    def _recalled(self) -> Take | None:
        """Return the agent's reply if the recorded run made the same request; the mutant may change the reply."""
        if self._trial.fork is None or self.needs_whole_replies:  # a decoy's call is answered by asking on
            return None
        found = self._trial.fork.answer(self.call)
        if found is None or found.status is None:
            return None
        with self:
            self._under_way.recalled = True
            self._trial.recorder.count(late=found.seconds)  # as long as if it were asked
            given = self.received(found.status, found.body)
        return None if given is None else take(self._asked, found.status, found.content_type, given)

    def hold(self, throttle: Throttle | None) -> float:
        """Return the seconds to wait for a place under the rate limit; the exchange's own time excludes them.

        Raises `OverBudgetError` where the budget in money allows no further call.
        """
        trial = self._trial
        if trial.purse is not None and trial.is_agents and trial.purse.is_empty:
            trial.recorder.cut()
            raise OverBudgetError(f"trial {trial.id} is over ({OVER_BUDGET})")
        return self._under_way.note_wait(throttle.reserve(self._host)) if throttle else 0.0

    def refused(self, status: int) -> None:
        """Record the service's refusal of the request, which passes on unchanged."""
        self._under_way.answered(status, None)
        self._take_recorder.refused(status)

    def redirected(self, status: int) -> None:
        """Pass a redirect on; a tape keeps only the answer of the place that the agent then asks."""
        self._under_way.answered(status, None)

    @property
    def needs_whole_replies(self) -> bool:
        """Return whether a stream has to be complete before the agent may see any of it."""
        return self._rewriter is not None and self._rewriter.needs_whole_replies

    def relays(self, content_type: str) -> bool:
        """Return whether a reply of this media type can pass piece by piece."""
        if self._rewriter is None:
            return True
        return is_stream(content_type) and not self.needs_whole_replies

    def relay(self, status: int) -> "Relay":
        """Let an accepted reply pass piece by piece."""
        change_event = partial(self._rewriter.event, self.codec, self.call) if self._rewriter else None
        return Relay(self._under_way, status, change_event, self._take_recorder)

    def received(self, status: int, body: bytes) -> bytes | None:
        """Return the body that the agent gets; None where `call` has to be sent in another round."""
        answered = self._answered(body)
        if answered.again is None or self._rounds >= MOST_IN_A_ROW:
            self._under_way.answered(status, answered.body)
            self._take_recorder.given(status, answered.body, self._under_way.seconds)
            return answered.body
        self._under_way.answered(status, body)
        self._rounds += 1
        self.call = answered.again
        return None

    def _answered(self, body: bytes) -> HandledReply:
        if self._rewriter is None:
            return HandledReply(body)
        try:
            return self._rewriter.reply(self.codec, self.call, body)
        except ValueError:  # not a reply of this dialect: the agent's client will complain in its own words
            return HandledReply(body)

    @property
    def _under_way(self) -> UnderWay:
        if self._exchange is None:
            raise RuntimeError("a passage has to be entered before it is told what became of it")
        return self._exchange


Watch = Callable[[Passage, Exchange], None]
ChangeEvent = Callable[[object], object]
"""From an event of a stream to what the agent is given of it."""


class Relay:
    """A reply that passes piece by piece. The agent is given what `feed` and, at the end, `rest` return.

    Told of its `end` however that comes about; only the first time counts.
    """

    def __init__(
        self, exchange: UnderWay, status: int, change_event: "ChangeEvent | None", take_recorder: TakeRecorder
    ) -> None:
        self._exchange = exchange
        self._status = status
        self._take_recorder = take_recorder
        self._ended = False
        self._change_event = change_event
        self._framing = exchange.codec.framing() if change_event else None
        self._given: list[bytes] = []
        self._complete = False
        exchange.streams(status)

    def awaits(self) -> None:
        """Count the wait for the next piece as the service's time; a slow reader's time is the agent's."""
        self._exchange.awaits()

    def feed(self, piece: bytes) -> bytes:
        """Return the bytes that the agent gets now; unchanged frames keep their bytes."""
        self._exchange.settled()
        if self._framing is None:
            return self._passed(piece)
        return self._passed(b"".join(map(self._frame, self._framing.feed(piece))))

    def rest(self) -> bytes:
        """Return the remaining bytes after the service's last piece."""
        self._complete = True
        self._exchange.settled()
        return self._passed(self._framing.rest()) if self._framing else b""

    def through(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the agent's pieces of a reply that blocking calls read, to its end."""
        with self.reading():
            self.awaits()
            for piece in pieces:
                if given := self.feed(piece):
                    yield given
                self.awaits()
            if given := self.rest():
                yield given

    @property
    def rewrites(self) -> bool:
        """Return whether the agent may get other bytes than the service sent."""
        return self._framing is not None

    def begun(self) -> None:
        """Record the stream from now on: the agent is about to get it, or already has its beginning."""
        self._exchange.begun()

    def left(self) -> None:
        """Note that the agent has stopped reading; it may continue, close the stream, or do neither."""
        given = b"".join(self._given)
        self._exchange.settled()
        self._exchange.has_streamed(given)
        self._take_recorder.given(self._status, given, self._exchange.seconds, whole=False)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Note how the reading within this block ends: the agent stopped, an error occurred, or the reply ended."""
        try:
            yield
        except GeneratorExit:  # the agent has read enough, for now
            self.left()
            raise
        except Exception as error:
            self.end(error)
            raise
        self.end()

    def end(self, error: BaseException | None = None) -> None:
        """End the recording: the stream is complete, was closed by the agent, or was cut off by an `error`."""
        if self._ended:
            return
        self._ended = True
        given = b"".join(self._given)
        self._exchange.has_ended(given, error, complete=self._complete)
        # one that was cut off is cut off when it is replayed
        self._take_recorder.given(self._status, given, self._exchange.seconds, whole=self._complete)
        self._given.clear()

    def _passed(self, piece: bytes) -> bytes:
        if piece:
            self._given.append(piece)
        return piece

    def _frame(self, frame: Frame) -> bytes:
        if frame.value is None or self._change_event is None or self._framing is None:
            return frame.raw
        try:
            value = self._change_event(frame.value)
        except ValueError:  # not an event of this dialect
            return frame.raw
        return frame.raw if value == frame.value else self._framing.written(frame, value)


def _reads_as_stream(codec: Codec, body: bytes) -> bool:
    """Return whether a reply is a stream: not one JSON value, or one JSON value a line."""
    if body.lstrip()[:1] not in (b"{", b"["):
        return True
    return codec.content_type(stream=True) == LINES and b"\n" in body.strip()


def is_stream(content_type: str) -> bool:
    """Return whether a reply of this media type is a stream of events.

    >>> is_stream("text/event-stream; charset=utf-8"), is_stream("application/json")
    (True, False)
    """
    return content_type.partition(";")[0].strip().lower() in STREAMS
