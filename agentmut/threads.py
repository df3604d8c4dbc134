"""Running a user's blocking function without blocking the event loop."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import Any

from agentmut.trial import Recorder, current_trial


async def in_daemon_thread(function: Callable[..., Any], *args: Any) -> Any:
    """Call `function` in a thread of its own and wait for its result.

    The thread sees the caller's context variables. It is a daemon, so a run that never ends, once
    cancelled here, keeps neither a pool slot nor the process alive.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()
    recorder = trial.recorder if (trial := current_trial()) else Recorder()

    def settle(setter: Callable[[Any], None], value: Any) -> None:
        if not done.done():  # the waiter may have given up meanwhile
            setter(value)

    def work() -> None:
        try:
            result, setter = context.run(function, *args), done.set_result
        except BaseException as error:
            result, setter = error, done.set_exception
            if isinstance(error, StopIteration):  # a future refuses this one
                result = RuntimeError(f"StopIteration: {error}")
        recorder.threads -= 1
        try:
            loop.call_soon_threadsafe(settle, setter, result)
        except RuntimeError:
            return  # the loop is closed: nobody waits any more

    recorder.threads += 1
    threading.Thread(target=work, daemon=True, name="agentmut-trial").start()
    return await done
