"""Calls of the model, which smolagents does not tell its tools of: their ids, and those that come to no tool."""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from agentmut.plain import described, jsonable
from agentmut.trial import CallPlace, Trial, call_place, call_tool_step
from agentmut.wire.messages import ToolCall
from agentmut.wire.told_tools import ANSWER


class CallIds:
    """Gives the ids of the calls in the last reply to an agent, each once. Parallel calls may ask at once.

    Some services give ids that they have given before: what tells calls apart is their place in a reply.
    """

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._given: set[tuple[int, int]] = set()
        """By the places of replies among the exchanges, and of calls in them."""
        self._unknown: list[_Call] = []
        """Calls that no reply has: told as text, or in code."""
        self._lock = threading.Lock()

    def taken(self, tool: str, arguments: Mapping[str, Any], node: str | None) -> str | None:
        """The id of a call of the tool with these arguments; None where no reply has one, as in code."""
        given = jsonable(dict(arguments))
        with self._lock:
            number, calls = self._calls(node)
            left = [
                place
                for place, call in enumerate(calls)
                if call.name == tool and self._is_left(number, place)
            ]
            same = (place for place in left if _arguments(calls[place]) == given)
            found = next(same, left[0] if left else None)
            if found is None:
                self._unknown.append(_Call(node, tool, given))
                return None
            self._given.add((number, found))
        return calls[found].id

    def _is_left(self, number: int, place: int) -> bool:
        return (number, place) not in self._given

    def _calls(self, node: str | None) -> tuple[int, Sequence[ToolCall]]:
        """The calls of the last reply to an agent, and its place among the exchanges."""
        replies = enumerate(one.reply if one.node == node else None for one in self._trial.recorder.exchanges)
        found = [(number, reply.tool_calls) for number, reply in replies if reply]
        return found[-1] if found else (-1, ())

    def note_lost(self, step: Any) -> None:
        """Record the calls of a step that came to no tool: of an unknown one, or with arguments that do not fit."""
        calls = step.model_output_message.tool_calls if step.error and step.model_output_message else None
        place = call_place()
        with self._lock:
            lost = [call for call in self._lost(calls or (), place.node) if call.function.name != ANSWER]
            self._unknown = [call for call in self._unknown if call.node != place.node]
        for call in lost:
            self._note(call, place, described(step.error))

    def _lost(self, calls: Sequence[Any], node: str | None) -> Iterator[Any]:
        number, told = self._calls(node)
        for place, call in enumerate(calls):
            if told:
                if self._is_left(number, place):
                    yield call
            elif (one := _Call(node, call.function.name, _given(call))) in self._unknown:
                self._unknown.remove(one)
            else:
                yield call

    def _note(self, call: Any, place: CallPlace, error: str) -> None:
        recorder = self._trial.recorder
        told = place._replace(call_id=call.id)._asdict()
        name = self._trial.own_name(call.function.name)
        recorder.steps.append(
            call_tool_step(name, _given(call), recorder, recorder.now(), error=error, **told)
        )


class _Call(NamedTuple):
    node: str | None
    tool: str
    arguments: Any


def _given(call: Any) -> dict[str, Any]:
    """The arguments as smolagents has read them; none where it could not."""
    given = call.function.arguments
    return {name: jsonable(value) for name, value in given.items()} if isinstance(given, dict) else {}


def _arguments(call: ToolCall) -> Any:
    try:
        return json.loads(call.arguments or "{}")
    except ValueError:
        return None
