"""`agentmut simulate`: the offline stand-in for a model service."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from agentmut._base import UsageError
from agentmut.cli.options import Json
from agentmut.cli.serving import SETTINGS, refuse_json, run_command, say_serving, until_stopped

if TYPE_CHECKING:
    from agentmut.simulator import Settings

__all__ = ["SETTINGS", "simulate"]
DEFAULT_PORT = 8899
"""When serving for other terminals; a command of its own gets any free port."""
KINDS = ("429", "500", "503", "hang", "reset", "truncated", "malformed", "empty", "content_type")
"""Kinds of trouble. `agentmut.simulator.service.trouble` has the same, but is not loaded for every verb."""


Command = Annotated[
    list[str] | None, typer.Argument(help="After `--`: a command to run with the endpoint exported.")
]
Port = Annotated[
    int | None,
    typer.Option(
        "--port",
        min=0,
        max=65535,
        help=f"Loopback port, 0 for any free one. Default: {DEFAULT_PORT}, with a command any free one.",
    ),
]
Fault = Annotated[
    list[str] | None,
    typer.Option(
        "--fault",
        help="Trouble to make; repeat for more: KIND:RATE (429:0.1), or KIND:@N for the n-th request of each "
        f"trial (hang:@3). Kinds: {', '.join(KINDS)}.",
        metavar="KIND:WHEN",
    ),
]
FaultSeed = Annotated[
    int, typer.Option("--fault-seed", min=0, help="Seed that chooses which requests meet trouble.")
]
RetryAfter = Annotated[
    str, typer.Option("--retry-after", help="Time that a 429 tells the client to wait.", metavar="TIME")
]
Latency = Annotated[
    str,
    typer.Option(
        "--latency",
        help="Time before a reply: 50ms, uniform:low=100ms,high=300ms, lognormal:median=400ms,sigma=0.5.",
    ),
]
ChunkLatency = Annotated[
    str,
    typer.Option("--chunk-latency", help="Time before each event of a stream, in the same form."),
]
Alias = Annotated[
    list[str] | None,
    typer.Option("--alias", help="Another name of a simulated model: gpt-x=sim-large.", metavar="NAME=MODEL"),
]


def simulate(
    command: Command = None,
    port: Port = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the simulated model's noise.")] = 0,
    fault: Fault = None,
    fault_seed: FaultSeed = 0,
    retry_after: RetryAfter = "1s",
    latency: Latency = "0ms",
    chunk_latency: ChunkLatency = "0ms",
    alias: Alias = None,
    as_json: Json = False,
) -> None:
    """Serve a simulated model on loopback, in the dialects of all services that agentmut knows.

    It is a stand-in for demos and tests, no evidence about real models.

    With a command after `--`, the variables that lead SDKs here are set for it, and its exit code is returned. The
    variables are OPENAI_BASE_URL, ANTHROPIC_BASE_URL, GOOGLE_GEMINI_BASE_URL, GOOGLE_VERTEX_BASE_URL,
    OLLAMA_HOST, AWS_ENDPOINT_URL_BEDROCK_RUNTIME, and keys without value.

    Example: agentmut simulate -- agentmut run --yes
    """
    from agentmut.simulator import read_seconds, read_settings, trouble_of

    refuse_json(as_json, command)
    seconds = read_seconds(retry_after, "--retry-after")
    settings = read_settings(
        seed=seed,
        trouble=trouble_of(fault or [], seed=fault_seed, retry_after=seconds),
        latency=latency,
        chunk_latency=chunk_latency,
        aliases=dict(map(_alias, alias or [])),
    )
    chosen = port if port is not None else 0 if command else DEFAULT_PORT
    raise typer.Exit(asyncio.run(_serve_while(command or [], chosen, settings, as_json)))


async def _serve_while(command: list[str], port: int, settings: "Settings", as_json: bool) -> int:
    from agentmut.simulator import Addresses, exports, serve

    async with serve(port=port, **settings._asdict()) as url:
        variables = exports(Addresses.found_at(url), settings)
        if command:
            return await run_command(command, variables)
        say_serving(url, variables, as_json)
        await until_stopped()
        return 0


def _alias(text: str) -> tuple[str, str]:
    name, equals, model = text.partition("=")
    if not (name and equals and model):
        raise UsageError(f"--alias {text!r}: expected NAME=MODEL, such as gpt-x=sim-large.")
    return name, model
