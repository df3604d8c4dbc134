"""Calls of the model, which smolagents does not tell its tools of: their ids, and those that come to no tool."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from agentmut._base import described, jsonable
from agentmut.adapters._shared.call_ids import CallIds
from agentmut.nouns import ANSWER, Exchange
from agentmut.recording import CallPlace, Trial, call_place, call_tool_step


class Calls:
    """Gives the ids of the calls in the last reply to an agent, each once. Parallel calls may ask at once."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._ids = CallIds(trial.recorder)
        self._unknown: list[_Call] = []
        """Calls that no reply has: told as text, or in code."""
        self._lock = threading.Lock()

    def taken(self, tool: str, arguments: Mapping[str, Any], node: str | None) -> str | None:
        """The id of a call of the tool with these arguments; None where no reply has one, as in code."""
        last = self._last(node)
        found = self._ids.taken(tool, arguments, lambda one: one is last)
        if found is None:
            with self._lock:
                self._unknown.append(_Call(node, tool, jsonable(dict(arguments))))
        return found

    def _last(self, node: str | None) -> Exchange | None:
        """The last exchange of an agent that has a reply."""
        replies = (one for one in reversed(self._trial.recorder.exchanges) if one.node == node and one.reply)
        return next(replies, None)

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
        last = self._last(node)
        left = {one.place for one in self._ids.left(lambda one: one is last)}
        for place, call in enumerate(calls):
            if last and last.reply and last.reply.tool_calls:
                if place in left:
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
