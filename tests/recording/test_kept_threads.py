"""Daemon threads that wait for the next call of a library."""

import asyncio
import threading
import time
from contextvars import ContextVar

from agentmut.recording import KeptThreads

WORD: ContextVar[str] = ContextVar("word", default="")


def where() -> tuple[int, str]:
    return threading.get_ident(), WORD.get()


def test_calls_after_each_other_share_a_thread_and_see_the_context_of_their_caller() -> None:
    async def calls() -> list[tuple[int, str]]:
        threads, found = KeptThreads(), []
        for word in ("first", "second"):
            WORD.set(word)
            found.append(await threads.run(where))
            await asyncio.sleep(0.01)  # the thread says that it is idle after it has answered
        return found

    (first, one), (second, other) = asyncio.run(calls())
    assert first == second != threading.get_ident()
    assert (one, other) == ("first", "second")


def test_calls_at_once_have_a_thread_each_and_errors_reach_their_caller() -> None:
    together = threading.Barrier(2, timeout=600)

    def failed() -> None:
        together.wait()
        raise ValueError("no such order")

    async def both() -> list[object]:
        threads = KeptThreads()
        return list(
            await asyncio.gather(threads.run(together.wait), threads.run(failed), return_exceptions=True)
        )

    waited, error = asyncio.run(both())
    assert waited in (0, 1)
    assert repr(error) == "ValueError('no such order')"


def test_a_thread_without_calls_ends() -> None:
    async def thread() -> threading.Thread:
        found: threading.Thread = await KeptThreads(idle_seconds=0.001).run(threading.current_thread)
        return found

    ended = asyncio.run(thread())
    ended.join(timeout=600)
    assert not ended.is_alive()
    assert ended.daemon


def test_a_call_that_hangs_keeps_no_other_from_its_thread() -> None:
    hanging = threading.Event()

    async def beside() -> float:
        threads = KeptThreads()
        lost = asyncio.ensure_future(threads.run(hanging.wait))
        answer: float = await threads.run(time.monotonic)
        lost.cancel()
        return answer

    assert asyncio.run(beside()) > 0
    hanging.set()
