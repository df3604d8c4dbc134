"""`agentmut simulate`: the offline stand-in for a model service."""

import asyncio
import os
import signal
from typing import Annotated

import typer

from agentmut.errors import UsageError

SETTINGS = {"context_settings": {"ignore_unknown_options": True, "allow_interspersed_args": False}}
DEFAULT_PORT = 8899
"""When serving for other terminals; a command of its own gets any free port."""


def simulate(
    command: Annotated[
        list[str] | None, typer.Argument(help="After `--`: a command to run with the endpoint exported.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            min=0,
            max=65535,
            help=f"Loopback port, 0 for any free one. Default: {DEFAULT_PORT}, with a command any free one.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the simulated model's noise.")] = 0,
) -> None:
    """Serve a simulated model on loopback.

    It is a stand-in for demos and tests, no evidence about real models.

    With a command after `--`, OPENAI_BASE_URL and OPENAI_API_KEY are set for it, and its exit code is returned.

    Example: agentmut simulate -- agentmut run --yes
    """
    chosen = port if port is not None else 0 if command else DEFAULT_PORT
    code = asyncio.run(_serve_while(command or [], chosen, seed))
    raise typer.Exit(code)


async def _serve_while(command: list[str], port: int, seed: int) -> int:
    from agentmut.simulator.server import serve

    async with serve(port=port, seed=seed) as url:
        if command:
            return await _run(command, _exports(url, seed))
        exports = " ".join(f"{name}={value}" for name, value in _exports(url, seed).items())
        typer.echo(f"serving {url}\nexport {exports}\nCtrl-C ends it.", err=True)
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        await stop.wait()
        return 0


def _exports(url: str, seed: int) -> dict[str, str]:
    """What a client needs, and what identifies this service whatever its port."""
    from agentmut import __version__
    from agentmut.engine.identity import SIMULATOR_VARIABLE

    identity = f"{__version__}/seed-{seed}"
    return {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "simulated", SIMULATOR_VARIABLE: identity}


async def _run(command: list[str], exports: dict[str, str]) -> int:
    try:
        child = await asyncio.create_subprocess_exec(*command, env={**os.environ, **exports})
    except OSError as error:
        raise UsageError(f"cannot run {command[0]!r}: {error.strerror}. Name a program after `--`.") from None
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, lambda: None)  # the child gets it too, and is waited for
    loop.add_signal_handler(signal.SIGTERM, child.terminate)
    code = await child.wait()
    return code if code >= 0 else 128 - code  # ended by a signal, as a shell says it
