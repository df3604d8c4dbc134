"""The ids of tool calls, taken from the trial's replies, for frameworks that do not pass them to their tools."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from agentmut._base import jsonable
from agentmut.nouns import Exchange, ToolCall
from agentmut.recording import Recorder


class ReplyCall(NamedTuple):
    """A call in a reply, identified by its place, since some services repeat ids or give none."""

    reply: int
    place: int
    call: ToolCall


class CallIds:
    """Gives the ids of calls, each once. Parallel calls may ask at once."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._taken: set[tuple[int, int]] = set()
        self._lock = threading.Lock()

    def claim(
        self, tool: str, arguments: Mapping[str, Any], belongs: Callable[[Exchange], bool] = lambda one: True
    ) -> str | None:
        """Return the id of the latest call of `tool` that is left in the replies that belong: of several, that with
        these arguments. None where no reply has one.
        """
        given = jsonable(dict(arguments))
        with self._lock:
            named = [one for one in self._left(belongs) if one.call.name == tool]
            same = (one for one in named if parsed(one.call.arguments) == given)
            found = next(same, named[0] if named else None)
            if found is None:
                return None
            self._taken.add(found[:2])
        return found.call.id

    def left(self, belongs: Callable[[Exchange], bool]) -> list[ReplyCall]:
        """Return the calls of these replies that no tool has claimed yet, the latest reply first."""
        with self._lock:
            return list(self._left(belongs))

    def _left(self, belongs: Callable[[Exchange], bool]) -> Iterator[ReplyCall]:
        replies = [(number, one) for number, one in enumerate(self._recorder.exchanges) if belongs(one)]
        for number, one in reversed(replies):
            for place, call in enumerate(one.reply.tool_calls if one.reply else ()):
                if (number, place) not in self._taken:
                    yield ReplyCall(number, place, call)


def parsed(arguments: str) -> Any:
    """Return the arguments of a call as values; None if they are not JSON."""
    try:
        return json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return None
