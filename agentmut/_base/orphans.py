"""No orphans: a group of processes ends with this process, however that ends."""

import os
import secrets
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

_SHELL = "/bin/sh"
MARK = "AGENTMUT_PROGRAM"
"""The environment variable by which a watch knows its processes, also those that it was not told of."""
_WATCH = """
PATH=$PATH:/usr/bin:/bin
read -r group; read -r stays
[ -z "$group" ] || kill -s KILL -- "-$group"
for pause in 0 0.1 0.4; do
    sleep "$pause"
    found=$(grep -lasF -- "$1" /proc/[0-9]*/environ | cut -d/ -f3)
    [ -z "$found" ] || kill -s KILL $found
done
[ -z "$2" ] || [ -n "$stays" ] || rm -rf -- "$2"
"""
"""Waits for the end of the pipe. The system closes it when its other end is gone, by SIGKILL as well."""
_LEASH = 'read -r _ || kill -s KILL "$1"'


class GroupWatch:
    """A small shell that kills a process group, and removes a scratch folder, when this process is gone.

    It starts before the group does, and finds the group's first process by `variables` should this process be killed
    before `hold`. Processes that have left the group are found by them as well. Both take Linux's `/proc`; elsewhere
    the group alone ends, from `hold` on. The group has to be ended by others before the watch is dismissed:
    afterwards nobody ends it. A watch that is released ends all of them itself. Where the system has no process
    groups, nothing is watched.
    """

    def __init__(self, scratch: Path | None = None) -> None:
        self._mark = secrets.token_hex(16)
        self._held = False
        self._shell: subprocess.Popen[bytes] | None = None
        if hasattr(os, "killpg") and os.access(_SHELL, os.X_OK):
            folder = str(scratch) if scratch else ""
            self._shell = subprocess.Popen(
                [_SHELL, "-c", _WATCH, "agentmut-watch", f"{MARK}={self._mark}", folder],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={
                    name: value for name, value in os.environ.items() if name != MARK
                },  # not of a group itself
                start_new_session=True,  # Ctrl-C in the terminal is not for it
            )

    @property
    def variables(self) -> Mapping[str, str]:
        """Return the environment variables that the group's processes must have."""
        return {MARK: self._mark}

    def hold(self, group: int) -> None:
        """Take note of the group's id."""
        if self._shell is not None:
            self._held = True
            assert self._shell.stdin
            with suppress(OSError):  # somebody has ended the watch
                self._shell.stdin.write(f"{group}\n".encode())

    def release(self) -> None:
        """Let the watch end what is left of the group, and processes that have left it; the scratch folder stays."""
        shell, self._shell = self._shell, None
        if shell is None:
            return
        assert shell.stdin
        with suppress(OSError):  # somebody has ended the watch
            shell.stdin.write(b"stays\n" if self._held else b"\nstays\n")
            shell.stdin.close()
        threading.Thread(target=shell.wait, daemon=True, name="agentmut-watch").start()

    def dismiss(self) -> None:
        """End the watch."""
        shell, self._shell = self._shell, None
        if shell is None:
            return
        shell.kill()  # before its pipe ends, or it would do its work
        with suppress(OSError):
            assert shell.stdin
            shell.stdin.close()
        shell.wait()


class Leash:
    """Ends a process that is forked off this one when this process is gone, where the system has no signal for that."""

    def __init__(self) -> None:
        self._ends, self._held = os.pipe()

    def put_on(self) -> None:
        """Put the leash on this process, the forked one: a shell kills it when the other process is gone."""
        os.close(self._held)
        subprocess.Popen(
            [_SHELL, "-c", _LEASH, "agentmut-leash", str(os.getpid())],
            stdin=self._ends,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
        os.close(self._ends)

    def take_off(self) -> None:
        """End the shell, once the forked process has ended."""
        os.close(self._ends)
        with suppress(OSError):  # there is none
            os.write(self._held, b"\n")
        os.close(self._held)
