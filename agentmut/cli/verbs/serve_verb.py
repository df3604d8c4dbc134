"""`agentmut serve`: pages of projects for a team, which change nothing."""

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentmut._base import UsageError
from agentmut.cli.options import Json
from agentmut.cli.output import print_json
from agentmut.cli.serving import say_serving, until_stopped

if TYPE_CHECKING:
    from agentmut.cli.team_site import Site

DEFAULT_PORT = 8897
TOKEN = "AGENTMUT_SERVE_TOKEN"


def serve(
    projects: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PROJECT...", help="Project files, or folders with agentmut.yaml; left out: this folder."
        ),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 takes any free one.")
    ] = DEFAULT_PORT,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Let --host be an address that other machines reach.")
    ] = False,
    user_header: Annotated[
        str,
        typer.Option(
            "--user-header",
            help="The header in which a reverse proxy names the user, such as X-Forwarded-User; it takes the place "
            "of the token in the address.",
        ),
    ] = "",
    bundle: Annotated[
        Path | None, typer.Option("--bundle", help="Write all pages into this folder, and serve nothing.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show a team its projects in a browser: runs, trends, survivors over time, ignored changes. Nothing is changed.

    Whoever knows the printed address may read: it has a token, which AGENTMUT_SERVE_TOKEN can set. No agent is run and
    no code of a project is imported. Projects in a PostgreSQL store show the runs of all machines.

    Example: agentmut serve desk shop
    """
    from agentmut.cli.team_site import Site, write_site
    from agentmut.report import counted

    site = Site(tuple(projects or [Path()]))
    if bundle is not None:
        pages = write_site(bundle, site)
        if as_json:
            print_json({"written": [str(bundle / page) for page in pages]})
        else:
            typer.echo(f"wrote {bundle / 'index.html'} and {counted(len(pages) - 1, 'further page')}")
        return
    site.pages()  # what is wrong with a project is said before anything is served
    asyncio.run(_serve(site, host, port, user_header, allow_remote, as_json))


async def _serve(
    site: "Site", host: str, port: int, user_header: str, allow_remote: bool, as_json: bool
) -> None:
    from agentmut.cli.team_server import Door, TeamServer, check_door
    from agentmut.wire import new_token

    if user_header and not all(letter.isalnum() or letter == "-" for letter in user_header):
        raise UsageError(f"--user-header {user_header!r} is no name of a header, such as X-Forwarded-User.")
    token = "" if user_header else os.environ.get(TOKEN) or new_token()
    door = Door(host, token, user_header)
    check_door(door, allow_remote=allow_remote)
    server = TeamServer(site, door)
    listening = await server.start(port)
    try:
        say_serving(server.address, {}, as_json)
        await until_stopped()
    finally:
        await listening.runner.cleanup()
