"""The line to an actor, without Ray: trials go in few calls, and each caller is told what became of its own."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from agentmut._base import RunError
from agentmut.nouns import Ending, Execution
from agentmut.trial.executor import TrialRequest
from agentmut.trial.ray_actor import TrialActor
from agentmut.trial.ray_line import ActorLine, EndedError


class Waiting:
    """An executor; a trial of scenario `s` raises where its id is `bad`, and never ends where it is `long`."""

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        yield

    async def execute(self, request: TrialRequest) -> Execution:
        if request.id == "bad":
            raise RunError("no trial can be run here")
        await asyncio.sleep(3600 if request.id == "long" else 0.01)
        return Execution(ending=Ending.ANSWERED, reason=request.id)


class Handle:
    """What Ray hands out for an actor, in one process: calls are counted, and may fail."""

    def __init__(self, make: Callable[[], Any] = Waiting) -> None:
        self._actor = TrialActor(make, {})
        self.calls: list[str] = []
        self.lost: dict[str, Exception] = {}

    def __getattr__(self, name: str) -> Any:
        method: Callable[..., Coroutine[Any, Any, Any]] = getattr(self._actor, name)

        async def called(*given: Any) -> Any:
            if name in self.lost:
                raise self.lost[name]
            return await method(*given)

        def remote(*given: Any) -> asyncio.Task[Any]:
            self.calls.append(name)
            return asyncio.create_task(called(*given))

        return SimpleNamespace(remote=remote)


class RayTaskError(Exception):
    """Stands for Ray's."""

    cause = None


RAY: Any = SimpleNamespace(kill=lambda actor: None, exceptions=SimpleNamespace(RayTaskError=RayTaskError))


def request(name: str) -> TrialRequest:
    return TrialRequest(None, "s", name)


@asynccontextmanager
async def line_to(handle: Handle) -> AsyncIterator[ActorLine]:
    line = ActorLine(RAY, handle)
    await line.ready
    try:
        yield line
    finally:
        line.end()


def test_trials_that_are_asked_for_together_share_calls_and_each_gets_its_own_answer() -> None:
    async def asked() -> tuple[list[Execution], list[str]]:
        handle = Handle()
        async with line_to(handle) as line:
            answers = await asyncio.gather(*(line.execute(request(str(number))) for number in range(50)))
            return answers, handle.calls

    answers, calls = asyncio.run(asked())
    assert [answer.reason for answer in answers] == [str(number) for number in range(50)]
    assert calls.count("begin") == 1
    assert calls.count("ended") <= 3  # the last one waits for further trials


def test_a_trial_that_cannot_be_run_is_an_error_of_the_run_and_no_other_trials() -> None:
    async def asked() -> list[Any]:
        async with line_to(Handle()) as line:
            asked = (line.execute(request(name)) for name in ("bad", "good"))
            return list(await asyncio.gather(*asked, return_exceptions=True))

    bad, good = asyncio.run(asked())
    assert isinstance(bad, RunError)
    assert str(bad) == "a node could not run a trial: RunError: no trial can be run here"
    assert good.reason == "good"


@pytest.mark.parametrize("call", ["begin", "ended"])
def test_an_actor_that_is_lost_fails_the_trials_that_it_runs(call: str) -> None:
    async def asked() -> Any:
        handle = Handle()
        handle.lost[call] = ConnectionError("the actor died")
        async with line_to(handle) as line:
            return await asyncio.wait_for(line.execute(request("good")), 600)

    with pytest.raises(ConnectionError, match="the actor died"):
        asyncio.run(asked())


def test_what_an_ended_actor_was_running_is_told_at_once() -> None:
    async def asked() -> Any:
        async with line_to(Handle()) as line:
            running = asyncio.create_task(line.execute(request("long")))
            await asyncio.sleep(0.01)
            line.end()
            with pytest.raises(EndedError):
                await asyncio.wait_for(running, 600)
            return await line.execute(request("after"))

    with pytest.raises(EndedError):
        asyncio.run(asked())


def test_a_caller_that_gives_up_leaves_the_line_in_order() -> None:
    async def asked() -> Execution:
        async with line_to(Handle()) as line:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(line.execute(request("late")), 0.001)
            await asyncio.sleep(0.05)  # its answer comes, and nobody takes it
            return await line.execute(request("next"))

    assert asyncio.run(asked()).reason == "next"
