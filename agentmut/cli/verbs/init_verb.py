"""`agentmut init`: start a project."""

from pathlib import Path
from typing import Annotated

import typer

from agentmut.cli.options import Json
from agentmut.cli.output import print_json, project_option


def init(
    folder: Annotated[Path, typer.Argument(help="Where to write; created if missing.")] = Path(),
    framework: Annotated[
        str,
        typer.Option(
            "--framework", help="The starter: python, or the name of a framework, as langgraph or crewai."
        ),
    ] = "python",
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    as_json: Json = False,
) -> None:
    """Start a project that runs as it is.

    Writes a commented agentmut.yaml, two scenarios and an agent stub.

    Example: agentmut init my_project
    """
    from agentmut.usecases import WITHOUT_MODEL, starter_name, write_starter

    written = [str(path) for path in write_starter(folder, force, framework)]
    if as_json:
        print_json({"written": written})
        return
    for path in written:
        typer.echo(f"wrote {path}")
    where = project_option(folder)
    prefix = "" if starter_name(framework) in WITHOUT_MODEL else "agentmut simulate -- "
    typer.echo(f"Next: {prefix}agentmut mutants{where}\nthen: {prefix}agentmut run{where}")
