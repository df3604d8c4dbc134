"""Which call of the model a tool of smolagents is called for: the framework does not tell the tool."""

import json
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from agentmut.plain import jsonable
from agentmut.trial import Recorder
from agentmut.wire.messages import ToolCall


class CallIds:
    """Gives the ids of the calls in the last reply to an agent, each once. Parallel calls may ask at once."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._given: set[str] = set()
        self._lock = threading.Lock()

    def taken(self, tool: str, arguments: Mapping[str, Any], node: str | None) -> str | None:
        """The id of a call of the tool with these arguments; None where no reply has one, as in code."""
        with self._lock:
            calls = [call for call in self._calls(node) if call.name == tool and call.id not in self._given]
            same = (call for call in calls if _arguments(call) == jsonable(dict(arguments)))
            found = next(same, calls[0] if calls else None)
            if found is not None:
                self._given.add(found.id)
        return found.id if found else None

    def _calls(self, node: str | None) -> Iterator[ToolCall]:
        replies = (one.reply for one in reversed(self._recorder.exchanges) if one.node == node and one.reply)
        reply = next(replies, None)
        yield from reply.tool_calls if reply else ()


def _arguments(call: ToolCall) -> Any:
    try:
        return json.loads(call.arguments or "{}")
    except ValueError:
        return None
