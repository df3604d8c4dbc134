"""`agentmut rescore`: changed evaluators and relations, applied to the stored trials of a run."""

from pathlib import Path
from typing import Annotated

import typer

from agentmut.cli import completing
from agentmut.cli.options import AgentRef, Json, ProjectPath
from agentmut.cli.output import agents_on_stderr, print_json, print_page, wants_color


def rescore(
    run: Annotated[
        str | None,
        typer.Argument(
            help="The run's id, or the beginning of it; the latest when left out.",
            autocompletion=completing.runs,
        ),
    ] = None,
    project: ProjectPath = Path(),
    as_json: Json = False,
    agent: AgentRef = None,
) -> None:
    """Judge the stored trials of a run by the evaluators and relations of today; nothing is run.

    Shows the score before and after, the mutants whose status changes, and the mutants that need new
    trials. If the project names relations (relations.use, relations.own), or some were checked before, also shows this
    for kills by relations, and how many pairs need new runs. The whole result is written to `rescored.json` beside the
    run's `result.json`, which stays unchanged.

    Example: agentmut rescore
    """
    from agentmut.project import load_project
    from agentmut.report import render_rescored
    from agentmut.usecases import carry_out_rescore, opened, stand_in_keys

    with agents_on_stderr(), stand_in_keys():
        loaded = load_project(project, agent)
        with opened(loaded) as (session, store):
            rescored = carry_out_rescore(session, store, run)
    if as_json:
        print_json(rescored.model_dump(mode="json", by_alias=True))
    else:
        print_page(render_rescored(rescored, wants_color()))
