"""Who of an orchestration of Semantic Kernel was asked in a turn, after whom, for the trace."""

import asyncio
from collections.abc import Sequence
from typing import Any

from agentmut.adapters.semantic_kernel.run import HANDOFF, note_refused
from agentmut.nouns import END, START
from agentmut.recording import CallPlace, Trial

END_OF_CANCELLED = 1.0
"""Seconds in which what was cut off comes to its end."""
_COMPLETE = f"{HANDOFF}-complete_task"


class Way:
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
        """Whether an agent has ended the task with a summary; else the result says that none has."""
        return any(step.tool == _COMPLETE for step in self._trial.recorder.steps[self._begun :])

    def enters(self, name: str) -> CallPlace:
        """An agent is asked, in the running task: where what it does belongs."""
        recorder = self._trial.recorder
        recorder.nodes.add(name)
        recorder.edges[self._asked[-1] if self._chained and self._asked else START, name] = None
        self._asked.append(name)
        if (task := asyncio.current_task()) is not None:
            self._tasks.add(task)
        return CallPlace(self._turn, name)

    def said(self, text: str, messages: Sequence[Any], came: Sequence[Any]) -> None:
        """An agent has come to its end, with these messages; of the calls in them, those came to a function."""
        note_refused(messages, self._trial, came)
        self.last = text

    def ends(self) -> None:
        """The orchestration has its result."""
        for name in self._asked[-1:] if self._chained else self._asked:
            self._trial.recorder.edges[name, END] = None

    async def cut_off(self) -> None:
        """End what the runtime would have gone on with: it finishes each message that it has begun."""
        running = [task for task in self._tasks if not task.done()]
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=END_OF_CANCELLED)
