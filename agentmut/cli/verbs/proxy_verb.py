"""`agentmut proxy`: between any program and its model service, watching, or making it a mutant."""

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentmut._base import ExitCode, UsageError
from agentmut.cli import completing
from agentmut.cli.options import Json
from agentmut.cli.serving import SETTINGS, refuse_json, run_command, say_serving, until_stopped

if TYPE_CHECKING:
    from agentmut.nouns import Exchange
    from agentmut.recording import Trial
    from agentmut.wire import Passage

__all__ = ["SETTINGS", "proxy"]
DEFAULT_PORT = 8898
"""The port without a command after `--`; with a command the proxy takes any free port."""
PATIENCE = 5.0
"""Seconds that requests under way have when the proxy is stopped."""
NO_REQUEST = (
    "The program must send its requests to this proxy: let it read its base URL from OPENAI_BASE_URL and the other "
    "variables that are set for it, or write their values into its settings. If the program hard-codes the address of "
    "its service, add --intercept."
)
NONE_INTERCEPTED = (
    "The program must use the proxy in HTTPS_PROXY and trust the certificate in SSL_CERT_FILE, which are set for it. "
    "If its service has another address than the known ones, name the host with --intercept-host."
)

Command = Annotated[
    list[str] | None, typer.Argument(help="After `--`: a command to run with the endpoints exported.")
]
Upstream = Annotated[
    str | None,
    typer.Option(
        "--upstream",
        help="Base URL of the service, such as http://127.0.0.1:11434/v1. Default: what OPENAI_BASE_URL, "
        "ANTHROPIC_BASE_URL, GOOGLE_GEMINI_BASE_URL and OLLAMA_HOST say, or else the services themselves.",
        metavar="URL",
    ),
]
Port = Annotated[
    int | None,
    typer.Option(
        "--port",
        min=0,
        max=65535,
        help=f"Port, 0 for any free one. Default: {DEFAULT_PORT}, with a command any free one.",
    ),
]
AllowRemote = Annotated[
    bool,
    typer.Option(
        "--allow-remote", help="Let other machines in: any --host, and requests under any Host name."
    ),
]
Token = Annotated[
    bool,
    typer.Option(
        "--token/--no-token",
        help="Serve under a random path, which the exported base URLs have, and refuse all other requests.",
    ),
]
Intercept = Annotated[
    bool,
    typer.Option(
        "--intercept",
        help="Also answer in the name of the services, over HTTPS, for programs that hard-code their addresses: "
        "HTTPS_PROXY and the certificate of an authority that is made for this run. Needs 'agentmut[intercept]'.",
    ),
]
InterceptHost = Annotated[
    list[str] | None,
    typer.Option(
        "--intercept-host",
        help="A host of your own that is intercepted as well, such as llm.example.com or 10.0.0.7:8443.",
        metavar="HOST",
    ),
]
Project = Annotated[
    Path | None,
    typer.Option("--project", "-p", help="The project that --mutant belongs to. Default: here."),
]
Mutant = Annotated[
    str | None,
    typer.Option(
        "--mutant",
        help="Change every request as this mutant does: its id, or the beginning of it.",
        autocompletion=completing.mutants,
    ),
]


def proxy(
    command: Command = None,
    upstream: Upstream = None,
    port: Port = None,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    allow_remote: AllowRemote = False,
    token: Token = True,
    intercept: Intercept = False,
    intercept_host: InterceptHost = None,
    project: Project = None,
    mutant: Mutant = None,
    as_json: Json = False,
) -> None:
    """Pass model requests on, and print a line for each.

    The line goes to stderr: dialect, model, status, seconds, tokens, and whether the request was changed.
    Credentials pass through; nothing is kept.

    With a command after `--`, the variables that lead SDKs here are set for it, and its exit code is returned. With
    --mutant, the exit code is 4 instead of 0 if the mutant changed no request.

    A program that hard-codes https://api.openai.com and the like is reached by --intercept: connections to the
    services end here, all others pass encrypted. The authority's key stays in memory, its certificate is removed at the
    end, and the machine's own list of trusted certificates is left alone.

    Example: agentmut proxy --mutant 3f9ac2d1 -- node agent.js
    """
    refuse_json(as_json, command)
    if project is not None and mutant is None:
        raise UsageError(
            "--project says which agent --mutant is a mutant of; without --mutant it has no meaning. Leave it out."
        )
    make = _trials_of(project or Path(), mutant) if mutant is not None else _plain_trial
    chosen = port if port is not None else 0 if command else DEFAULT_PORT
    hosts = (*intercept_host,) if intercept_host else () if intercept else None
    served = _ProxyRun(upstream, host, chosen, allow_remote=allow_remote, token=token, intercept=hosts)
    code = asyncio.run(served.until_done(command or [], make, as_json))
    raise typer.Exit(served.tally.exit_code(code, mutant=mutant is not None))


class _Tally:
    """Count of requests through the proxy; a suite whose requests bypass the proxy has not met the mutant."""

    def __init__(self, remedy: str) -> None:
        self.requests = 0
        self.changed = 0
        self._remedy = remedy
        """What to do where no request has passed."""

    def count(self, passage: "Passage") -> None:
        """Count a model request that has passed."""
        self.requests += 1
        self.changed += passage.changed

    def exit_code(self, code: int, *, mutant: bool) -> int:
        """Warn if no request has arrived, and return the exit code; a mutant without requests passes no suite."""
        if not self.requests:
            typer.echo(
                f"0 model requests passed{'; the mutant did not arrive' if mutant else ''}. {self._remedy}",
                err=True,
            )
        elif mutant and not self.changed:
            typer.echo(
                f"{self.requests} model requests passed, none was changed; the mutant did not arrive. No request "
                "has the text or the tool that the mutant changes. `agentmut doctor` compares the declared config with "
                "what the program sends.",
                err=True,
            )
        return int(ExitCode.BROKEN) if mutant and not self.changed and code == 0 else code


class _ProxyRun:
    """The proxy and what it is asked to do."""

    def __init__(
        self,
        upstream: str | None,
        host: str,
        port: int,
        *,
        allow_remote: bool,
        token: bool,
        intercept: Sequence[str] | None,
    ) -> None:
        self._upstream = upstream
        self._host = host
        self._port = port
        self._allow_remote = allow_remote
        self._token = token
        self._intercept = intercept
        """Further hosts that are intercepted; None without interception."""
        self.tally = _Tally(NO_REQUEST if intercept is None else NONE_INTERCEPTED)

    async def until_done(self, command: list[str], make: "Callable[[str], Trial]", as_json: bool) -> int:
        """Serve until the command has ended, or until stopped; returns the exit code."""
        from agentmut.cli.masking import masked
        from agentmut.wire import Everyone, Proxy, doors_of, intercepting, new_token, past_http_proxies

        def watch(passage: "Passage", exchange: "Exchange") -> None:
            self.tally.count(passage)
            typer.echo(masked(line(passage, exchange)), err=True)

        doors, roster = doors_of(os.environ, self._upstream), Everyone(make)
        together = Proxy(
            [door.upstream for door in doors],
            roster,
            allow_remote=self._allow_remote,
            watch=watch,
            token=new_token() if self._token else "",
        )
        async with AsyncExitStack() as stack:
            origin = await stack.enter_async_context(together.serving(self._host, self._port, PATIENCE))
            variables = past_http_proxies(os.environ)
            for door in doors:
                variables.update(door.variables(origin))
            if self._intercept is not None:
                opened = intercepting(os.environ, doors, self._intercept, roster, watch)
                variables.update(await stack.enter_async_context(opened))
            if command:
                return await run_command(command, variables)
            say_serving(origin, variables, as_json)
            await until_stopped()
            return 0


def line(passage: "Passage", exchange: "Exchange") -> str:
    """Return one exchange, fit for a terminal.

    Dialect, model, status, seconds, tokens in and out, and whether it is the mutant's.
    """
    from agentmut.report import clean

    usage = exchange.reply.usage if exchange.reply else None
    parts = (
        passage.codec.name,
        exchange.request.model,
        str(exchange.status or "no answer"),
        f"{exchange.seconds:.2f} s",
        f"{usage.input_tokens}+{usage.output_tokens} tokens" if usage else "",
        "changed" if passage.changed else "unchanged",
        exchange.error or "",
    )
    return clean("  ".join(filter(None, parts)))


def _plain_trial(name: str) -> "Trial":
    from agentmut.recording import Trial

    return Trial(name)


def _trials_of(project: Path, wanted: str) -> "Callable[[str], Trial]":
    """Return the trials of the mutant whose id begins with the given text."""
    from agentmut.campaign import Selection, make_mutants, open_session
    from agentmut.project import load_project
    from agentmut.recording import Trial, altered_tools
    from agentmut.usecases import stand_in_keys
    from agentmut.wire import ConfigRewriter

    with stand_in_keys():
        session = open_session(load_project(project))
    matching = make_mutants(session, Selection(mutants=(wanted,))).mutants
    if len(matching) != 1:
        raise UsageError(
            f"{len(matching)} mutants have an id that begins with {wanted!r}. Give more of the id. `agentmut mutants` "
            "lists all mutants."
        )
    base = session.suite.full
    mutated = matching[0].apply(base)
    typer.echo(f"mutant {matching[0].id}: {matching[0].operator}", err=True)
    return lambda name: Trial(name, tools=altered_tools(mutated), rewriter=ConfigRewriter(base, mutated))
