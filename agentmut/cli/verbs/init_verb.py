"""`agentmut init`: start a project."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentmut._base import UsageError
from agentmut.cli.options import Json
from agentmut.cli.output import print_json, project_option

if TYPE_CHECKING:
    from agentmut.usecases import StartedBeside

NO_AGENT_RECOGNISED = (
    "agentmut recognised no agent in the code here. To measure yours, name it in agentmut.yaml. A function is "
    "`adapter: python` with `run: your_module:function`. A program is `adapter: command` with `command: "
    '[./your-program, "{input}"]`. docs/your-agent.md has the other forms.'
)


def init(
    folder: Annotated[Path, typer.Argument(help="Where to write; created if missing.")] = Path(),
    framework: Annotated[
        str,
        typer.Option(
            "--framework",
            help="Write a starter with an agent stub: python, or the name of a framework, such as langgraph or crewai.",
            show_default="python, where the folder has no agent yet",
        ),
    ] = "",
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

    Writes a commented agentmut.yaml, two scenarios and an agent stub. If the folder already has an agent, agentmut.yaml
    names that agent, and there is no stub. With --from the file describes the agent, which runs in a ready tool loop.
    Its tools get stand-ins in the scenarios.

    Example: agentmut init my_project
    """
    from agentmut.usecases import has_code, write_beside, write_from, write_starter

    if source and framework:
        raise UsageError(
            "--framework chooses a starter, and --from takes the agent of a file: leave one out."
        )
    beside = None if source or framework else write_beside(folder, force)
    if beside:
        _print_beside(beside, folder, as_json)
        return
    framework = framework or "python"
    begun = write_from(folder, Path(source), force) if source else None
    written = [str(path) for path in (begun.files if begun else write_starter(folder, force, framework))]
    if as_json:
        print_json({"written": written})
        return
    for path in written:
        typer.echo(f"wrote {path}")
    if begun:
        _name_missing_package(begun.extra)
    elif has_code(folder, written):
        typer.echo(_not_recognised(folder))
    where, prefix = project_option(folder), _simulated(begun.model if begun else None, framework)
    typer.echo(f"Next: {prefix}agentmut mutants{where}\nthen: {prefix}agentmut run{where}")


def _not_recognised(folder: Path) -> str:
    """Return why the project has a stub beside the code of a folder, and what to write by hand."""
    from agentmut.usecases import methods_with_arguments

    found = methods_with_arguments(folder)
    if not found:
        return NO_AGENT_RECOGNISED
    first = found[0]
    method = first.place.rpartition(".")[2]
    return (
        f"{first.file}:{first.line}: {first.owner}.{method} asks a model, but {first.owner} needs arguments that only "
        f"you know. Write a function that makes one and calls `{method}`, and name it under agent.run in the "
        "place of the stub."
    )


def _name_missing_package(package: str) -> None:
    """Print how to install the package that the agent needs; nothing where it is installed or none is needed."""
    from importlib.util import find_spec

    if package and find_spec(package) is None:
        typer.echo(f"The agent needs the package {package}. Install with: pip install 'agentmut[{package}]'")


def _simulated(model: str | None, framework: str) -> str:
    """Return what stands before a command that needs no key; None for `model` stands for a starter of `framework`."""
    from shlex import quote

    from agentmut.usecases import MODEL_OF_STARTER, WITHOUT_MODEL, starter_name

    starter = starter_name(framework)
    if name := MODEL_OF_STARTER.get(starter) if model is None else model:
        return f"agentmut simulate --alias {quote(f'{name}=sim-large')} -- "
    return "" if starter in WITHOUT_MODEL else "agentmut simulate -- "


def _without_key(model: str) -> str:
    """Return how commands run without a key; `model` is empty where the source does not tell the model's name."""
    from shlex import quote

    from agentmut.simulator import PROFILES

    if model in PROFILES:
        return "Without a key, begin each command with `agentmut simulate --`."
    if model:
        alias = quote(f"{model}=sim-large")
        return f"Without a key, begin each command with `agentmut simulate --alias {alias} --`."
    return (
        "Without a key, begin each command with `agentmut simulate --alias MODEL=sim-large --`. MODEL is the name of "
        "the agent's model."
    )


def _print_beside(begun: "StartedBeside", folder: Path, as_json: bool) -> None:
    """Print what was found beside the new project, and the next commands."""
    if as_json:
        print_json({"written": [str(path) for path in begun.files]})
        return
    for path in begun.files:
        typer.echo(f"wrote {path}")
    for sentence in begun.found:
        typer.echo(sentence)
    if begun.asks_model:
        typer.echo(_without_key(begun.model))
    first, *later = (f"{command}{project_option(folder)}" for command in begun.commands)
    typer.echo("\n".join((f"Next: {first}", *(f"then: {command}" for command in later))))
