"""A ready tool loop: ask the model, carry out its calls, and repeat until it answers."""

import asyncio
import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from agentmut._base import AgentmutError, described, jsonable
from agentmut.adapters._shared.conversation import Conversation
from agentmut.adapters._shared.framework import as_text
from agentmut.adapters._shared.tool_loop.dialect import Answer, Call, Dialect, Items, Reply
from agentmut.nouns import Action, AgentConfig, Step
from agentmut.recording import CallPlace, Trial, TrialOverError, answering, in_daemon_thread
from agentmut.trial import Function

MODEL, TOOLS = "model", "tools"
"""The two nodes of the loop."""
MAX_STEPS = 10
"""Model calls per turn where the config says no number."""


class StepLimitError(RuntimeError):
    """The model still called tools when it had used its last step."""


class _NotCalledError(ValueError):
    """A call that cannot be carried out in its written form."""


@dataclass(frozen=True)
class ToolLoop:
    """One run of one agent."""

    dialect: Dialect
    functions: Mapping[str, Function]
    """By the name that the model is told of; they trace their own calls."""
    config: AgentConfig
    max_steps: int
    """Model calls per turn."""
    trial: Trial

    async def outputs(self, turns: Sequence[JsonValue]) -> list[JsonValue]:
        """Return the answers to the turns. Raises `StepLimitError`, and what the SDK raises."""
        history = Conversation(self.config.history, checkpointed=False)
        texts: list[JsonValue] = [as_text(turn) for turn in turns]
        outputs: list[JsonValue] = []
        so_far: Items = []
        async with self.dialect.client() as client:
            for number, text in enumerate(texts):
                if number and history.altered:
                    self.trial.recorder.marks.add("/history")
                asked = history.graph_input(text, texts[:number], outputs, so_far)["messages"]
                so_far, output = await _Turn(self, client, number).answered(asked)
                outputs.append(output)
        return outputs


@dataclass(frozen=True)
class _Turn:
    loop: ToolLoop
    client: Any
    number: int

    async def answered(self, conversation: Items) -> tuple[Items, str]:
        """Return the conversation after this turn, and the answer."""
        for left in reversed(range(self.loop.max_steps)):
            reply = await self._model_reply(conversation)
            conversation = [*conversation, *reply.items]
            if not (reply.calls or reply.unfinished):
                self._respond(reply)
                return conversation, reply.text
            if left and reply.calls:
                conversation += self.loop.dialect.answered(await self._carried_out(reply))
        raise self._stopped()

    def _respond(self, reply: Reply) -> None:
        error = f"the answer was cut off: {reply.cut}" if reply.cut else None
        self._record(action=Action.RESPOND, output=jsonable(reply.text), error=error)

    def _stopped(self) -> StepLimitError:
        limit = self.loop.max_steps
        error = StepLimitError(f"no answer after {limit} model calls (orchestration.max_steps)")
        self._record(action=Action.RESPOND, error=described(error))
        return error

    async def _model_reply(self, conversation: Items) -> Reply:
        recorder = self.loop.trial.recorder
        recorder.nodes.add(MODEL)
        started = recorder.now()
        try:
            with answering(CallPlace(self.number, MODEL)):
                reply = await self.loop.dialect.ask(self.client, self.loop.config, conversation)
        except Exception as error:
            self._reasoned(started, model=self.loop.config.model.name, error=described(error))
            raise
        begun = started if reply.began is None else reply.began
        said = {"output": jsonable(reply.text), "usage": reply.usage}
        self._reasoned(begun, reply.model, reply.node or MODEL, **said)
        return reply

    def _reasoned(self, started: float, model: str, node: str = MODEL, **fields: Any) -> None:
        seconds = self.loop.trial.recorder.now() - started
        self._record(Action.REASON, started, seconds=seconds, model=model, node=node, **fields)

    def _record(self, action: Action, started: float | None = None, **fields: Any) -> None:
        recorder = self.loop.trial.recorder
        begun = recorder.now() if started is None else started
        recorder.steps.append(Step(action=action, turn=self.number, started=begun, **fields))

    async def _carried_out(self, reply: Reply) -> list[Answer]:
        """Return the results of the calls, which run at once; of a reply that was cut off, the last call
        is not whole.
        """
        self.loop.trial.recorder.nodes.add(TOOLS)
        last = len(reply.calls) - 1
        return await asyncio.gather(
            *(
                self._answer(
                    call, f"the call was cut off: {reply.cut}" if reply.cut and number == last else ""
                )
                for number, call in enumerate(reply.calls)
            )
        )

    async def _answer(self, call: Call, refusal: str) -> Answer:
        """Return the result for the model; every failure of the call becomes a text for it."""
        with answering(CallPlace(self.number, call.node or TOOLS, call.id)) as place:
            try:
                function, arguments = self._understood(call, refusal)
            except _NotCalledError as error:
                self._record_uncalled(call, place, str(error))
                return Answer(call, f"Error: {error}", failed=True)
            try:
                result = await _called(function, arguments)
            except (AgentmutError, TrialOverError):
                raise
            except Exception as error:
                return Answer(call, f"Error: {described(error)}", failed=True)
            return Answer(call, as_text(jsonable(result)))

    def _understood(self, call: Call, refusal: str) -> tuple[Function, dict[str, Any]]:
        if refusal:
            raise _NotCalledError(refusal)
        if call.name not in self.loop.functions:
            known = ", ".join(self.loop.functions) or "none"
            raise _NotCalledError(f"there is no tool {call.name!r}; there are: {known}")
        return self.loop.functions[call.name], _arguments(call)

    def _record_uncalled(self, call: Call, place: CallPlace, error: str) -> None:
        recorder = self.loop.trial.recorder
        arguments = {name: jsonable(value) for name, value in _readable(call).items()}
        recorder.note_call(call.name, arguments, recorder.now(), error=error, **place._asdict())


async def _called(function: Function, arguments: dict[str, Any]) -> Any:
    if inspect.iscoroutinefunction(function):
        return await function(**arguments)
    result = await in_daemon_thread(lambda: function(**arguments))
    return await result if inspect.isawaitable(result) else result


def _arguments(call: Call) -> dict[str, Any]:
    """Return what the function is called with. Raises `_NotCalledError` for what is no JSON object."""
    found = call.arguments
    if isinstance(found, str):
        try:
            found = json.loads(found) if found.strip() else {}
        except (ValueError, RecursionError) as error:
            raise _NotCalledError(f"the arguments of {call.name!r} are not JSON: {error}") from None
    if not isinstance(found, dict):
        raise _NotCalledError(f"the arguments of {call.name!r} are no JSON object: {found!r:.80}")
    return found


def _readable(call: Call) -> dict[str, Any]:
    """Return the readable part of the arguments, for the trace."""
    try:
        return _arguments(call)
    except _NotCalledError:
        return {"*": call.arguments}
