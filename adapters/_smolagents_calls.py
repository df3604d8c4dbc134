"""Calls of the model, which smolagents does not tell its tools of: their ids, and those that come to no tool."""

import json
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from agentmut.plain import described, jsonable
from agentmut.trial import Trial, call_place, call_tool_step
from agentmut.wire.messages import ToolCall
from agentmut.wire.told_tools import ANSWER


class CallIds:
    """Gives the ids of the calls in the last reply to an agent, each once. Parallel calls may ask at once."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
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
        exchanges = reversed(self._trial.recorder.exchanges)
        reply = next((one.reply for one in exchanges if one.node == node and one.reply), None)
        yield from reply.tool_calls if reply else ()

    def note_lost(self, step: Any) -> None:
        """Record the calls of a step that came to no tool: of an unknown one, or with arguments that do not fit."""
        calls = step.model_output_message.tool_calls if step.error and step.model_output_message else None
        recorder, place = self._trial.recorder, call_place()
        for call in calls or ():
            if call.id not in self._given and call.function.name != ANSWER:
                given = call.function.arguments
                arguments = {k: jsonable(v) for k, v in given.items()} if isinstance(given, dict) else {}
                told = place._replace(call_id=call.id)._asdict()
                name = self._trial.own_name(call.function.name)
                error = described(step.error)
                recorder.steps.append(
                    call_tool_step(name, arguments, recorder, recorder.now(), error=error, **told)
                )


def _arguments(call: ToolCall) -> Any:
    try:
        return json.loads(call.arguments or "{}")
    except ValueError:
        return None
