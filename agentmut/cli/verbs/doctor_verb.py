"""`agentmut doctor`: can this agent be mutated, and how."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentmut._base import ExitCode, UsageError
from agentmut.cli import completing
from agentmut.cli.options import AgentRef, Json, ProjectPath
from agentmut.cli.output import agents_on_stderr, print_report, wants_color

if TYPE_CHECKING:
    from agentmut.campaign import Session
    from agentmut.doctor import Examination
    from agentmut.project import Project
    from agentmut.store import Diagnosis


def doctor(
    project: ProjectPath = Path(),
    scenario: Annotated[
        str | None,
        typer.Option(
            "--scenario",
            help="The scenario to run; the first when left out.",
            autocompletion=completing.scenarios,
        ),
    ] = None,
    save_request: Annotated[
        Path | None,
        typer.Option(
            "--save-request",
            help="Keep the agent's main model request in this file, for agent.config.request. The agent is run twice "
            "more, to put placeholders where dates, users and the like move.",
            metavar="FILE",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before the agent is run.")] = False,
    as_json: Json = False,
    agent: AgentRef = None,
) -> None:
    """Check whether this agent can be mutated: by building it anew, on the wire, or both.

    Runs the agent unchanged, and then with one harmless change of each part by each route: about six runs. Asks first;
    without a terminal, as in CI, it needs --yes.

    Exit code 0 if some change arrives, 4 if none does or the agent cannot be run.

    Example: agentmut doctor
    """
    from agentmut.project import load_project
    from agentmut.report import render_diagnosis
    from agentmut.usecases import agent_environment

    with agents_on_stderr():
        loaded = load_project(project, agent, awaited_request=save_request)
        with agent_environment(loaded):
            session = _opened(loaded, scenario)
            examination = _examined(session, yes=yes, kept_in=str(save_request or ""))
    if save_request:
        _save(examination, save_request, loaded)
    print_report(
        examination.diagnosis, as_json, lambda: render_diagnosis(examination.diagnosis, wants_color())
    )
    raise typer.Exit(int(ExitCode.OK if examination.diagnosis.reachable else ExitCode.BROKEN))


def _opened(project: "Project", scenario: str | None) -> "Session":
    """Return the session of one scenario: the first, where none is named; of a suite of another tool, once that is
    read.
    """
    from agentmut.campaign import imported_suite, open_session

    if project.imported is not None:
        suite = imported_suite(project)
        project = project.model_copy(update={"scenarios": suite.scenarios() if suite else ()})
    return open_session(project, (scenario or project.scenarios[0].name,))


def _examined(session: "Session", *, yes: bool, kept_in: str) -> "Examination":
    import os

    from agentmut.campaign import refuse_to_run
    from agentmut.doctor import before_running, examine, plan_of
    from agentmut.usecases import redactor, starter_leftovers

    refuse_to_run(session, "`agentmut doctor`")
    before = before_running(session, os.environ)
    left = starter_leftovers(session.project)
    _announce(before, left, plan_of(session, keeps_request=bool(kept_in)), yes=yes)
    return examine(session, before, redactor(session.project), kept_in)


def _announce(before: "Diagnosis", leftovers: str, plan: str, *, yes: bool) -> None:
    """Say beforehand which real tools the doctor may call, and which files of a stub are left."""
    warnings = [*([leftovers] if leftovers else []), *(check.said for check in before.checks if not check.ok)]
    text = "\n".join([plan, *(f"Note: {warning}." for warning in warnings)])
    if yes:
        typer.echo(text, err=True)
    elif not sys.stdin.isatty():
        raise UsageError(f"{plan} There is no terminal to ask at: pass --yes to run it.")
    else:
        typer.confirm(f"{text}\nRun?", abort=True, err=True)


def _save(examination: "Examination", path: Path, project: "Project") -> None:
    from agentmut._base import StoreError
    from agentmut.cli.delivering import write_output
    from agentmut.project import with_sources

    if examination.kept is None:
        ending = (
            f" The agent's run ended so: {examination.diagnosis.said}" if examination.diagnosis.said else ""
        )
        raise UsageError(f"--save-request: no model request was seen, so there is none to keep.{ending}")
    try:
        text = with_sources(examination.kept.text, examination.kept.config, project.root.resolve())
        write_output(path, text.encode())
    except OSError as error:
        raise StoreError(f"--save-request {path}: {error.strerror or error}.") from None
    named = path.resolve() in {project.root / file for file in project.sources.recorded.values()}
    next_ = "" if named else f" Name it under agent.config.request in {project.path.name}."
    typer.echo(f"{path} holds the request.{next_}", err=True)
