"""Orchestrations of Semantic Kernel: read, and copied with other members, whose calls are recorded as their own."""

import asyncio
import copy
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Any

from semantic_kernel.agents import (
    Agent,
    ChatCompletionAgent,
    ChatHistoryAgentThread,
    ConcurrentOrchestration,
    GroupChatOrchestration,
    HandoffOrchestration,
    SequentialOrchestration,
)

from agentmut._base import AdapterError
from agentmut.adapters._shared.agent_source import ON_THE_WIRE
from agentmut.adapters._shared.sdk_version import named_version
from agentmut.adapters.semantic_kernel.run import HANDOFF, note_coming, note_refused
from agentmut.nouns import END, START
from agentmut.recording import CallPlace, Trial, place_calls

END_OF_CANCELLED = 1.0
"""Seconds in which what was cut off comes to its end."""
_COMPLETE = f"{HANDOFF}-complete_task"


class TurnRecord:
    """One turn. `chained`: agents are asked one after the other, and not at once."""

    def __init__(self, trial: Trial, turn: int, *, chained: bool) -> None:
        self._trial = trial
        self._turn = turn
        self._chained = chained
        self._begun = len(trial.recorder.steps)
        self._asked: list[str] = []
        self._tasks: set[asyncio.Task[Any]] = set()
        self.last = ""
        """What the last agent said."""

    @property
    def completed(self) -> bool:
        """Return whether an agent has ended the task with a summary; otherwise the result reports that none has."""
        return any(step.tool == _COMPLETE for step in self._trial.recorder.steps[self._begun :])

    def enters(self, name: str) -> CallPlace:
        """Record that the running task asks an agent, so that its calls are attributed to it."""
        recorder = self._trial.recorder
        recorder.nodes.add(name)
        recorder.edges[self._asked[-1] if self._chained and self._asked else START, name] = None
        self._asked.append(name)
        if (task := asyncio.current_task()) is not None:
            self._tasks.add(task)
        return CallPlace(self._turn, name)

    def note_answer(self, text: str, messages: Sequence[Any], came: Sequence[Any]) -> None:
        """Record an agent's messages at its end; `came` holds their calls that reached a function."""
        note_refused(messages, self._trial, came)
        self.last = text

    def ends(self) -> None:
        """Record that the orchestration has its result."""
        for name in self._asked[-1:] if self._chained else self._asked:
            self._trial.recorder.edges[name, END] = None

    async def cut_off(self) -> None:
        """Stop the runtime, which would otherwise finish each message that it has begun."""
        running = [task for task in self._tasks if not task.done()]
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=END_OF_CANCELLED)


KINDS = (SequentialOrchestration, ConcurrentOrchestration, GroupChatOrchestration, HandoffOrchestration)
_TRANSFER = f"{HANDOFF}-transfer_to_"


def is_orchestration(found: Any) -> bool:
    """Return whether the object is an orchestration whose members are all agents that can be copied."""
    return isinstance(found, KINDS) and all(isinstance(one, ChatCompletionAgent) for one in members_of(found))


def members_of(whole: Any) -> list[Any]:
    """Return the members. Raise `AdapterError` if they are not at their known place."""
    return list(_part(whole, "_members"))


def handoffs_of(whole: Any) -> dict[str, dict[str, str]]:
    """Return where each agent's functions of the orchestration lead."""
    found = _part(whole, "_handoffs") if isinstance(whole, HandoffOrchestration) else {}
    return {
        name: {f"{_TRANSFER}{other}": other for other in targets}
        for name, targets in found.items()
        if targets
    }


def cannot_lead(whole: Any, function: str, target: Any) -> str:
    """Return why a function of the orchestration cannot hand over to an agent: it reaches members only.

    Empty where it can.
    """
    names = [one.name for one in members_of(whole)] if isinstance(whole, HandoffOrchestration) else []
    if not names or not function.startswith(_TRANSFER) or target in (None, *names):
        return ""
    return f"{function} hands over to members of the orchestration, and {target!r} is none of them"


def can_do_without(whole: Any) -> bool:
    """Return whether a member may be left out, since no hand-off of others leads to it."""
    return not isinstance(whole, HandoffOrchestration)


def with_members(whole: Any, members: Sequence[Agent]) -> Any:
    """Return a copy of an orchestration with other members and a manager that has counted no rounds."""
    copied = copy.copy(whole)
    for name, value in vars(whole).items():
        if getattr(value, "__self__", None) is whole:  # a method of its own that was chosen by default
            setattr(copied, name, getattr(copied, value.__name__))
    copied._members = list(members)
    if isinstance(whole, GroupChatOrchestration):
        copied._manager = _part(whole, "_manager").model_copy()
    return copied


def _part(whole: Any, name: str) -> Any:
    try:
        return vars(whole)[name]
    except KeyError:
        raise AdapterError(
            f"{named_version('semantic-kernel')} does not keep {name} in a "
            f"{type(whole).__name__}; mutants can reach it by {ON_THE_WIRE}"
        ) from None


class RecordedAgent(Agent):
    """An agent in an orchestration: its requests and calls are recorded as its own.

    One of a runtime has a `way`.
    """

    own: ChatCompletionAgent
    leads: Mapping[str, str]
    """Where the functions lead that hand over, by their names; those that are left out are not offered."""
    way: TurnRecord | None = None

    @classmethod
    def from_agent(cls, own: ChatCompletionAgent, leads: Mapping[str, str]) -> "RecordedAgent":
        """Has the name and the kernel of the agent."""
        return cls(name=own.name, description=own.description, kernel=own.kernel, own=own, leads=dict(leads))

    async def invoke_stream(
        self, messages: Any = None, *, thread: Any = None, kernel: Any = None, **others: Any
    ) -> AsyncIterator[Any]:
        """Yield the agent's answer in pieces, in the form for orchestrations."""
        assert self.way is not None
        thread = thread or ChatHistoryAgentThread()
        before, came = len(thread), note_coming()
        place_calls(self.way.enters(self.name))  # the runtime has made a task for this message
        pieces: list[str] = []
        async for item in self.own.invoke_stream(
            messages, thread=thread, kernel=self._kernel(kernel), **others
        ):
            pieces.append(str(item.message))
            yield item
        found = [message async for message in thread.get_messages()]
        self.way.note_answer("".join(pieces), found[before:], came)

    def _kernel(self, value: Any) -> Any:
        """Return the kernel that an orchestration has derived, with the agent's own functions restored.

        Semantic Kernel gives copies of them the names of their plugins.
        """
        if value is None or HANDOFF not in value.plugins:
            return value
        held = value.plugins[HANDOFF]
        kept = {
            one.name: _led(one, self.leads)
            for one in held
            if (name := one.fully_qualified_name) in self.leads or not name.startswith(_TRANSFER)
        }
        value.plugins.update(self.own.kernel.plugins)
        value.plugins[HANDOFF] = held.model_copy(update={"functions": kept})
        return value

    async def get_response(self, *args: Any, **named: Any) -> Any:
        """Get the agent's response."""
        return await self.own.get_response(*args, **named)

    async def invoke(self, *args: Any, **named: Any) -> AsyncIterator[Any]:
        """Invoke the agent."""
        async for item in self.own.invoke(*args, **named):
            yield item


def _led(function: Any, leads: Mapping[str, str]) -> Any:
    """Return a function that hands over to the target in `leads`.

    Where an agent is asked again, it has been led before.
    """
    name = function.fully_qualified_name
    target = leads.get(name, "")
    if name == f"{_TRANSFER}{target}" or not name.startswith(_TRANSFER):
        return function
    if not isinstance(function.method, partial):
        raise AdapterError(
            f"{name} does not hand over as agentmut knows it of {named_version('semantic-kernel')}, so "
            f"it cannot lead to {target!r}; mutants can reach the orchestration by {ON_THE_WIRE}"
        )
    return function.model_copy(update={"method": partial(function.method.func, target)})
