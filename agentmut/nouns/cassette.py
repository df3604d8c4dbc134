"""Cassettes: an agent's requests and replies in a trial, kept so that the trial can be replayed without a network.

What is kept is the agent's own side: its requests before a rewriter changed them, and the replies as it was given
them. So a replay needs no rewriter, and shows the agent's code what it was shown then. A replay is no trial: it
repeats the model's answers and adds nothing to what is known of the agent.
"""

import base64
import json
import re
import threading
from collections.abc import Callable, Sequence
from typing import Any

from agentmut._base import AgentmutError, Frozen, pointer
from agentmut.nouns.codec import HttpCall
from agentmut.nouns.mutant import Mutant

MASK = "[redacted]"


class ReplayError(AgentmutError):
    """A replayed agent made another request than when it was recorded."""


class Take(Frozen):
    """One request of an agent, and its reply."""

    path: str
    asked: str
    """The body that the agent sent."""
    status: int | None
    """None when it was given no answer: the connection failed."""
    content_type: str = ""
    given: str = ""
    encoded: bool = False
    """Whether `given` is base64, as it is no text."""
    seconds: float = 0.0
    """How long the service took; 0 in cassettes from before this was recorded."""
    whole: bool = True
    """Whether the agent read the reply to its end; True in cassettes from before this was recorded."""

    @property
    def body(self) -> bytes:
        """Return what the agent was given."""
        return base64.b64decode(self.given) if self.encoded else self.given.encode("utf-8", "surrogatepass")


class Cassette(Frozen):
    """The exchanges of one trial, without secrets."""

    trial: str
    scenario: str
    repeat: int
    seed: int
    mutant: Mutant | None = None
    """None for the original."""
    ending: str = ""
    takes: tuple[Take, ...] = ()


def take(
    call: HttpCall,
    status: int | None,
    content_type: str,
    reply: bytes,
    *,
    seconds: float = 0.0,
    whole: bool = True,
) -> Take:
    """Return the record of one exchange."""
    try:
        text, encoded = reply.decode(), False
    except UnicodeDecodeError:
        text, encoded = base64.b64encode(reply).decode(), True
    return Take(
        path=without_credentials(call.path),
        asked=call.body.decode("utf-8", "replace"),
        status=status,
        content_type=content_type,
        given=text,
        encoded=encoded,
        seconds=seconds,
        whole=whole,
    )


def without_credentials(path: str) -> str:
    """Return a path with the values of its query removed, since some services take their key there.

    >>> without_credentials("/v1beta/models/g:generateContent?alt=sse&key=abc")
    '/v1beta/models/g:generateContent?alt=[redacted]&key=[redacted]'
    """
    plain, mark, query = path.partition("?")
    return plain + mark + re.sub(r"=[^&]+", f"={MASK}", query)


class Player:
    """Answers the requests of one replayed trial. Parallel requests find their own answers in any order.

    `redact` is what the cassette's texts went through when they were kept.
    """

    def __init__(self, takes: Sequence[Take], redact: Callable[[str], str] = str) -> None:
        self._left = list(takes)
        self._redact = redact
        self._lock = threading.Lock()
        self.problem = ""
        """What was asked first that had not been recorded. Clients of models do not always pass an error on."""

    @property
    def left(self) -> int:
        """Return the number of recorded exchanges that have not been asked for."""
        return len(self._left)

    def answer(self, call: HttpCall) -> Take:
        """Return the first unused take with the same request. Raises `ReplayError` with what differs."""
        asked = _meaning(self._redact(call.body.decode("utf-8", "replace")))
        path = self._redact(without_credentials(call.path))
        with self._lock:
            for index, one in enumerate(self._left):
                if one.path == path and _meaning(one.asked) == asked:
                    return self._left.pop(index)
            problem = self._difference(path, asked)
            self.problem = self.problem or problem
        raise ReplayError(problem)

    def _difference(self, path: str, asked: Any) -> str:
        if not self._left:
            return f"the agent made one more request ({path}) than when it was recorded"
        expected = self._left[0]
        if expected.path != path:
            return f"the agent asked {path}; when it was recorded, it asked {expected.path} there"
        place = pointer(difference(_meaning(expected.asked), asked))
        return (
            f"the agent asked something else than when it was recorded: at {place or 'the top'} of its request to "
            f"{path}. Its code, its prompt or something it reads (a clock, a file) has changed: record it anew"
        )


def difference(left: Any, right: Any) -> tuple[str, ...]:
    """Return the path where two JSON values first differ; empty if they differ as a whole, or not at all.

    >>> difference({"a": [1, 2]}, {"a": [1, 3]})
    ('a', '1')
    """
    pairs: list[tuple[str, Any, Any]] = []
    if isinstance(left, dict) and isinstance(right, dict):
        pairs = [(key, left.get(key), right.get(key)) for key in {**left, **right}]
    elif isinstance(left, list) and isinstance(right, list):
        longest = range(max(len(left), len(right)))
        pairs = [(str(i), _item(left, i), _item(right, i)) for i in longest]
    return next(((key, *difference(a, b)) for key, a, b in pairs if a != b), ())


def _item(values: list[Any], index: int) -> Any:
    return values[index] if index < len(values) else None


def _meaning(body: str) -> Any:
    """Return the value of a JSON body, without regard to blanks and key order; other text unchanged."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body


__all__ = ["Cassette", "Player", "ReplayError", "Take", "difference", "take"]
