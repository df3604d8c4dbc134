"""Threads of a trial: work in a thread pool or in a bare `threading.Thread` stays part of its trial.

A bare thread belongs to the trial that starts it. One that several trials share belongs to the first of them, and once
that trial is over, nobody knows whose requests the thread sends: they pass as they are, unseen.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from contextvars import ContextVar, copy_context
from types import MethodType
from typing import Any

from agentmut.recording import Trial, belonging, call_place, current_trial, in_agents_thread, place_calls
from agentmut.wire.carriers.patching import replaced

_of_a_pool: ContextVar[bool] = ContextVar("agentmut_pool_grows", default=False)
"""Whether the calling code gives work to a pool, whose new threads are everybody's."""
_started_by: ContextVar[Trial | None] = ContextVar("agentmut_thread_of", default=None)
"""The trial that started the bare thread which the calling code runs in."""


def enter(stack: ExitStack) -> None:
    """Keep threads in their trial until the stack is closed."""
    stack.enter_context(replaced(ThreadPoolExecutor, "submit", _submit_with_trial))
    stack.enter_context(replaced(threading.Thread, "start", _start_with_trial))


def outlived(trial: Trial) -> bool:
    """Return whether the calling code runs in a bare thread that has outlived the trial that started it."""
    return trial.recorder.closed and not trial.recorder.cut_off and _started_by.get() is trial


def strange() -> str:
    """Return the name of the calling thread where it is one of the agent's that is older than the trial; else "".

    Threads of agentmut itself, such as the one that judges, ask models in their own name.
    """
    return threading.current_thread().name if in_agents_thread() else ""


def _submit_with_trial(original: Callable[..., Any]) -> Callable[..., Any]:
    def submit(pool: Any, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        token = _of_a_pool.set(True)
        try:
            if current_trial() is None:
                return original(pool, function, *args, **kwargs)
            return original(pool, _context().run, function, *args, **kwargs)
        finally:
            _of_a_pool.reset(token)

    return submit


def _context() -> Any:
    context = copy_context()
    context.run(_of_a_pool.set, False)
    return context


def _start_with_trial(original: Callable[..., Any]) -> Callable[..., Any]:
    def start(thread: Any) -> None:
        trial = current_trial()
        if trial is None or _of_a_pool.get():
            original(thread)
            return
        hidden = vars(thread).get("run")  # of a thread that was given a `run` by itself
        thread.run = MethodType(_run_as(trial, thread.run, hidden), thread)  # as any thread's: a method of it
        try:
            original(thread)
        except BaseException:  # it runs already, or cannot run
            _restore(thread, hidden)
            raise

    return start


def _run_as(trial: Trial, run: Callable[[], Any], hidden: Any) -> Callable[[Any], None]:
    """Return the thread's `run` as a part of the trial; other context variables keep the thread's values."""
    place = call_place()

    def as_trial(thread: Any) -> None:
        _restore(thread, hidden)
        _started_by.set(trial)
        with belonging(trial):
            place_calls(place)
            run()

    return as_trial


def _restore(thread: Any, hidden: Any) -> None:
    vars(thread).pop("run", None)
    if hidden is not None:
        thread.run = hidden
