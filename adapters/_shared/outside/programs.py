"""Running a program once: its output is read as it appears, and no process of it survives."""

import asyncio
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from agentmut._base import GroupWatch, moved

LIMIT = 10 * 2**20
"""Bytes that a program may write to stdout, and to stderr."""
GRACE = 0.5
"""Seconds from asking a program to end (SIGTERM) to ending it (SIGKILL); less than a cancelled trial has."""
LINGER = 0.5
"""Seconds for the rest of the output of a program that has ended, while a child of it keeps the pipe open."""


class Launch(NamedTuple):
    """The program to run. Without `stdin`, its standard input is empty."""

    arguments: tuple[str, ...]
    folder: Path
    variables: Mapping[str, str]
    stdin: bytes | None = None
    scratch: Path | None = None
    """A folder of this run alone, which is removed should this process be killed."""


@dataclass
class Output:
    """The output of a program so far, and its ending."""

    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    code: int | None = None
    """None while it runs; negative where a signal ended it."""
    overflow: str = ""
    """Which of the two held more than `LIMIT` bytes."""


async def run_program(launch: Launch, output: Output) -> None:
    """Run a program to its end, or to the first byte over the limit; its output is added to `output`.

    It has a process group of its own. Whatever becomes of the caller, the whole group has ended when this returns,
    so a program's children do not outlive it. One that has left the group (`setsid`) outlives a program that ends by
    itself; on Linux, it ends where the program is ended, and where this process is killed, at any moment.
    Raises `OSError` or `ValueError` where it cannot be started.
    """
    watch, ended_by_itself = GroupWatch(launch.scratch), False
    try:
        transport, listener = await _started(launch, output, watch)
        try:
            watch.hold(transport.get_pid())
            _feed(transport, launch.stdin)
            await listener.attention.wait()
            if not output.overflow:
                await _within(LINGER, listener.closed)
        finally:
            ended_by_itself = transport.get_returncode() is not None
            await _end(transport, listener)
            output.code = transport.get_returncode()
    finally:  # also when the wait for the program's end is cut short: the group was killed
        if ended_by_itself:
            watch.dismiss()
        else:
            watch.release()


async def _started(
    launch: Launch, output: Output, watch: GroupWatch
) -> "tuple[asyncio.SubprocessTransport, _Listener]":
    """Start the program. A caller that is cancelled meanwhile waits until the start is done, and ends the group.

    asyncio itself would wait for the end of all children that hold the program's pipes.
    """
    program = moved(launch.arguments, launch.variables)
    starting = asyncio.ensure_future(
        asyncio.get_running_loop().subprocess_exec(
            lambda: _Listener(output),
            *program.arguments,
            stdin=asyncio.subprocess.DEVNULL if launch.stdin is None else asyncio.subprocess.PIPE,
            cwd=launch.folder,
            env={**program.variables, **watch.variables},
            start_new_session=True,
        )
    )
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with suppress(OSError, ValueError):  # it cannot be started
            await _end(*(await starting))
        raise


class _Listener(asyncio.SubprocessProtocol):
    """Collects output. `attention` is set when the program has ended or has written too much."""

    def __init__(self, output: Output) -> None:
        self.attention, self.exited, self.closed = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._streams = {1: (output.stdout, "stdout"), 2: (output.stderr, "stderr")}
        self._output = output

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Keep what the program writes, up to `LIMIT` bytes a stream."""
        held, name = self._streams[fd]
        if len(held) + len(data) > LIMIT:
            self._output.overflow = self._output.overflow or name
            self.attention.set()
        held += data[: LIMIT - len(held)]

    def process_exited(self) -> None:
        """Note that the program has ended."""
        self.exited.set()
        self.attention.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that all pipes are closed."""
        self.closed.set()


def _feed(transport: asyncio.SubprocessTransport, data: bytes | None) -> None:
    """Write to the program, whether it reads its input or not, and close its stdin."""
    pipe: Any = transport.get_pipe_transport(0)
    if pipe is not None:
        pipe.write(data)
        pipe.write_eof()


async def _end(transport: asyncio.SubprocessTransport, listener: _Listener) -> None:
    """End all that is left of the group; a program that still runs is asked first."""
    group = transport.get_pid()
    try:
        if transport.get_returncode() is None:
            _signal(group, signal.SIGTERM)
            await _within(GRACE, listener.exited)
    finally:  # also when the wait is cut short
        _signal(group, signal.SIGKILL)
        transport.close()
    if transport.get_returncode() is None:
        await _within(GRACE, listener.exited)  # until it is reaped


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):  # all gone
        os.killpg(group, number)


async def _within(seconds: float, event: asyncio.Event) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
