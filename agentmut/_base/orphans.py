"""No orphans: a group of processes ends with this process, however that ends."""

import os
import subprocess
from contextlib import suppress
from pathlib import Path

_SHELL = "/bin/sh"
_WATCH = 'read -r _; kill -s KILL -- "-$1"; [ -z "$2" ] || rm -rf -- "$2"'
"""Waits for the end of the pipe. The system closes it when its other end is gone, by SIGKILL as well."""


class GroupWatch:
    """A small shell that kills a process group, and removes a scratch folder, when this process is gone.

    The group has to be ended by others before the watch is dismissed: afterwards nobody ends it. Where the system has
    no process groups, nothing is watched.
    """

    def __init__(self, group: int, scratch: Path | None = None) -> None:
        self._shell: subprocess.Popen[bytes] | None = None
        if hasattr(os, "killpg") and os.access(_SHELL, os.X_OK):
            folder = str(scratch) if scratch else ""
            self._shell = subprocess.Popen(
                [_SHELL, "-c", _WATCH, "agentmut-watch", str(group), folder],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,  # Ctrl-C in the terminal is not for it
            )

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
