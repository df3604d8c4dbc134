"""A conversation with a LlamaIndex agent: one context for all turns, with events recorded for the trace."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from llama_index.core.agent.workflow import AgentInput, AgentWorkflow, ToolCall, ToolCallResult
from llama_index.core.llms import ChatMessage
from llama_index.core.workflow import Context, InputRequiredEvent
from pydantic import JsonValue

from agentmut._base import jsonable
from agentmut.adapters._shared.call_ids import CallIds
from agentmut.adapters._shared.framework import EarlierMessage, Session
from agentmut.adapters.llama_index.tools import Place
from agentmut.nouns import END, START
from agentmut.recording import CallPlace, Trial, call_place

_END_OF_CANCELLED = 1.0
"""Seconds in which a run that was cut off comes to its end."""


class Conversation(Session):
    """Runs a copy of an agent turn by turn."""

    def __init__(self, whole: Any, limit: int | None, trial: Trial) -> None:
        self._whole = whole
        self._limit = limit
        self._trial = trial
        self._offered = _offered(whole)
        self.begin(())

    def begin(self, earlier: Sequence[EarlierMessage]) -> None:
        """Begin with a new context, which holds the memory and the current agent."""
        self._context = Context(self._whole)
        self._earlier = [ChatMessage(role=said.role, content=said.text) for said in earlier]

    async def ask(self, text: str, turn: int) -> JsonValue:
        """Run the agent to its answer. Raise the run's errors, and an error if it waits for a person."""
        earlier, self._earlier = self._earlier, []
        handler = self._whole.run(
            user_msg=text, chat_history=earlier or None, ctx=self._context, max_iterations=self._limit
        )
        way = _AgentPath(self._trial, self._offered, turn)
        try:
            async for event in handler.stream_events():
                way.note(event)
            result = await handler
        except (asyncio.CancelledError, _WaitsError):  # it would go on by itself
            with suppress(Exception):
                await asyncio.wait_for(handler.cancel_run(), _END_OF_CANCELLED)
            raise
        way.end()
        return _answer(result)


class _WaitsError(RuntimeError):
    """An agent waits for a person, and there is none."""


class _AgentPath:
    """Notes which agents ran, which handed over to which, and calls that agentmut does not pass on itself."""

    def __init__(self, trial: Trial, offered: Mapping[str, frozenset[str]], turn: int) -> None:
        self._recorder = trial.recorder
        self._offered = offered
        self._turn = turn
        self._node: str | None = None
        self._begun: dict[str, float] = {}

    def note(self, event: Any) -> None:
        """Record what an event of the run tells. Raises where a person is asked."""
        if isinstance(event, AgentInput):
            self._enter(event.current_agent_name)
        elif isinstance(event, ToolCallResult):
            self._called(event)
        elif isinstance(event, ToolCall):
            self._begun[event.tool_id] = self._recorder.now()
        elif isinstance(event, InputRequiredEvent):
            raise _WaitsError(
                f"the agent waits for a person to answer ({type(event).__name__}); have the tool that asks answered "
                "by a double in the scenario"
            )

    def end(self) -> None:
        """Note that the run has its answer."""
        if self._node:
            self._recorder.edges[self._node, END] = None

    def _enter(self, node: str) -> None:
        self._recorder.nodes.add(node)
        if self._node != node:
            self._recorder.edges[self._node or START, node] = None
        self._node = node

    def _called(self, event: ToolCallResult) -> None:
        """Record a call that no wrapped tool has seen: a hand-off, a retriever's tool, or an unknown tool."""
        if event.tool_name in self._offered.get(self._node or "", ()):
            return
        failed = event.tool_output.is_error
        self._recorder.note_call(
            event.tool_name,
            {name: jsonable(value) for name, value in event.tool_kwargs.items()},
            self._begun.get(event.tool_id, self._recorder.now()),
            output=None if failed else event.tool_output.content,
            error=event.tool_output.content if failed else None,
            **CallPlace(self._turn, self._node, self._result_text(event.tool_id))._asdict(),
        )

    def _result_text(self, call_id: str) -> str | None:
        """Return the id, if the model gave one; for calls in plain text, LlamaIndex invents one."""
        replies = (one.reply for one in self._recorder.exchanges if one.reply)
        return call_id if any(call.id == call_id for reply in replies for call in reply.tool_calls) else None


class Calls:
    """The model calls behind tool calls, from the trial's replies, since LlamaIndex does not pass them to tools."""

    def __init__(self, trial: Trial) -> None:
        self._ids = CallIds(trial.recorder)

    def place_maker(self, node: str) -> Place:
        """Make the record for the tools of an agent."""

        def place(name: str, arguments: Mapping[str, Any]) -> CallPlace:
            return CallPlace(call_place().turn, node, self._ids.claim(name, arguments))

        return place


def _offered(whole: Any) -> dict[str, frozenset[str]]:
    """Return the tools whose calls agentmut passes on, by their agent."""
    members = whole.agents.values() if isinstance(whole, AgentWorkflow) else (whole,)
    return {one.name: frozenset(tool.metadata.get_name() for tool in one.tools or ()) for one in members}


def _answer(result: Any) -> JsonValue:
    """Return the structured answer if there is one, else the text."""
    structured = getattr(result, "structured_response", None)
    if structured is not None:
        return jsonable(structured)
    return str(result.response.content or "") if hasattr(result, "response") else jsonable(result)
