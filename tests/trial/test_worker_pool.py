"""Which worker takes a trial, and when a worker starts."""

import asyncio

import pytest

from agentmut.trial.worker_pool import WorkerPool


class Worker:
    """Starts when it is told to."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.is_ready = False
        self.go = asyncio.Event()
        self.has_begun = False
        self._fault = fault

    async def start(self) -> None:
        self.has_begun = True
        await self.go.wait()
        if self._fault:
            raise self._fault
        self.is_ready = True


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.mark.anyio
async def test_a_trial_that_waits_takes_the_worker_that_is_free_first() -> None:
    first, second = Worker(), Worker()
    pool = WorkerPool([first, second], at_once=2)
    one, two = asyncio.create_task(pool.take()), asyncio.create_task(pool.take())
    first.go.set()
    await settle()
    assert one.result() is first
    pool.give_back(first)
    await settle()
    assert two.result() is first
    await pool.close()


@pytest.mark.anyio
async def test_a_worker_whose_turn_comes_when_no_trial_waits_does_not_start() -> None:
    first, second = Worker(), Worker()
    pool = WorkerPool([first, second], at_once=1)
    waiting = [asyncio.create_task(pool.take()) for _ in range(2)]
    await settle()
    waiting[1].cancel()
    first.go.set()
    await settle()
    assert (first.has_begun, second.has_begun) == (True, False)
    third = asyncio.create_task(pool.take())  # the first one is busy
    await settle()
    assert second.has_begun
    third.cancel()
    await pool.close()


@pytest.mark.anyio
async def test_a_worker_that_ended_in_its_trial_starts_again_for_a_trial_that_waits() -> None:
    only = Worker()
    only.go.set()
    pool = WorkerPool([only], at_once=1)
    assert await pool.take() is only
    waiting = asyncio.create_task(pool.take())
    await settle()
    only.is_ready = False
    pool.give_back(only)
    assert await waiting is only
    assert only.is_ready


@pytest.mark.anyio
async def test_a_start_that_fails_raises_in_each_trial_that_waits() -> None:
    broken = Worker(fault=ImportError("no module named shop"))
    broken.go.set()
    pool = WorkerPool([broken], at_once=1)
    for trial in [asyncio.create_task(pool.take()) for _ in range(3)]:
        with pytest.raises(ImportError, match="no module named shop"):
            await trial
