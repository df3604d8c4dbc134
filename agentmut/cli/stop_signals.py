"""Ctrl-C and SIGTERM as the supervisor counts them, each by the name that a user knows."""

import signal
import socket
import time
from contextlib import suppress

SAME = 0.2
"""Seconds in which two SIGTERM are one: `timeout` sends it to its child, and then to the whole group."""


class StopSignals:
    """The requests to end that have come in; a socket wakes whoever waits for them."""

    def __init__(self) -> None:
        self.waking, self._woken = socket.socketpair()
        self._before: dict[int, object] = {}
        self._named: list[str] = []
        """What asked for the end, each time, as a user names it."""
        self._terminated = -SAME
        """When SIGTERM came last, in seconds."""

    def __enter__(self) -> "StopSignals":
        for each in (self.waking, self._woken):
            each.setblocking(False)
        signal.set_wakeup_fd(self._woken.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        signal.set_wakeup_fd(-1)
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # what `signal.signal` has returned
        self.waking.close()
        self._woken.close()

    def _note(self, number: int, frame: object) -> None:
        if number == signal.SIGTERM:
            now, before = time.monotonic(), self._terminated
            self._terminated = now
            if now - before < SAME:
                return
        self._named.append("SIGTERM" if number == signal.SIGTERM else "Ctrl-C")

    def first(self) -> str:
        """Return what asked for the end first."""
        return self._named[0] if self._named else "Ctrl-C"

    def second(self) -> str:
        """Return what asked for the end again."""
        first, last = self._named[0], self._named[-1]
        return f"the second {last}" if first == last else f"{last} after {first}"

    def stops(self) -> int:
        """Return how often the end was asked for so far."""
        with suppress(BlockingIOError):
            self.waking.recv(4096)
        return len(self._named)
