"""The line to one actor of a Ray cluster: trials go there and come back in batches."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from agentmut._base import RunError, __version__, described
from agentmut.nouns import Execution
from agentmut.trial.executor import TrialRequest
from agentmut.trial.ray_actor import Ended, Failure

STARTING = 300.0
"""Seconds until an actor has its resources and has imported the agent."""


class EndedError(Exception):
    """The actor was ended while it ran a trial."""


class ActorLine:
    """Starts an actor's work, and returns each trial to its caller.

    Trials that are asked for in the same step of the event loop go to the actor in one call.
    """

    def __init__(self, ray: Any, actor: Any) -> None:
        self._ray = ray
        self._actor = actor
        self._waiting: dict[int, asyncio.Future[Execution]] = {}
        self._unsent: list[tuple[int, TrialRequest]] = []
        self._numbers = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._broken: Exception | None = None
        self.ready = asyncio.create_task(_started(ray, actor))
        """Done once the actor has imported the agent. Raises `RunError`, or an error of Ray."""

    async def execute(self, request: TrialRequest) -> Execution:
        """Run one trial. Raises `RunError`, `EndedError`, or an error of Ray where the actor is lost."""
        if self._broken is not None:
            raise self._broken
        loop = asyncio.get_running_loop()
        if not self._numbers:
            self._start_task(self._listen())
        self._numbers += 1
        number = self._numbers
        answer: asyncio.Future[Execution] = loop.create_future()
        self._waiting[number] = answer
        if not self._unsent:
            loop.call_soon(self._send)
        self._unsent.append((number, request))
        try:
            return await answer
        finally:
            del self._waiting[number]

    def end(self) -> None:
        """End the actor, and all trials that it runs."""
        for task in (self.ready, *self._tasks):
            task.cancel()
        with suppress(Exception):
            self._ray.kill(self._actor)
        self._broken = EndedError()
        self._fail(self._waiting, self._broken)

    def _send(self) -> None:
        some, self._unsent = self._unsent, []
        numbers = [number for number, _ in some]
        try:
            begun = self._actor.begin.remote(some)
        except Exception as error:
            self._fail(numbers, error)
        else:
            self._start_task(self._see_begun(begun, numbers))

    async def _see_begun(self, begun: Any, numbers: list[int]) -> None:
        try:
            await begun
        except Exception as error:
            self._fail(numbers, error)

    async def _listen(self) -> None:
        try:
            while True:
                self._deliver(await self._actor.ended.remote())
        except Exception as error:
            self._broken = error
            self._fail(self._waiting, error)

    def _deliver(self, ended: Iterable[Ended]) -> None:
        for number, outcome in ended:
            answer = self._waiting.get(number)
            if answer is None or answer.done():
                continue
            if isinstance(outcome, Failure):
                answer.set_exception(RunError(f"a node could not run a trial: {outcome.message}"))
            else:
                answer.set_result(outcome)

    def _fail(self, numbers: Iterable[int], error: Exception) -> None:
        for number in list(numbers):
            answer = self._waiting.get(number)
            if answer is not None and not answer.done():
                answer.set_exception(error)

    def _start_task(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _started(ray: Any, actor: Any) -> None:
    try:
        version = await asyncio.wait_for(_answer(actor.start.remote()), STARTING)
    except TimeoutError:
        raise RunError(
            f"no node of the Ray cluster had an actor ready within {STARTING:g} s. Give it nodes with the CPUs, GPUs "
            "and memory that execution asks for, or ask for less."
        ) from None
    except ray.exceptions.RayTaskError as error:
        raise RunError(f"a node could not import the agent: {described(error.cause or error)}") from None
    if version != __version__:
        raise RunError(
            f"a node has agentmut {version}, and this process {__version__}: install the same version on all nodes."
        )


async def _answer(reference: Any) -> Any:
    return await reference
