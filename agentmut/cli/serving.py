"""Verbs that serve: until they are stopped, or while a command of the user's runs."""

import asyncio
import os
import signal
from collections.abc import Mapping

from agentmut.errors import UsageError

SETTINGS = {"context_settings": {"ignore_unknown_options": True, "allow_interspersed_args": False}}
"""Of a verb that takes a command after `--`."""


async def run_command(command: list[str], exports: Mapping[str, str]) -> int:
    """Run a command with these variables added to its environment; returns its exit code."""
    try:
        child = await asyncio.create_subprocess_exec(*command, env={**os.environ, **exports})
    except OSError as error:
        raise UsageError(f"cannot run {command[0]!r}: {error.strerror}. Name a program after `--`.") from None
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, lambda: None)  # the child gets it too, and is waited for
    loop.add_signal_handler(signal.SIGTERM, child.terminate)
    code = await child.wait()
    return code if code >= 0 else 128 - code  # ended by a signal, as a shell says it


async def until_stopped() -> None:
    """Wait for Ctrl-C, or for a request to end."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await stop.wait()
