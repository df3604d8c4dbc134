"""One thread judges beside the event loop: what is asked together comes back together, a hang holds nothing back."""

import asyncio
import threading
from typing import Any

import pytest

from agentmut.recording import DaemonWorker, OverdueError


def in_loop(scene: Any) -> Any:
    async def played() -> Any:
        worker = DaemonWorker()
        try:
            return await scene(worker)
        finally:
            worker.close()

    return asyncio.run(played())


def test_results_of_what_was_asked_together_wake_the_loop_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentmut.recording.daemon_worker.HELD_SECONDS", 60.0)
    go = threading.Event()
    wakings: list[Any] = []

    async def scene(worker: DaemonWorker) -> list[int]:
        loop = asyncio.get_running_loop()
        wake = loop.call_soon_threadsafe

        def counted(*args: Any) -> Any:
            wakings.append(args)
            return wake(*args)

        monkeypatch.setattr(loop, "call_soon_threadsafe", counted)

        def held(number: int) -> int:
            go.wait(600)
            return number

        calls = [asyncio.create_task(worker.call(held, number, seconds=60)) for number in range(8)]
        await asyncio.sleep(0)
        go.set()
        return await asyncio.gather(*calls)

    assert in_loop(scene) == list(range(8))
    assert len(wakings) == 1


def test_a_function_that_hangs_keeps_no_earlier_result_back_and_makes_no_later_one_overdue() -> None:
    release = threading.Event()

    def hangs() -> None:
        release.wait(600)

    async def scene(worker: DaemonWorker) -> tuple[Any, ...]:
        calls = [
            asyncio.create_task(worker.call(function, seconds=seconds))
            for function, seconds in ((str, 60), (hangs, 0.05), (int, 0.05))
        ]
        told = await asyncio.gather(*calls[:2], return_exceptions=True)
        await asyncio.sleep(0.1)  # the third has waited longer than it may run, and has not begun
        waits = not calls[2].done()
        release.set()
        return *told, waits, await calls[2]

    first, second, waits, third = in_loop(scene)
    assert first == ""
    assert isinstance(second, OverdueError)
    assert "wait" in str(second) or "hangs" in str(second)
    assert waits
    assert third == 0


def test_a_function_whose_waiter_is_cancelled_is_not_called() -> None:
    go = threading.Event()
    called: list[int] = []

    async def scene(worker: DaemonWorker) -> None:
        first = asyncio.create_task(worker.call(go.wait, 60, seconds=60))
        second = asyncio.create_task(worker.call(called.append, 1, seconds=60))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        go.set()
        await first
        await worker.call(called.append, 2, seconds=60)

    in_loop(scene)
    assert called == [2]


def test_what_is_asked_together_reaches_the_thread_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waking the thread costs more than a short function: forty functions, asked for at once, are one errand."""
    errands: list[int] = []

    async def scene(worker: DaemonWorker) -> list[str]:
        sends = worker._send

        def counted(loop: asyncio.AbstractEventLoop) -> None:
            errands.append(len(worker._asked))
            sends(loop)

        monkeypatch.setattr(worker, "_send", counted)
        return await asyncio.gather(*(worker.call(str, number, seconds=60) for number in range(40)))

    assert in_loop(scene) == [str(number) for number in range(40)]
    assert errands == [40]


def test_a_worker_that_is_closed_at_once_still_answers() -> None:
    async def scene(worker: DaemonWorker) -> int:
        asked = asyncio.create_task(worker.call(int, "7", seconds=60))
        await asyncio.sleep(0)
        worker.close()
        return await asyncio.wait_for(asked, 600)

    assert in_loop(scene) == 7
