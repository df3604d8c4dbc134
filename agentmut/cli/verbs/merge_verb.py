"""`agentmut merge`: one result from the shards of a campaign."""

from pathlib import Path
from typing import Annotated

import typer

from agentmut.cli.options import AgentRef, Full, Json, ProjectPath
from agentmut.cli.output import agents_on_stderr, exit_code
from agentmut.cli.run_output import print_result


def merge(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            help="The .agentmut folder of each shard, or the project that holds it; left out: the project's own store, "
            "for shards that share a database."
        ),
    ] = None,
    project: ProjectPath = Path(),
    full: Full = False,
    as_json: Json = False,
    agent: AgentRef = None,
) -> None:
    """Put the shards of a campaign together; nothing is run.

    The shards must share one baseline: `agentmut run --baseline-only`, copy .agentmut to every machine, then
    `agentmut run --shard k/n` on each. Shards that share a PostgreSQL store need no copy. The result equals
    the result of an undivided run on the same trials, except that later baselines leave out trials which confirmed
    kills.

    Example: agentmut merge shard1/.agentmut shard2/.agentmut
    """
    from agentmut.campaign import open_session
    from agentmut.project import load_project
    from agentmut.usecases import agent_environment, carry_out_merge, open_store, stand_in_keys

    with agents_on_stderr():
        loaded = load_project(project, agent)
    with agents_on_stderr(), stand_in_keys(), agent_environment(loaded), open_store(loaded) as store:
        result = carry_out_merge(open_session(loaded), store, paths or ())
    print_result(result, as_json, project, full=full)
    raise typer.Exit(int(exit_code(result)))
