"""Verbs that serve: until they are stopped, or while a command of the user's runs."""

import asyncio
import os
import shlex
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress

import typer

from agentmut._base import UsageError
from agentmut.cli.output import print_json

SETTINGS = {"context_settings": {"ignore_unknown_options": True, "allow_interspersed_args": False}}
"""The settings of a verb that takes a command after `--`."""


async def run_command(command: list[str], exports: Mapping[str, str]) -> int:
    """Run a command with these variables added to its environment; returns its exit code."""
    try:
        child = await asyncio.create_subprocess_exec(*command, env={**os.environ, **exports})
    except OSError as error:
        raise UsageError(f"cannot run {command[0]!r}: {error.strerror}. Name a program after `--`.") from None
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(
        signal.SIGINT, lambda: None if _in_foreground() else _pass_on(child, signal.SIGINT)
    )
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, _pass_on, child, number)
    code = await child.wait()
    return code if code >= 0 else 128 - code  # ended by a signal, as a shell says it


def _in_foreground() -> bool:
    """Return whether Ctrl-C in the terminal reaches this process, and then the command too."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _pass_on(child: asyncio.subprocess.Process, number: int) -> None:
    with suppress(ProcessLookupError):
        child.send_signal(number)


def say_serving(url: str, variables: Mapping[str, str], as_json: bool) -> None:
    """Say where a server listens and which variables lead there: on stderr, or as one JSON document on stdout."""
    if as_json:
        print_json({"url": url, "environment": dict(variables)})
        sys.stdout.flush()
        return
    typer.echo(f"serving {url}", err=True)
    for name, value in variables.items():
        typer.echo(f"export {name}={shlex.quote(value)}", err=True)
    typer.echo("Ctrl-C ends it.", err=True)


def refuse_json(as_json: bool, command: list[str] | None) -> None:
    """Raise `UsageError` for --json with a command, whose own output has stdout."""
    if as_json and command:
        raise UsageError(
            "--json prints the address for other programs, and a command after `--` is given the address in its "
            "environment. Leave --json out."
        )


async def until_stopped() -> None:
    """Wait for Ctrl-C, or for a request to end."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await stop.wait()
