"""`agentmut mutants`: list what would be broken."""

from pathlib import Path

import typer

from agentmut.cli.options import (
    AgentRef,
    Classes,
    Json,
    Mutants,
    Operators,
    Pair,
    ProjectPath,
    Scenarios,
    SecondOrder,
    Selective,
)


def mutants(
    project: ProjectPath = Path(),
    agent: AgentRef = None,
    classes: Classes = None,
    operators: Operators = None,
    mutant: Mutants = None,
    scenarios: Scenarios = None,
    pair: Pair = None,
    second_order: SecondOrder = None,
    selective: Selective = None,
    as_json: Json = False,
) -> None:
    """List what would be broken, with diffs.

    Nothing is executed.

    Example: agentmut mutants --operator prompt.drop_instruction
    """
    from agentmut.cli.output import agents_on_stderr, print_json, wants_color
    from agentmut.engine.selection import Selection, checked_share
    from agentmut.engine.session import make_mutants, open_session
    from agentmut.higher_order import parse_pair
    from agentmut.project import load_project
    from agentmut.report.mutants import as_document, render_mutants
    from agentmut.runtime import agent_environment

    with agents_on_stderr():
        loaded = load_project(project, agent)
    selection = Selection(
        classes=tuple(classes or ()),
        operators_named=tuple(operators or ()),
        mutants=tuple(mutant or ()),
        pairs=tuple(map(parse_pair, pair or ())),
        second_order=second_order,
        selective=checked_share(selective),
    )
    with agents_on_stderr(), agent_environment(loaded):
        session = open_session(loaded, tuple(scenarios or ()))
        generation = make_mutants(session, selection)
    if as_json:
        print_json(as_document(session, generation))
    else:
        typer.echo(render_mutants(session, generation, color=wants_color()), nl=False)
