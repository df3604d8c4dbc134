"""Processor time and peak memory of whole commands, for sizes that double, and how fast they grow."""

import math
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import NamedTuple

DONE = (0,)
MAY_BE_OPEN = (0, 3)
"""Exit codes of commands that end with 3 if their trials are too few for an answer."""
DEADLINE_SECONDS = 600


class Measured(NamedTuple):
    """What one command took, with all its processes."""

    seconds: float
    """Processor time."""
    megabytes: float
    """Peak memory of its largest process."""
    code: int
    said: str
    """The end of what it said on stderr."""


class Row(NamedTuple):
    """One command for sizes that grow."""

    what: str
    sizes: tuple[int, ...]
    unit: str
    measured: tuple[Measured, ...]
    codes: tuple[int, ...] = DONE
    """The exit codes of a command that has done its work: one that refuses takes no time, whatever the size."""

    @property
    def exponent(self) -> float:
        """Return how time grows between the last two sizes: 1 is linear, 2 is quadratic."""
        if len(self.measured) < 2:
            return math.nan
        (low, high), (small, large) = self.sizes[-2:], (m.seconds for m in self.measured[-2:])
        return math.log(large / small) / math.log(high / low)

    def __str__(self) -> str:
        last = self.measured[-1]
        sizes = ", ".join(f"{size:,}" for size in self.sizes)
        seconds = ", ".join(f"{m.seconds:.2f}" for m in self.measured)
        return (
            f"| {self.what} | {sizes} {self.unit} | {seconds} | {self.exponent:.2f} | {last.megabytes:.0f} |"
        )


def command(folder: Path, *arguments: str) -> Measured:
    """Run `agentmut ARGUMENT...` in a folder; return what it took."""
    return program([sys.executable, "-m", "agentmut", *arguments], folder)


def program(words: list[str], folder: Path) -> Measured:
    """Run a program to its end, or to the deadline."""
    with tempfile.TemporaryFile() as errors:
        started = subprocess.Popen(
            words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors
        )
        watch = threading.Timer(DEADLINE_SECONDS, started.kill)
        watch.start()
        _, status, used = os.wait4(started.pid, 0)
        watch.cancel()
        started.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        said = errors.read()[-2000:].decode(errors="replace")
    scale = 1 if sys.platform == "darwin" else 1024
    return Measured(used.ru_utime + used.ru_stime, used.ru_maxrss * scale / 1e6, started.returncode, said)
