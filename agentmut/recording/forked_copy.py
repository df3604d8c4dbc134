"""A forked copy of this process that answers calls of one function: it alone can be ended in the middle of a call."""

import faulthandler
import os
import pickle
import signal
import socket
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from agentmut._base import RunError, described, die_with_parent, own_place, users_places
from agentmut.recording.forked_line import HEAD, ForkedWorkerEndedError, message
from agentmut.recording.threads import OverdueError, harmless, users_context

NO_FORK = frozenset({"cupy", "jax", "tensorflow", "torch"})
"""Libraries with threads or devices of their own, which a forked copy cannot use once they are loaded."""
UNENDED = 10.0
"""Seconds past its deadline after which the copy is killed from here, should its own timer have been taken away."""


class UnpicklableError(RuntimeError):
    """What a call is about cannot be handed to another process."""


def why_not_forked() -> str:
    """Return why functions of users cannot run in a forked copy of this process, in a phrase; empty if they can."""
    if sys.platform != "linux":
        return "on this system a forked process may crash in the system's own libraries"
    loaded = sorted(NO_FORK & set(sys.modules))
    return f"{', '.join(loaded)} is loaded, which a forked process cannot use" if loaded else ""


def packed(arguments: tuple[Any, ...]) -> bytes:
    """Return the message of a call. Raise `UnpicklableError` for arguments that cannot be handed over."""
    try:
        return message(arguments)
    except Exception as error:
        raise UnpicklableError(described(error)) from error


class ForkedCopy:
    """The copy and this end of the line to it.

    The copy knows what this process knew when it was made. A call past its deadline ends the copy: a timer of
    `faulthandler` does so, which needs no turn of Python, and writes down the place. Arguments and results are pickled.
    """

    def __init__(self, function: Callable[..., Any], seconds: float) -> None:
        """Fork. Raise `OSError` where the system has no room for another process."""
        self._function = function
        self._seconds = seconds
        self._places = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the copy)
        self.socket, theirs = socket.socketpair()
        self._parent = os.getpid()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()  # or the copy would write the same again
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # that other threads do not come along
            self._process = os.fork()
        if not self._process:
            self._serve(theirs)
        theirs.close()
        with suppress(OSError):
            os.setpgid(self._process, self._process)

    @property
    def limit(self) -> float:
        """Return the seconds without an answer after which the copy has to be killed from here."""
        return self._seconds + UNENDED

    def close(self) -> None:
        """End the copy, and what it has started. In a process that was forked since, do nothing."""
        if os.getpid() != self._parent:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process, signal.SIGKILL)
        self.kill()
        with suppress(ChildProcessError):  # an agent has waited for all children
            os.waitpid(self._process, 0)
        self.socket.close()
        self._places.close()

    def kill(self) -> None:
        """End the copy."""
        with suppress(ProcessLookupError):
            os.kill(self._process, signal.SIGKILL)

    def ended(self) -> Exception:
        """Return the error for the call that the copy has ended in."""
        how = self._how_it_ended()
        with suppress(OSError, ValueError):
            written = os.pread(self._places.fileno(), 65536, 0).decode("utf-8", "replace")
            if written:
                return OverdueError(users_places(written))
        return ForkedWorkerEndedError(f"the process that it ran in ({how})")

    def _how_it_ended(self) -> str:
        """Return how the copy ended, whose end of the connection is closed. End it if that is all it has done."""
        with suppress(ChildProcessError):  # an agent has waited for all children
            for _ in range(20):
                ended, status = os.waitpid(self._process, os.WNOHANG)
                if ended:
                    code = os.waitstatus_to_exitcode(status)
                    return f"exit code {code}" if code >= 0 else signal.Signals(-code).name
                time.sleep(0.01)
        self.kill()
        return "it closed its files"

    def _serve(self, theirs: socket.socket) -> NoReturn:
        """Answer calls until the other end is closed, in the copy."""
        try:
            self.socket.close()
            os.setpgid(0, 0)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            die_with_parent(self._parent)
            context = users_context()
            with theirs.makefile("rwb") as line:
                while head := line.read(HEAD.size):
                    arguments = pickle.loads(line.read(*HEAD.unpack(head)))
                    line.write(context.run(self._answer, arguments))
                    line.flush()
        finally:
            os._exit(1)

    def _answer(self, arguments: tuple[Any, ...]) -> bytes:
        process = os.getpid()
        faulthandler.dump_traceback_later(self._seconds, exit=True, file=self._places)
        try:
            answer = (True, self._function(*arguments))
        except BaseException as error:
            answer = (False, _told(error))
        if os.getpid() != process:  # the function has forked: its copy has nobody to answer
            os._exit(0)
        faulthandler.cancel_dump_traceback_later()
        try:
            return message(answer)
        except Exception as error:
            return message((False, RunError(f"{described(error)}: this cannot be handed to another process")))


def _told(error: BaseException) -> BaseException:
    """Return an error for the waiter: agentmut's own as they are, and what code of users raises with its place.

    Such code may be called amid that of agentmut: an audit hook, for one.
    """
    known = type(error).__module__.partition(".")[0] == "agentmut" or isinstance(error, RecursionError)
    if known or not isinstance(error, Exception) or not (place := own_place(error)):
        return harmless(error)
    return RunError(f"code of an evaluator raised {described(error)}, at {place}. Fix the evaluator.")
