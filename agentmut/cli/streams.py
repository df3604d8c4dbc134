"""The standard streams of a command: open at its start, and usable to its end."""

import io
import os
import stat
import sys
from contextlib import suppress
from typing import Any, TextIO


class _Lasting(io.FileIO):
    """A pipe whose reader may leave: what is written after that is dropped."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream.fileno(), "w", closefd=False)
        self._stream = stream  # it would close the pipe when it goes

    def write(self, data: Any) -> int:
        """Write the bytes, and return how many of them are dealt with."""
        try:
            return super().write(data)
        except BrokenPipeError:
            return memoryview(data).nbytes


def keep_streams() -> None:
    """Open the null device for standard streams that are closed, and let readers of pipes leave early.

    A file that is opened later would else take the number of a closed stream, and what is printed would end up in it.
    A reader that leaves early (`agentmut report | head -1`) changes neither what a command does nor its exit code.
    """
    for number, flags in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
        _open(number, flags)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  (stays open to the end)
    sys.stdout, sys.stderr = _lasting(sys.stdout, 1), _lasting(sys.stderr, 2)


def drop_output() -> None:
    """Drop what stdout still holds, which cannot be written: Python would end with an exit code of its own for it."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
    sys.stdout.flush()


def _open(number: int, flags: int) -> None:
    try:
        os.fstat(number)
    except OSError:
        null = os.open(os.devnull, flags)  # it gets this number, as the lowest that is free
        if null != number:
            os.dup2(null, number)
            os.close(null)
        with suppress(OSError):
            os.set_inheritable(number, True)


def _lasting(stream: TextIO | None, number: int) -> TextIO:
    """Return the stream, or one in its place that lasts."""
    if stream is None:
        return open(number, "w", encoding="utf-8", errors="replace", closefd=False)
    if not isinstance(stream, io.TextIOWrapper) or not _is_pipe(stream, number):
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Lasting(stream)),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def _is_pipe(stream: TextIO, number: int) -> bool:
    try:
        if stream.fileno() != number:
            return False
        mode = os.fstat(number).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
