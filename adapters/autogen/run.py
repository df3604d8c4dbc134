"""A turn of an AutoGen agent or team, run by its message stream, which shows who did what."""

import asyncio
import re
from collections import defaultdict, deque
from typing import Any

from autogen_agentchat.base import TaskResult
from autogen_agentchat.messages import (
    BaseChatMessage,
    HandoffMessage,
    StructuredMessage,
    ToolCallExecutionEvent,
    ToolCallRequestEvent,
    ToolCallSummaryMessage,
)
from autogen_core import CancellationToken
from pydantic import JsonValue

from agentmut._base import jsonable
from agentmut.adapters._shared.call_ids import parsed
from agentmut.adapters.autogen.team import Team
from agentmut.nouns import END, START
from agentmut.recording import Trial

FAREWELL = 1.0
"""Seconds that a run which is cut off has to end its tasks."""
LIMITS = re.compile(r"Maximum number of|Timeout of|Token usage")
"""How the stop reasons of AutoGen's own limits begin."""


class NoAnswerError(RuntimeError):
    """The agent or the team stopped before anybody answered."""


class Run:
    """One turn."""

    def __init__(self, team: Team, trial: Trial, turn: int) -> None:
        self._team = team
        self._trial = trial
        self._turn = turn
        self._places = team.places
        self._last: str | None = None
        self._asked: dict[tuple[str, str], deque[tuple[float, str]]] = defaultdict(deque)
        """When tools were asked for, and with which arguments, by who asked and the id, which may be given again."""

    async def result(self, task: Any) -> TaskResult:
        """Return the final result of the run. Raise the error of its last request, if this ended the run."""
        token = CancellationToken()
        running = asyncio.create_task(self._consumed(task, token))
        running.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            await asyncio.wait({running})
        except asyncio.CancelledError:
            token.cancel()  # a team waits for its members to end, and they for the token
            running.cancel()
            await asyncio.wait({running}, timeout=FAREWELL)
            raise
        return running.result()

    async def _consumed(self, task: Any, token: CancellationToken) -> TaskResult:
        result: TaskResult | None = None
        stream = self._team.root.run_stream(task=task, cancellation_token=token, output_task_messages=False)
        try:
            async for message in stream:
                if isinstance(message, TaskResult):
                    result = message  # the last one; a stream that is left before its end is closed elsewhere
                else:
                    self._note(message)
        except RuntimeError as error:
            if cause := self._cause(error):
                raise cause from error
            raise
        if result is None:
            raise NoAnswerError("the stream of messages ended without a result")
        if self._last:
            self._trial.recorder.edges[self._last, END] = None
        return result

    def _cause(self, error: RuntimeError) -> Exception | None:
        """Return the failed request whose text a team's error tells."""
        raised = (client.error for client in self._team.clients() if client.error)
        return next((one for one in raised if one is not error and str(one) in str(error)), None)

    def _note(self, message: Any) -> None:
        recorder, source = self._trial.recorder, message.source
        if source in self._places:
            recorder.nodes |= {source, *self._places[source]}
            if source != self._last:
                recorder.edges[self._last or START, source] = None
            self._last = source
        if isinstance(message, ToolCallRequestEvent):
            for call in message.content:
                self._asked[source, call.id].append((recorder.now(), call.arguments))
        if isinstance(message, ToolCallExecutionEvent):
            self._note_results(message)

    def _note_results(self, message: ToolCallExecutionEvent) -> None:
        """Return the steps of hand-offs, of calls that reached no tool, and of agents that agentmut has not changed."""
        recorder = self._trial.recorder
        for result in message.content:
            asked = self._asked[message.source, result.call_id]
            started, text = asked.popleft() if asked else (recorder.now(), "")
            arguments = _arguments(text)
            if arguments is not None and self._team.passes(message.source, result.name):
                continue  # the workbench has a step of it
            recorder.note_call(
                self._trial.own_name(result.name),
                arguments or {},
                started,
                **({"error": result.content} if result.is_error else {"output": result.content}),
                turn=self._turn,
                node=message.source,
                call_id=result.call_id,
            )


def task_of(text: str, last: TaskResult | None) -> Any:
    """Return a turn's task: a swarm that has handed over to the user is handed back."""
    message = _last_message(last) if last else None
    if isinstance(message, HandoffMessage):
        return HandoffMessage(source=message.target, target=message.source, content=text)
    return text


def answer_of(result: TaskResult, team: Team) -> JsonValue:
    """Return the last message. Raise `NoAnswerError` if it is no answer for a user."""
    message = _last_message(result)
    if message is None:
        raise NoAnswerError(f"nobody answered{_reason(result)}")
    if isinstance(message, HandoffMessage) and message.target in team.places:
        raise NoAnswerError(
            f"{message.source} handed over to {message.target}, who was not asked{_reason(result)}"
        )
    if isinstance(message, ToolCallSummaryMessage) and _cut_short(result, message.source, team):
        raise NoAnswerError(f"{message.source} was stopped after calls of tools{_reason(result)}")
    if isinstance(message, StructuredMessage):
        return jsonable(message.content)
    text = message.to_text()
    if not text.strip():
        raise NoAnswerError(f"{message.source} answered with an empty text{_reason(result)}")
    return text


def _last_message(result: TaskResult) -> BaseChatMessage | None:
    said = (message for message in reversed(result.messages) if isinstance(message, BaseChatMessage))
    return next(said, None)


def _cut_short(result: TaskResult, source: str, team: Team) -> bool:
    """Return whether the run ended with tool results that are not meant as the answer."""
    return source in team.looping or bool(LIMITS.search(result.stop_reason or ""))


def _reason(result: TaskResult) -> str:
    return f": {result.stop_reason}" if result.stop_reason else ""


def _arguments(text: str) -> dict[str, Any] | None:
    """Return the arguments of a call; None if they are no JSON object, with which no tool can be called."""
    found = parsed(text)
    return found if isinstance(found, dict) else None
