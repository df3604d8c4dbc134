"""What a carrier asks when a request or a reply of a mutated trial passes it."""

from typing import NamedTuple, Protocol

from agentmut.nouns import Codec, HttpCall


class Outgoing(NamedTuple):
    """A request in the form in which it is sent."""

    call: HttpCall
    pause: float = 0.0
    """Seconds to wait before it is sent: results of slow tools are late."""


class Answered(NamedTuple):
    """What to do with a reply: give `body` to the agent, or send `again` and ask about that reply instead."""

    body: bytes
    again: HttpCall | None = None


class Rewriter(Protocol):
    """Rewrites the model requests and replies of one trial, so that its agent is the mutant.

    Deterministic, and the same when a history is sent again. Used by one trial only, from any of its threads.
    """

    @property
    def marks(self) -> frozenset[str]:
        """Pointers of the live changes that took effect, as in `Recorder.marks`: `/history`, `/tools/search/fault`."""
        ...

    def request(self, codec: Codec, call: HttpCall) -> Outgoing:
        """Return the agent's request as its mutant sends it; unchanged if it cannot be read."""
        ...

    def reply(self, codec: Codec, sent: HttpCall, body: bytes) -> Answered:
        """What becomes of a complete reply, plain or streamed, to the request that was `sent`."""
        ...

    @property
    def needs_whole_replies(self) -> bool:
        """Whether a stream must be collected for `reply`, since a call in it may be one that the agent must not see."""
        ...

    def event(self, codec: Codec, sent: HttpCall, value: object) -> object:
        """One event of a streamed reply to the request that was `sent`; where `needs_whole_replies` is False."""
        ...
