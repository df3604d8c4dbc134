"""`agentmut init`: start a project."""

from pathlib import Path
from typing import Annotated

import typer

from agentmut._base import UsageError
from agentmut.cli.options import Json
from agentmut.cli.output import print_json, project_option


def init(
    folder: Annotated[Path, typer.Argument(help="Where to write; created if missing.")] = Path(),
    framework: Annotated[
        str,
        typer.Option(
            "--framework",
            help="The starter: python, or the name of a framework, such as langgraph or crewai.",
        ),
    ] = "python",
    source: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Take prompt, tools and model from a file that describes an agent for another tool; FILE#AGENT "
            "where it describes several.",
        ),
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    as_json: Json = False,
) -> None:
    """Start a project that runs at once.

    Writes a commented agentmut.yaml, two scenarios and an agent stub. With --from the file describes the agent,
    which runs in a ready tool loop. Its tools get stand-ins in the scenarios.

    Example: agentmut init my_project
    """
    from importlib.util import find_spec
    from shlex import quote

    from agentmut.usecases import MODEL_OF_STARTER, WITHOUT_MODEL, starter_name, write_from, write_starter

    if source and framework != "python":
        raise UsageError(
            "--framework chooses a starter, and --from takes the agent of a file: leave one out."
        )
    begun = write_from(folder, Path(source), force) if source else None
    written = [str(path) for path in (begun.files if begun else write_starter(folder, force, framework))]
    if as_json:
        print_json({"written": written})
        return
    for path in written:
        typer.echo(f"wrote {path}")
    where = project_option(folder)
    starter = starter_name(framework)
    prefix = "" if starter in WITHOUT_MODEL else "agentmut simulate -- "
    if model := begun.model if begun else MODEL_OF_STARTER.get(starter):
        prefix = f"agentmut simulate --alias {quote(f'{model}=sim-large')} -- "
    if begun and begun.extra and find_spec(begun.extra) is None:
        typer.echo(
            f"The agent needs the package {begun.extra}. Install with: pip install 'agentmut[{begun.extra}]'"
        )
    typer.echo(f"Next: {prefix}agentmut mutants{where}\nthen: {prefix}agentmut run{where}")
