"""Fork at the fault: a mutant's trial follows a recorded run of the original while its requests are the same.

A service that keeps nothing between requests draws each reply from a law of the request's bytes alone. So a recorded
reply to the very same bytes is a draw like any other, whoever asked first, and the trial has the law of one that is
live from its beginning. Each recorded run may serve a mutant once, and may not be chosen by how it ended.
"""

import threading
from collections.abc import Iterable

from agentmut.nouns.cassette import MASK, Take, without_credentials
from agentmut.nouns.codec import HttpCall
from agentmut.nouns.messages import Exchange
from agentmut.nouns.trace import Recalled, Usage


class Fork:
    """Answers the requests of one trial that are identical to recorded ones; all other requests are live."""

    def __init__(self, takes: Iterable[Take]) -> None:
        self._left = [one for one in takes if is_usable(one)]
        self._lock = threading.Lock()

    def answer(self, call: HttpCall) -> Take | None:
        """Return the first unused take of the same request, and mark it as used; None if there is none."""
        path, body = without_credentials(call.path), call.body.decode("utf-8", "replace")
        with self._lock:
            for index, one in enumerate(self._left):
                if one.path == path and one.asked == body:
                    return self._left.pop(index)
        return None


def is_usable(take: Take) -> bool:
    """Return whether a take is a complete, unmasked reply; a part of a reply would be no draw of the model."""
    answered = take.status is not None and take.status < 300
    return answered and take.whole and MASK not in take.asked and MASK not in take.given


def recalled(exchanges: Iterable[Exchange]) -> tuple[Recalled, ...]:
    """Return the recorded replies in a trial with these exchanges, by model; their price is not known yet."""
    found: dict[str, Recalled] = {}
    for one in exchanges:
        if one.recalled:
            model = (one.reply.model if one.reply else "") or one.request.model
            before = found.get(model, Recalled(model=model, requests=0))
            usage = before.usage + (one.reply.usage if one.reply else Usage())
            found[model] = Recalled(model=model, requests=before.requests + 1, usage=usage)
    return tuple(found.values())


__all__ = ["Fork", "is_usable", "recalled"]
