"""A worker process of `isolate: process`: builds its executor once, and answers requests until the pipe closes."""

import asyncio
import faulthandler
import os
import sys
import threading
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, suppress
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from agentmut._base import BEAT, PLACE_SIGNAL, described, fault_behind, fault_of_now
from agentmut.nouns import Ending, Execution, Step
from agentmut.recording import Purse, Trial, be_worker, own_older_threads
from agentmut.trial.containment import contain_for_good
from agentmut.trial.executor import Executor, LocalExecutor
from agentmut.trial.single_run import asked_by, cut_off

GROUPED = "grouped"
"""A worker's word that it has a process group of its own. It waits for an answer before it runs code of users."""
READY = "ready"
SPOILED = "spoiled"
"""The first of two words on a trial that has spoiled its worker; the second says how. Mere texts get through the pipe
where code of users has taken away the modules that other words need."""
MakeExecutor = Callable[[], Executor]


class Underway(NamedTuple):
    """A worker's word on a trial that has not ended; what it says is kept if the worker is killed."""

    began: bool = False
    """Whether its setup is done, so that its agent runs."""
    hooks: tuple[Step, ...] = ()
    """What its hooks have asked of models so far, with prices."""
    concluded: Execution | None = None
    """How the run has ended, with prices, while its teardown is called."""


def serve(
    make: MakeExecutor,
    pipe: Connection,
    places: Connection,
    environment: Mapping[str, str],
    purse: Purse | None = None,
) -> None:
    """Run the worker's main loop: build once, then answer requests until the pipe closes."""
    os.environ.clear()  # what it was forked from has that of an earlier time
    os.environ.update(environment)
    if hasattr(os, "setpgrp"):
        os.setpgrp()  # Ctrl-C is the parent's business, and the agent's own children end with this one
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        pipe.send(GROUPED)
        pipe.recv()
    except (EOFError, OSError):  # killed before it could watch this worker
        return
    be_worker()
    if hasattr(faulthandler, "register"):
        faulthandler.register(PLACE_SIGNAL, file=places.fileno(), all_threads=True)
    contain_for_good(watching_only=True)  # what a trace raises in the event loop would be waited for
    try:
        executor = make()
    except Exception as error:
        pipe.send(described(error))
        return
    if purse is not None and isinstance(executor, LocalExecutor):
        executor.spend_from(purse)
    until_ended(_answer(executor, pipe))


def until_ended(work: Coroutine[Any, Any, None]) -> None:
    """Run a worker's work, and end the process in a line where an agent has ended its tasks, its loop or its files."""
    try:
        asyncio.run(work)
    except BaseException as error:
        why = fault_behind(error) or described(error)
        with suppress(OSError, ValueError):
            print(f"a worker process has ended: {why}", file=sys.stderr, flush=True)
        os._exit(1)


def _end_with_parent() -> None:
    """End this worker when the campaign's process is gone, even while a trial is stuck."""
    if parent := parent_process():
        parent.join()
        os._exit(1)


class _Answers:
    """Sends each answer once: the executor's, or a partial one if an agent blocks the event loop."""

    def __init__(self, pipe: Connection, priced: Callable[[Execution], Execution]) -> None:
        self._pipe = pipe
        self._priced = priced
        self._lock = threading.Lock()
        self._open = False
        self._hooks: Trial | None = None
        self._trial: tuple[Trial, float] | None = None
        self._concluded: Execution | None = None
        self._timer = threading.Timer(0, self._overdue)

    def begin(self, seconds: float) -> None:
        """Expect an answer within so many seconds."""
        self._hooks, self._trial, self._concluded, self._open = None, None, None, True
        self._timer = threading.Timer(seconds, self._overdue)
        self._timer.daemon = True
        self._timer.start()

    def note_hooks(self, hooks: Trial) -> None:
        """Take note of the record that the trial's hooks write now."""
        self._hooks = hooks

    def note(self, trial: Trial, timeout: float) -> None:
        """Take note of the trial that runs now; threads of its agent that are older belong to it."""
        self._trial = (trial, timeout)
        self._say(began=True)
        own_older_threads(trial)

    def conclude(self, ended: Execution) -> None:
        """Take note of how the run has ended, whatever its teardown does."""
        self._concluded = self._priced(ended)
        self._say(began=True)

    def _say(self, *, began: bool) -> None:
        """Tell the parent how far the trial is, unless its answer was sent already."""
        asked = asked_by(self._hooks)
        priced = self._priced(Execution(ending=Ending.SETUP_FAILED, hooks=asked)).hooks if asked else ()
        with self._lock, suppress(OSError):  # the parent has gone, which the next answer shows
            if self._open:
                self._pipe.send(Underway(began, priced, self._concluded))

    def send(self, answer: Execution | str | tuple[str, str]) -> None:
        """Send the answer, unless one was sent already. Raises where it cannot be sent; then another one can."""
        self._timer.cancel()
        with self._lock:
            if self._open:
                self._pipe.send(answer)
                self._open = False

    def check(self) -> None:
        """Answer in the place of an event loop that code of users lets do nothing more, such as by a `len` that is 0.

        Python's own functions are put back only once the lock is held, so that no other answer comes first.
        """
        with self._lock:
            if (fault := fault_of_now()) and self._open:
                self._open = False
                self._pipe.send((SPOILED, fault))

    def _overdue(self) -> None:
        self.check()
        if self._concluded or self._trial is None:  # a hook blocks: the process is killed
            self._say(began=self._concluded is not None)
        else:
            self.send(self._priced(cut_off(*self._trial, self._hooks)))


async def _answer(executor: Executor, pipe: Connection) -> None:
    if isinstance(executor, LocalExecutor):
        executor.owns_process = True
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(executor.session())
        except Exception as error:
            pipe.send(described(error))
            return
        pipe.send(READY)
        await _answer_all(executor, pipe)
    os._exit(0)  # without waiting for what agents have left behind


def _check_again_and_again(answers: _Answers) -> None:
    """Check the worker as long as it is there; each time takes a few microseconds."""
    never = threading.Event()
    while not never.wait(BEAT):
        with suppress(OSError):  # the parent has gone, which the next answer shows
            answers.check()


async def _answer_all(executor: Executor, pipe: Connection) -> None:
    """Answer requests until the other side closes the pipe."""
    local = executor if isinstance(executor, LocalExecutor) else None
    answers = _Answers(pipe, local.priced if local else lambda execution: execution)
    if local:
        local.prepared, local.begun, local.concluded = answers.note_hooks, answers.note, answers.conclude
    threading.Thread(target=_check_again_and_again, args=(answers,), daemon=True).start()
    while True:
        try:
            request, seconds = await asyncio.to_thread(pipe.recv)
        except (EOFError, OSError):
            return
        answers.begin(seconds)
        try:
            ended = await executor.execute(request)
        except Exception as error:
            fault = fault_behind(error)
            answers.send((SPOILED, fault) if fault else described(error))
        else:
            _send(ended, answers)
        finally:
            own_older_threads(None)


def _send(ended: Execution, answers: _Answers) -> None:
    """Send how a trial ended. Where that cannot be packed, code of users has taken away what is needed for it."""
    try:
        answers.send(ended)
    except OSError:
        raise
    except Exception as error:
        answers.send(
            (SPOILED, fault_behind(error) or f"the agent has spoiled its process: {described(error)}")
        )
