"""A small process that supervises the one that works: it hears Ctrl-C, and what it says last is true.

The code of users runs in the process that works. It can end that process, crash it, or keep Python from running
anything else. The supervisor is another process and runs no such code, so it can always say how the command ended.
"""

import os
import select
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, NoReturn

from agentmut._base import (
    PLACE_SIGNAL,
    STOP_SIGNAL,
    ExitCode,
    Label,
    Leash,
    SecondProcess,
    Supervisor,
    be_supervised,
    die_with_parent,
    fault_behind,
    users_places,
)
from agentmut.cli.stop_signals import StopSignals

UNHEARD = 1.2
"""Seconds from the first Ctrl-C until a process that has not taken note of it is killed."""
PLACED = 0.7
"""Seconds that the process has after Ctrl-C to say where it is before it is killed."""
PLACED_STUCK = 10.0
"""The same where nobody waits for the end: a busy machine may let the process wait."""
HEARD = 10.0
"""Seconds that a process has to end its trials once it has taken note."""
CONCLUDING = 120.0
"""Seconds that it has to write its result after that."""
PRINTING = 0.5
"""Seconds that it has after the second Ctrl-C for the rest of a document that it is printing."""
LEAVING = 10.0
"""Seconds that Python has to end after the last word: threads of agents may never end."""
LEAVING_STOPPED = 0.4
"""The same after Ctrl-C: the result is written, and the user waits."""
OFF = "AGENTMUT_UNSUPERVISED"
"""The environment variable that leaves the supervisor out, for debuggers."""
_ASK_TO_STOP = (signal.SIGINT, signal.SIGTERM)
_CRASHES = frozenset({signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL})
"""What ends a process by a fault in it; other signals come from somebody who wants the end."""
_TIMERS = frozenset({signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF} if sys.platform != "win32" else ())
"""What ends a process whose timer has run out, where nothing handles the signal."""
UNSUPERVISED = frozenset({"simulate", "proxy", "init", "serve", "schema"})
"""Verbs that run no agent, or that run a command of the user's and pass signals on."""


class ProcessEnd(NamedTuple):
    """How the process that worked ended."""

    code: int
    problem: str = ""
    """What has to be said in its place; empty where it has said everything itself."""
    printed: bool = False
    """Whether it has printed the JSON document itself."""
    again: SecondProcess | None = None
    """How the command can go on by itself, with the code of users in processes of their own; None if it cannot."""


def wants_supervisor(arguments: list[str]) -> bool:
    """Return whether a command line runs code of users, on a system where processes fork."""
    named = bool(arguments) and not arguments[0].startswith("-") and arguments[0] not in UNSUPERVISED
    asks_help = bool({"--help", "-h"} & set(arguments))
    return named and not asks_help and hasattr(os, "fork") and OFF not in os.environ


def supervised(work: Callable[[], None], kept: str, say: Callable[[str], object] = print) -> ProcessEnd:
    """Run `work`, which leaves by `SystemExit`, in a process of its own; return in this one how it ended.

    Where code of users has stopped or crashed that process, and trials in processes of their own would end alone,
    `work` begins again in a second process, which is told so; `say` tells the user. `kept` is what the user is told
    of the command's work so far where the process has to be killed.
    """
    open_to = signal.pthread_sigmask(signal.SIG_BLOCK, _ASK_TO_STOP)
    try:
        ended = _supervised(work, open_to, kept)
        if ended.again is not None and not ended.printed:
            say(ended.problem)
            ended = _supervised(work, open_to, kept, ended.again)
        return ended
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, open_to)


def _supervised(
    work: Callable[[], None], open_to: set[int], kept: str, again: SecondProcess | None = None
) -> ProcessEnd:
    """Run `work` in one process. The signals that ask for the end are blocked before and after, and wait."""
    said, places, plugin, fault = os.pipe(), os.pipe(), Label(), Label()
    parent = os.getpid()
    leash = None if sys.platform == "linux" else Leash()
    child = os.fork()
    if not child:
        os.close(said[0])
        os.close(places[0])
        if leash:
            leash.put_on()
        die_with_parent(parent)
        line = Supervisor(said[1], places[1], again, plugin, fault)
        line.before_users_code = _contain
        be_supervised(line)
        signal.pthread_sigmask(signal.SIG_SETMASK, open_to)
        _work(work, line)
    os.close(said[1])
    os.close(places[1])
    try:
        with StopSignals() as signals:
            signal.pthread_sigmask(signal.SIG_SETMASK, open_to)
            try:
                watch = _Watch(child, said[0], places[0], signals, kept, plugin, fault, again is None)
                return watch.until_it_ends()
            finally:
                signal.pthread_sigmask(signal.SIG_BLOCK, _ASK_TO_STOP)
    finally:
        os.close(said[0])
        os.close(places[0])
        if leash:
            leash.take_off()


def _contain() -> None:
    """Put in the guards against code of users: a module that is imported later cannot take unguarded functions."""
    from agentmut.trial import contain_for_good  # which most verbs import anyway

    contain_for_good()


def _work(work: Callable[[], None], line: Supervisor) -> NoReturn:
    try:
        work()
        code = 0
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    except BaseException as error:
        if fault := fault_behind(error):
            line.give_up(fault)
        raise
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    line.tell(f"done {code}")
    raise SystemExit(code)


_PROCESS = "the process that runs the agents"
_GOES_ON = (
    "The command goes on with trials and evaluators in processes of their own, where such a call is the failure of its "
    "own trial or evaluator alone. Finished trials are kept. "
    "`execution: {isolate: process, isolate_evaluators: process}` does so from the beginning."
)


_ISOLATE = (
    "`execution: {isolate: process, isolate_evaluators: process}` keeps such code in processes of its own."
)


def _at_fault(plugin: str) -> str:
    return f"At that time it was in {plugin}. Correct that code, or uninstall the package that it comes from."


class _Watch:
    """Waits for the end of a process, and ends it where it does not."""

    TICK = 0.1
    """Seconds of a round. A deadline counts rounds, so a machine that stands still brings none nearer."""

    def __init__(
        self,
        child: int,
        pipe: int,
        places: int,
        signals: StopSignals,
        kept: str,
        plugin: Label,
        fault: Label,
        first: bool,
    ) -> None:
        self._child = child
        self._pipe = pipe
        self._places = places
        self._signals = signals
        self._kept = kept
        self._plugin = plugin
        self._fault = fault
        self._said = b""
        self._printed = False
        """Whether the JSON document is on stdout, or a part of it."""
        self._printing = False
        self._listening = True
        self._code: int | None = None
        self._stops = 0
        self._left: float | None = None
        """Seconds until the process is killed."""
        self._patience: float | None = None
        """Seconds that Python may let no other thread run."""
        self._silent = 0.0
        self._first = first
        """Whether another process may go on with the command."""
        self._again: SecondProcess | None = None

    def until_it_ends(self) -> ProcessEnd:
        """Return how the process ended."""
        while True:
            ended, status = os.waitpid(self._child, os.WNOHANG)
            if ended:
                self._listen()
                return self._ended(os.waitstatus_to_exitcode(status))._replace(printed=self._printed)
            if (killed := self._round()) is not None:
                self._kill()
                self._listen()
                return killed._replace(printed=self._printed)

    def _round(self) -> ProcessEnd | None:
        """Wait a little, and take note of what has come; return an end where the process has to be killed."""
        waited_for: list[Any] = [self._signals.waking, *([self._pipe] if self._listening else [])]
        ready, _, _ = select.select(waited_for, [], [], self.TICK)
        if self._pipe in ready:
            self._listen()
        if self._signals.stops() > self._stops and (ended := self._asked_to_stop()):
            return ended
        if ready:
            return None
        self._silent += self.TICK
        if self._patience is not None and self._silent > self._patience:
            return self._stuck()
        if self._left is not None:
            self._left -= self.TICK
            if self._left <= 0:
                return self._given_up()
        return None

    def _asked_to_stop(self) -> ProcessEnd | None:
        self._stops = self._signals.stops()
        if self._stops > 1:
            self._let_it_print()
            return ProcessEnd(
                ExitCode.INTERRUPTED, f"ended at once by {self._signals.second()}. {self._kept}"
            )
        os.kill(self._child, STOP_SIGNAL)
        self._left = UNHEARD
        return None

    def _let_it_print(self) -> None:
        """Wait for the rest of a document that is being printed: half a document is worse than a moment."""
        self._listen()
        for _ in range(round(PRINTING / self.TICK)):
            if not (self._printing and self._listening):
                return
            select.select([self._pipe], [], [], self.TICK)
            self._listen()

    def _given_up(self) -> ProcessEnd:
        if self._code is not None:
            return ProcessEnd(self._code)
        text = (
            f"ended by {self._signals.first()}. The process could not end by itself, so it was killed. "
            f"It was at {self._where(PLACED)}. {self._kept}"
        )
        return ProcessEnd(ExitCode.INTERRUPTED, text)

    def _goes_on(self) -> SecondProcess | None:
        """Return how the command can go on: it is in the middle of trials that no process of their own contains."""
        return self._again if self._first and self._patience is not None and not self._stops else None

    def _stuck(self) -> ProcessEnd:
        text = (
            f"a call has let Python run nothing else for {self._patience:g} s, so the process was killed. It was at "
            f"{self._where(PLACED_STUCK)}. "
        )
        if plugin := self._plugin.text:
            return ProcessEnd(ExitCode.BROKEN, f"{text}{_at_fault(plugin)} {self._kept}")
        if again := self._goes_on():
            return ProcessEnd(ExitCode.BROKEN, text + _GOES_ON, again=again)
        text += (
            "A catastrophic regular expression does that. With `execution: {isolate: process}`, or "
            "`auto`, it ends its own trial alone. For an evaluator's expression, set `isolate_evaluators: process`. "
            f"{self._kept}"
        )
        return ProcessEnd(ExitCode.BROKEN, text)

    def _where(self, seconds: float) -> str:
        """Return where the threads of the process are that run code of users; it has so many seconds to say so."""
        with suppress(ProcessLookupError):
            os.kill(self._child, PLACE_SIGNAL)
        if not select.select([self._places], [], [], seconds)[0]:
            return "an unknown place"
        select.select([], [], [], self.TICK)  # for the rest of what it writes
        return users_places(os.read(self._places, 65536).decode("utf-8", "replace")) or "an unknown place"

    def _listen(self) -> None:
        """Take in what the process has said so far."""
        while self._listening and select.select([self._pipe], [], [], 0)[0]:
            said = os.read(self._pipe, 4096)
            self._listening = bool(said)
            *lines, self._said = (self._said + said).split(b"\n")
            for line in lines:
                self._hear(line.decode("ascii", "replace").split())

    def _hear(self, words: list[str]) -> None:
        match words:
            case ["stopping"] if self._stops:
                self._left = HEARD
            case ["concluding"] if self._stops:
                self._left = CONCLUDING
            case ["watch", seconds]:
                self._patience, self._silent = float(seconds), 0.0
            case ["beat"]:
                self._silent = 0.0
            case ["printing"]:
                self._printed = self._printing = True
            case ["printed"]:
                self._printing = False
            case ["again", *run]:
                self._again = SecondProcess(*run)
            case ["rest"]:
                self._patience, self._again = None, None
            case ["done", code]:
                self._code, self._left = int(code), LEAVING_STOPPED if self._stops else LEAVING

    def _ended(self, code: int) -> ProcessEnd:
        if self._code is not None:
            return ProcessEnd(self._code)
        if self._stops:
            return ProcessEnd(ExitCode.INTERRUPTED, f"ended by Ctrl-C. {self._kept}")
        if fault := self._fault.text:
            again = self._goes_on()
            text = f"{fault} {_GOES_ON if again else f'{_ISOLATE} {self._kept}'}"
            return ProcessEnd(ExitCode.BROKEN, text, again=again)
        if plugin := self._plugin.text:
            text = f"{_PROCESS} {_ended_by(code)}. {_at_fault(plugin)} {self._kept}"
            return ProcessEnd(ExitCode.BROKEN, text)
        if (again := self._goes_on()) and (code >= 0 or -code in _CRASHES):
            return ProcessEnd(ExitCode.BROKEN, f"{_PROCESS} {_ended_by(code)}. {_GOES_ON}", again=again)
        return ProcessEnd(ExitCode.BROKEN, f"{_PROCESS} {_ended_by(code)}. {_cause(code)} {self._kept}")

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._child, signal.SIGKILL)
        os.waitpid(self._child, 0)


def _cause(code: int) -> str:
    """Return what may have ended the process, and what to change."""
    if -code in _TIMERS:
        return (
            "A timer ended it: code of the agent, of an evaluator or of a library has called `signal.alarm` or "
            "`signal.setitimer`. Cancel that timer, or handle its signal. A module that sets a timer while it is "
            "imported ends the process in any isolation."
        )
    if code < 0 and -code not in _CRASHES:
        return (
            "Another process sent that signal, or code of the agent, of an evaluator or of a library did. "
            "The system sends SIGKILL if its memory is full."
        )
    return (
        "Code of the agent, of an evaluator or of a library "
        "did that, by os._exit or by a crash. With `execution: {isolate: process}` it ends its own trial alone. "
        "For an evaluator, set `isolate_evaluators: process`."
    )


def _ended_by(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code} in the middle of its work"
    names = {number.value: number.name for number in signal.Signals}
    return f"was ended by {names.get(-code, f'signal {-code}')}"
