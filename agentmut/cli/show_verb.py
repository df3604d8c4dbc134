"""`agentmut show ID`: explain one mutant."""

from pathlib import Path
from typing import Annotated

import typer

from agentmut.cli.options import Json, ProjectPath
from agentmut.errors import UsageError


def show(
    mutant: Annotated[str, typer.Argument(help="The mutant's id, or the beginning of it.")],
    run: Annotated[str | None, typer.Option("--run", help="The run's id; the latest when left out.")] = None,
    project: ProjectPath = Path(),
    as_json: Json = False,
) -> None:
    """Explain one mutant.

    What was changed, what every scenario saw, and why it has its status.

    Example: agentmut show 3f9ac2d1
    """
    from agentmut.cli.output import print_json, wants_color
    from agentmut.cli.runs import find_result
    from agentmut.report.mutant import render_mutant

    result = find_result(project, run)
    found = [row for row in result.mutants if row.id.startswith(mutant)]
    if len(found) != 1:
        raise UsageError(
            f"{len(found)} mutants of run {result.run_id} begin with {mutant!r}. `agentmut report` lists survivors, "
            "`agentmut mutants` all mutants."
        )
    if as_json:
        print_json(found[0].model_dump(mode="json", by_alias=True))
    else:
        typer.echo(render_mutant(result, found[0], color=wants_color()), nl=False)
