"""The ids of model calls, which smolagents does not pass to tools; calls of unknown tools, and calls of members."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from smolagents import AgentMaxStepsError, MultiStepAgent

from agentmut._base import described, jsonable
from agentmut.adapters._shared.call_ids import CallIds
from agentmut.nouns import ANSWER, Exchange
from agentmut.recording import CallPlace, Recorder, Trial, answering, call_place


class Calls:
    """Gives the ids of the calls in the last reply to an agent, each once. Parallel calls may ask at once."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._ids = CallIds(trial.recorder)
        self._unknown: list[_Call] = []
        """Calls that no reply has: told as text, or in code."""
        self._lock = threading.Lock()

    def taken(self, tool: str, arguments: Mapping[str, Any], node: str | None) -> str | None:
        """Return the id of a call of the tool with these arguments; None if no reply has one, as in code."""
        last = self._last(node)
        found = self._ids.claim(tool, arguments, lambda one: one is last)
        if found is None:
            with self._lock:
                self._unknown.append(_Call(node, tool, jsonable(dict(arguments))))
        return found

    def _last(self, node: str | None) -> Exchange | None:
        """Return the last exchange of an agent that has a reply."""
        replies = (one for one in reversed(self._trial.recorder.exchanges) if one.node == node and one.reply)
        return next(replies, None)

    def note_lost(self, step: Any) -> None:
        """Record the calls of a step that reached no tool: an unknown tool, or wrong arguments."""
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
            elif (one := _Call(node, call.function.name, _arguments(call))) in self._unknown:
                self._unknown.remove(one)
            else:
                yield call

    def _note(self, call: Any, place: CallPlace, error: str) -> None:
        recorder = self._trial.recorder
        told = place._replace(call_id=call.id)._asdict()
        name = self._trial.own_name(call.function.name)
        recorder.note_call(name, _arguments(call), recorder.now(), error=error, **told)


class _Call(NamedTuple):
    node: str | None
    tool: str
    arguments: Any


def _arguments(call: Any) -> dict[str, Any]:
    """Return the arguments as smolagents has read them; empty if it could not."""
    given = call.function.arguments
    return {name: jsonable(value) for name, value in given.items()} if isinstance(given, dict) else {}


OUT_OF_STEPS = "it reached max_steps without an answer, and smolagents had the model write one"


class Member:
    """Passes tasks on to an agent; each task is a step of the trace, and an edge between two nodes."""

    def __init__(
        self,
        called: str,
        original: MultiStepAgent,
        agent: MultiStepAgent,
        manager: str,
        ids: Calls,
        recorder: Recorder,
    ) -> None:
        self.name = called
        self.description, self.inputs, self.output_type = (
            original.description,
            original.inputs,
            original.output_type,
        )
        self._agent = agent
        self._manager = manager
        self._ids = ids
        self._recorder = recorder

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the agent reports of a task."""
        arguments = {**dict(zip(self.inputs, args, strict=False)), **kwargs}
        given = {name: jsonable(value) for name, value in arguments.items()}
        turn, node, agent = call_place().turn, str(self._agent.name), self._agent
        place = CallPlace(turn, self._manager, self._ids.taken(self.name, arguments, self._manager))
        started, outcome = self._recorder.now(), {}
        self._recorder.nodes.add(node)
        self._recorder.edges |= {(self._manager, node): None, (node, self._manager): None}
        try:
            with answering(CallPlace(turn, node)):
                report = agent(*args, **kwargs)
            outcome = {"output": jsonable(report), "error": OUT_OF_STEPS if out_of_steps(agent) else None}
        except Exception as error:
            outcome = {"error": described(error)}
            raise
        finally:
            self._recorder.note_call(self.name, given, started, **place._asdict(), **outcome)
        return report


def out_of_steps(agent: MultiStepAgent) -> bool:
    """Return whether the last run ended at its limit, so that its answer is no success."""
    steps = agent.memory.steps
    return bool(steps) and isinstance(getattr(steps[-1], "error", None), AgentMaxStepsError)
