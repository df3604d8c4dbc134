"""`agentmut mutants`: list what would be broken."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentmut._base import UsageError
from agentmut.cli.choosing import (
    Choice,
    choosing,
    no_mutants_in,
    refuse_together,
    selection_of,
    with_changes,
    with_session_changes,
)
from agentmut.cli.options import AgentRef, Full, Json, ProjectPath
from agentmut.cli.output import agents_on_stderr, print_json, print_page, say_collecting, wants_color

if TYPE_CHECKING:
    from agentmut.campaign import Selection, Session
    from agentmut.mutation import Generation
    from agentmut.nouns import Origin

NO_PROMPT = (
    "the project declares no prompt, so none is mutated; save a request of the agent with `agentmut doctor "
    "--save-request agent.json`, and name it under agent.config.request"
)
ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="A file that describes the agent, instead of a project: AGENTS.md, a CrewAI agents.yaml, a promptfoo "
        "config and others, or YAML or JSON with prompt, tools and model. FILE#AGENT takes one of several agents.",
    ),
]
RequestFile = Annotated[
    Path | None,
    typer.Option("--request", help="A recorded model request of any dialect, instead of a project."),
]
Diff = Annotated[bool, typer.Option("--diff", help="Show each mutant's diff.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="List every candidate that was left out, with the reason.")
]


@choosing
def mutants(
    project: ProjectPath = Path(),
    config: ConfigFile = None,
    request: RequestFile = None,
    choice: Choice = Choice(),
    diff: Diff = False,
    verbose: Verbose = False,
    full: Full = False,
    as_json: Json = False,
    agent: AgentRef = None,
) -> None:
    """List what would be broken.

    Runs nothing. Needs no project: a config file or a recorded request is enough.

    Example: agentmut mutants --operator prompt.drop_instruction --diff
    """
    from agentmut.report import mutants_document, render_mutants

    _check_sources(project, agent, choice.scenarios, config, request)
    refuse_together(request=request, in_diff=choice.in_diff)
    if config or request:
        refuse_together(**{"config": config, "request": request, "selective": choice.selective})
    selection = selection_of(choice)
    if config or request:
        origin, generation, selection = _without_project(config, request, selection, choice.in_diff)
    else:
        origin, generation, selection = _of_project(
            project, agent, choice.named_scenarios, selection, choice.in_diff
        )
    changes = selection.changes
    if as_json:
        document = mutants_document(origin, generation)
        print_json(document if changes is None else {**document, "in_diff": changes.summary()})
    elif changes is not None and not generation.mutants:
        typer.echo(no_mutants_in(changes))
    else:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        page = render_mutants(
            origin, generation, color=wants_color(), diffs=diff, verbose=verbose, width=width
        )
        print_page(page, full=full or diff or verbose)


def _check_sources(
    project: Path, agent: str | None, scenarios: list[str] | None, config: Path | None, request: Path | None
) -> None:

    refuse_together(project=project != Path(), config=config, request=request)
    if (config or request) and (agent or scenarios):
        raise UsageError("--agent and --scenario belong to a project; --config and --request need neither.")


def _without_project(
    config: Path | None, request: Path | None, selection: "Selection", in_diff: str | None
) -> "tuple[Origin, Generation, Selection]":
    from agentmut.campaign import AgentFiles, changes_since, mutants_of
    from agentmut.mutation import OperatorCatalogue
    from agentmut.project import MutationSettings, read_config_file, read_request_file

    with agents_on_stderr():
        origin = read_config_file(config) if config else read_request_file(request or Path())
        if config:
            described = AgentFiles(config, bare=True)
            selection = with_changes(
                selection, in_diff, lambda since: changes_since(since, described, origin.config)
            )
        made = mutants_of(origin, selection, MutationSettings(), OperatorCatalogue({}))
        unread = tuple(f"{origin.file} also names {part}, which is not read" for part in origin.left_out)
        return origin, replace(made, notes=(*made.notes, *unread)), selection


def _of_project(
    project: Path, agent: str | None, scenarios: tuple[str, ...], selection: "Selection", in_diff: str | None
) -> "tuple[Origin, Generation, Selection]":
    from agentmut.campaign import make_mutants, open_session
    from agentmut.project import load_project
    from agentmut.usecases import agent_environment, stand_in_keys, starter_leftovers

    with agents_on_stderr():
        loaded = load_project(project, agent)
    say_collecting(loaded)
    with agents_on_stderr(), stand_in_keys(), agent_environment(loaded):
        session = open_session(loaded, scenarios)
        selection = with_session_changes(selection, session, in_diff, agent)
        made = _with_prompt_note(make_mutants(session, selection), session)
        left = starter_leftovers(loaded)
        return session.origin, replace(made, notes=(left, *made.notes)) if left else made, selection


def _with_prompt_note(made: "Generation", session: "Session") -> "Generation":
    """Return the mutants with a note where prompts are wanted, none is known, and the agent asks a model."""
    from agentmut.seams import AsksNoModel
    from agentmut.trial import inside

    config = session.suite.full
    wanted = any(empty.operator.startswith("prompt.") for empty in made.empty)
    known = config.prompt or config.workspace or isinstance(inside(session.adapter), AsksNoModel)
    return made if known or not wanted or not made.mutants else replace(made, notes=(*made.notes, NO_PROMPT))
