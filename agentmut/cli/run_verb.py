"""`agentmut run`: the campaign."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentmut.cli.options import (
    AgentRef,
    Classes,
    Fresh,
    Json,
    Mutants,
    Operators,
    Pair,
    ProjectPath,
    Scenarios,
    SecondOrder,
    Seed,
    Selective,
    Yes,
)
from agentmut.errors import UsageError

if TYPE_CHECKING:
    from agentmut.engine.plan import Plan


def run(
    project: ProjectPath = Path(),
    agent: AgentRef = None,
    classes: Classes = None,
    operators: Operators = None,
    mutants: Mutants = None,
    scenarios: Scenarios = None,
    pair: Pair = None,
    second_order: SecondOrder = None,
    selective: Selective = None,
    seed: Seed = None,
    yes: Yes = False,
    fresh: Fresh = False,
    shard: Annotated[
        str | None,
        typer.Option("--shard", help="Only the k-th of n parts of the mutants: k/n.", metavar="k/n"),
    ] = None,
    baseline_only: Annotated[
        bool, typer.Option("--baseline-only", help="Only the baseline and the controls, for shards to share.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Measure the suite on broken copies of the agent.

    Reports which breakages the scenarios notice, and which nobody notices. Finished trials are kept and reused.
    For several machines: --baseline-only, copy .agentmut to each, --shard k/n on each, then `agentmut merge`.

    Example: agentmut run --class prompt --yes
    """
    from agentmut.api import carry_out
    from agentmut.cli.output import agents_on_stderr, exit_code, print_result
    from agentmut.cli.progress import ProgressLine
    from agentmut.engine.selection import Selection, checked_share
    from agentmut.engine.session import make_mutants, make_plan, open_session
    from agentmut.engine.shards import part_of
    from agentmut.higher_order import parse_pair
    from agentmut.project import load_project
    from agentmut.runtime import agent_environment, open_store, register

    with agents_on_stderr():
        loaded = load_project(project, agent)
    selection = Selection(
        classes=tuple(classes or ()),
        operators_named=tuple(operators or ()),
        mutants=tuple(mutants or ()),
        pairs=tuple(map(parse_pair, pair or ())),
        second_order=second_order,
        selective=checked_share(selective),
    )
    with agents_on_stderr(), agent_environment(loaded):
        session = open_session(loaded, tuple(scenarios or ()))
        plan = make_plan(session, make_mutants(session, selection), seed, time.time())
        plan = part_of(plan, shard, baseline_only=baseline_only, fresh=fresh)
        if not yes:
            _ask(plan)
        with open_store(loaded) as store:
            register(store, plan)
            line = ProgressLine()
            try:
                result = carry_out(session, plan, store, fresh=fresh, progress=line)
            finally:
                line.close()
    print_result(result, as_json, project)
    raise typer.Exit(int(exit_code(result)))


def _ask(plan: "Plan") -> None:
    """Nobody should find out afterwards what an unbounded run has cost."""
    if plan.bounded:
        return
    worst = (
        f"{len(plan.mutants)} mutants, {len(plan.scenarios)} scenarios, baseline of {plan.baseline} each: in the "
        f"worst case {plan.worst_case_trials} agent runs, usually a small part of that. No budget is set."
    )
    if not sys.stdin.isatty():
        raise UsageError(f"{worst} Set `budget:` in the project file, or pass --yes.")
    typer.confirm(f"{worst} Run?", abort=True, err=True)
