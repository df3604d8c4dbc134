"""A run of a Semantic Kernel orchestration, with a runtime for each trial."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from pydantic import JsonValue
from semantic_kernel.agents import ConcurrentOrchestration, HandoffOrchestration
from semantic_kernel.agents.runtime import InProcessRuntime
from semantic_kernel.contents import ChatMessageContent

from agentmut._base import jsonable
from agentmut.adapters._shared.framework import EarlierMessage, Session
from agentmut.adapters.semantic_kernel.orchestration import (
    END_OF_CANCELLED,
    TurnRecord,
    members_of,
    with_members,
)
from agentmut.adapters.semantic_kernel.run import text_of
from agentmut.recording import Trial


class OrchestrationRun(Session):
    """Runs an orchestration, which keeps no history: it gets the whole conversation with each turn."""

    def __init__(self, whole: Any, trial: Trial) -> None:
        self._whole = whole
        self._trial = trial
        self._conversation: list[Any] = []

    def begin(self, earlier: Sequence[EarlierMessage]) -> None:
        """Begin with an earlier conversation."""
        self._conversation = [
            ChatMessageContent(role=message.role, content=message.text) for message in earlier
        ]

    async def ask(self, text: str, turn: int) -> JsonValue:
        """Return the orchestration's result. Raise its error, and an error if it ends without a result."""
        way = TurnRecord(self._trial, turn, chained=not isinstance(self._whole, ConcurrentOrchestration))
        members = [one.model_copy(update={"way": way}) for one in members_of(self._whole)]
        self._conversation.append(ChatMessageContent(role="user", content=text))
        runtime = InProcessRuntime()
        task = list(self._conversation) if len(self._conversation) > 1 else text
        found = await with_members(self._whole, members).invoke(task, runtime)
        runtime.start()  # only now, as it goes on until it is stopped, also where it was not invoked
        result = await _result(found, runtime, way)
        way.ends()
        handed = isinstance(self._whole, HandoffOrchestration) and not way.completed
        answer = way.last if handed else _plain(result)
        self._conversation.append(ChatMessageContent(role="assistant", content=str(answer)))
        return answer


async def _result(found: Any, runtime: InProcessRuntime, record: TurnRecord) -> Any:
    """Return the result when no work is left. Semantic Kernel writes some errors to its log only."""
    idle = asyncio.create_task(_idle(found, runtime))
    try:
        await asyncio.shield(idle)  # a runtime that is cancelled while it comes to its end never does
    except asyncio.CancelledError:
        with suppress(RuntimeError):
            found.cancel()
        await record.cut_off()
        await asyncio.wait({idle}, timeout=END_OF_CANCELLED)
        idle.cancel()
        raise
    if not found.event.is_set():
        raise RuntimeError("the orchestration ended without a result; the log of Semantic Kernel says why")
    return await found.get()


async def _idle(found: Any, runtime: InProcessRuntime) -> None:
    await asyncio.wait({found.background_task})
    await runtime.stop_when_idle()


def _plain(result: Any) -> JsonValue:
    """Return the text of a message, or the texts of several; a transformed result stays unchanged."""
    if isinstance(result, ChatMessageContent):
        return text_of(result)
    if isinstance(result, list):
        return "\n\n".join(str(_plain(one)) for one in result)
    return jsonable(result)
