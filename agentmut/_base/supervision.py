"""The messages of a supervised process to its supervisor, and the signals that the supervisor takes over."""

import faulthandler
import mmap
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import NamedTuple

from agentmut._base.users_faults import fault_of_now

STOP_SIGNAL = getattr(signal, "SIGUSR1", signal.SIGTERM)
"""By this the supervisor asks for the end. Ctrl-C in a terminal reaches every process of the group, so that alone the
supervisor counts it."""
PLACE_SIGNAL = getattr(signal, "SIGUSR2", signal.SIGTERM)
"""By this the supervisor asks where the threads of the process are: the answer needs no turn of Python."""


class SecondProcess(NamedTuple):
    """A second process of a command: code of users has stopped or ended the first, so here that code is isolated."""

    run: str = ""
    """The id of the run that the first process has left; empty if it had begun none."""
    kind: str = ""
    """The kind of that run, with underscores for spaces."""


class Label:
    """A short text in memory that two processes share: the supervisor reads it when the other process has ended."""

    BYTES = 512

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, self.BYTES)

    @property
    def text(self) -> str:
        """Return what was written last."""
        return self._memory[:].partition(b"\0")[0].decode("utf-8", "ignore")

    def write(self, text: str) -> None:
        """Write a text in the place of the one before; no more of it than there is room for."""
        kept = text.encode("utf-8", "replace")[: self.BYTES - 1] + b"\0"
        self._memory[: len(kept)] = kept


_write, _exit = os.write, os._exit
"""As they were before any code of users could replace them."""


def _nothing() -> None:
    """Do nothing before code of users is imported."""


class Supervisor:
    """The line to the supervisor: each message is one line in a pipe, which need not be read."""

    def __init__(
        self,
        pipe: int,
        places: int,
        again: SecondProcess | None = None,
        plugin: Label | None = None,
        fault: Label | None = None,
    ) -> None:
        self._pipe = pipe
        self._places = places
        self.fault = fault or Label()
        """Why this process cannot go on; empty while it can."""
        self.can_go_on = False
        """Whether another process could go on with what this one does, with the code of users isolated."""
        self.plugin = plugin or Label()
        """The plugin whose code runs just now; empty for none."""
        self.again = again
        """Why this process is there; None in a command's first process."""
        self.left = SecondProcess()
        """The last run that this process has begun: another process goes on with it."""
        self.watched = False
        """Whether the supervisor ends this process if no sign of life comes."""
        self.stop_asked = False
        """Whether the end was asked for: any other `KeyboardInterrupt` is code of users that raises it."""
        self.document_begun = False
        """Whether this process has begun to print the one JSON document."""
        self._holds_stop = False
        self.before_users_code: Callable[[], object] = _nothing
        """Called before code of users can be imported: it may be called several times."""

    def tell(self, message: str) -> None:
        """Send a message; without a supervisor, the message is lost."""
        try:
            _write(self._pipe, f"{message}\n".encode())
        except OSError:  # it is gone, or an agent has closed the pipe
            return

    def give_up(self, fault: str) -> None:
        """Let the supervisor know why this process cannot go on, and whether another one can; then end at once."""
        self.fault.write(fault)
        if self.can_go_on:
            self.tell(f"watch {LATE:g}")
            self.tell(" ".join(("again", *filter(None, self.left))))
        _exit(1)

    def hear(self) -> None:
        """Leave Ctrl-C and SIGTERM to the supervisor, and answer its own signals."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, heard_elsewhere)
        forks = _Forks()
        os.register_at_fork(
            before=forks.hold, after_in_parent=forks.let_in, after_in_child=forks.end_at_sigterm
        )
        signal.signal(STOP_SIGNAL, self._stop)
        faulthandler.register(PLACE_SIGNAL, file=self._places, all_threads=True)

    @contextmanager
    def printing(self) -> Iterator[None]:
        """Print the one JSON document in the block: Ctrl-C cuts no part of it off, and no other document follows."""
        self.document_begun = self._holds_stop = True
        self.tell("printing")
        try:
            yield
        finally:
            self._holds_stop = False
        self.tell("printed")

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stop_asked = True
        if not self._holds_stop:
            raise KeyboardInterrupt


BEAT = 1.0
"""Seconds between two signs of life."""
LATE = 15.0
"""Seconds that no sign of life may come beyond what agents and evaluators may take."""


@contextmanager
def signs_of_life(
    seconds: float, begun: SecondProcess | None = None, *, contained: bool = False
) -> Iterator[None]:
    """Tell the supervisor during the block that Python still runs: some calls block every thread of this process.

    `seconds` is the longest that an agent or an evaluator may take. `begun` is the run that the block carries out.
    Where code of users stops or crashes this process, another one goes on with the last run, or with the whole
    command; not where a second process would contain that code no better (`contained`). Within such a block another
    one changes nothing.
    """
    line = supervisor()
    if line is None or line.watched:
        yield
        return
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(BEAT):
            if fault := fault_of_now():  # such as a `len` that is always 0: the event loop stands still
                line.give_up(fault)
            line.tell("beat")

    line.left = begun or line.left
    line.watched = True
    line.tell(f"watch {seconds + LATE:g}")
    line.can_go_on = not contained
    if not contained:
        line.tell(" ".join(("again", *filter(None, line.left))))
    threading.Thread(target=beat, daemon=True, name="agentmut-beat").start()
    try:
        yield
    finally:
        ended.set()
        line.watched = False
        line.tell("rest")
        if begun:
            line.tell("concluding")


@contextmanager
def in_plugin(code_name: str) -> Iterator[None]:
    """Let the supervisor know during the block that a plugin's code runs: if the process ends there, it is named."""
    line = supervisor()
    if line is None:
        yield
        return
    before = line.plugin.text
    line.plugin.write(code_name)
    try:
        yield
    finally:
        line.plugin.write(before)


_supervisor: ContextVar[Supervisor | None] = ContextVar("agentmut_supervisor", default=None)


def supervisor() -> Supervisor | None:
    """Return the line to this process's supervisor; None if there is none."""
    return _supervisor.get()


def be_supervised(line: Supervisor) -> None:
    """Make `line` the connection to this process's supervisor."""
    _supervisor.set(line)
    line.hear()


def gone_again() -> SecondProcess | None:
    """Return why this process is a command's second one; None if it is the first, or if it has no supervisor."""
    line = supervisor()
    return line.again if line else None


def nobody_asked_to_stop() -> bool:
    """Return whether a `KeyboardInterrupt` of this moment is no Ctrl-C; False where nobody can tell."""
    line = supervisor()
    return line is not None and not line.stop_asked


def stop_asked() -> bool:
    """Return whether the user has asked this process to end; False where there is no supervisor."""
    line = supervisor()
    return line is not None and line.stop_asked


def heard_elsewhere(number: int, frame: FrameType | None) -> None:
    """Do nothing: the supervisor hears this signal."""


class _Forks(threading.local):
    """How SIGTERM ends the processes that code of users forks: `multiprocessing` ends its workers by it."""

    blocked: Iterable[int] = ()
    """The signals that were blocked in this thread before it forked."""

    def hold(self) -> None:
        """Keep SIGTERM waiting while this thread forks: Python would lose one that comes too early."""
        self.blocked = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM,))

    def let_in(self) -> None:
        """Hear SIGTERM as before."""
        signal.pthread_sigmask(signal.SIG_SETMASK, self.blocked)

    def end_at_sigterm(self) -> None:
        """Let SIGTERM end the new process, unless users have set what it does."""
        if signal.getsignal(signal.SIGTERM) is heard_elsewhere:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self.let_in()


def stop_signals() -> tuple[signal.Signals, ...]:
    """Return the signals that ask this process to end."""
    if signal.getsignal(signal.SIGINT) is heard_elsewhere:
        return (signal.Signals(STOP_SIGNAL),)
    return (signal.SIGINT, signal.SIGTERM)


def die_with_parent(parent: int) -> None:
    """End this process by SIGKILL when its parent ends; on Linux only, elsewhere this does nothing.

    `parent` is the parent's id: where it has ended before, this process ends now.
    """
    if sys.platform != "linux":
        return
    import ctypes

    pr_set_pdeathsig = 1
    ctypes.CDLL(None, use_errno=True).prctl(pr_set_pdeathsig, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
