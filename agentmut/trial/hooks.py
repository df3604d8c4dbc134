"""Calls setup and teardown of a scenario: whatever they raise is their own failure and harms no other trial."""

import asyncio
import inspect
import sys
import sysconfig
import threading
from collections.abc import Callable, Sequence
from typing import Any

from agentmut._base import described
from agentmut.nouns import Scenario
from agentmut.recording import harmless, in_daemon_thread, place_of, users_context

GRACE = 1.0
"""Seconds a cancelled run has to clean up before it is abandoned."""
Hook = Callable[[Scenario], Any]


async def call_hook(hook: Hook | None, scenario: Scenario, timeout: float) -> str | None:
    """Call a hook, sync or async; return what went wrong, if anything. Raises only on cancellation."""
    if hook is None:
        return None
    threads: list[int] = []
    task = asyncio.get_running_loop().create_task(_hooked(hook, scenario, threads), context=users_context())
    task.add_done_callback(retrieved)
    place = ""
    try:
        await asyncio.wait({task}, timeout=timeout)
    finally:
        ended = task.done()
        if not ended:
            place = _place_in(threads) or _place_of(task)
            await give_up(task)
    return task.result() if ended else f"not done within {timeout:g} s{place}"


async def _hooked(hook: Hook, scenario: Scenario, threads: list[int]) -> str | None:
    """Call a hook; a sync one in a thread, whose id is put into `threads`. Return what it raised."""

    def called() -> Any:
        threads.append(threading.get_ident())
        return hook(scenario)

    try:
        result = hook(scenario) if inspect.iscoroutinefunction(hook) else await in_daemon_thread(called)
        if inspect.isawaitable(result):
            await result
    except BaseException as error:
        if isinstance(error, asyncio.CancelledError) and _is_cancelled():
            raise
        return described(harmless(error))
    return None


def _is_cancelled() -> bool:
    """Return whether the current task was asked to end, so that its `CancelledError` is none of the hook's own."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def retrieved(task: "asyncio.Task[Any]") -> None:
    """Retrieve the task's error, so that asyncio does not report it when the campaign ends at the same moment."""
    if not task.cancelled():
        task.exception()


async def give_up(task: "asyncio.Task[Any]") -> None:
    """Cancel a task. If it swallows the cancellation, or whoever waits for it is cancelled, close its coroutine."""
    task.cancel()
    try:
        await asyncio.wait({task}, timeout=GRACE)
    finally:
        closed = _closed(task)
    if closed:
        await asyncio.wait({task}, timeout=GRACE)


def _closed(task: "asyncio.Task[Any]") -> bool:
    """Close the coroutine of a task that is not done; return whether the task is about to end by that."""
    coroutine = task.get_coro()
    if task.done() or coroutine is None:
        return False
    try:
        coroutine.close()
    except BaseException:  # it goes on all the same, or is running in this very moment
        return False
    return task.cancel()  # wakes the task, which finds its coroutine closed


def _place_in(threads: Sequence[int]) -> str:
    """Return where the code of a hook's thread is now; empty for an async hook, which has no thread."""
    frames = sys._current_frames()
    places = [place_of(frames[thread]) for thread in threads if thread in frames]
    return f", at {places[0]}" if places else ""


def _place_of(task: "asyncio.Task[Any]") -> str:
    """Return where an async hook waits: in the innermost coroutine that is not Python's own."""
    library, place = sysconfig.get_path("stdlib"), ""
    waiting: Any = task.get_coro()
    while (frame := getattr(waiting, "cr_frame", None)) is not None:
        file = frame.f_code.co_filename
        if "site-packages" in file or not file.startswith((library, "<frozen")):
            place = f", at {file}:{frame.f_lineno} in {frame.f_code.co_name}"
        waiting = waiting.cr_await
    return "" if __file__ in place else place
