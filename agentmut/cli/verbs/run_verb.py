"""`agentmut run`: the campaign."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentmut._base import UsageError, gone_again
from agentmut.cli.choosing import Choice, choosing, print_nothing_to_do, selection_of, with_session_changes
from agentmut.cli.options import (
    AgentRef,
    Fresh,
    Full,
    Json,
    Minutes,
    MostTrials,
    Precision,
    ProjectPath,
    ScenarioSample,
    Seed,
    Usd,
    Yes,
)
from agentmut.cli.output import agents_on_stderr, exit_code
from agentmut.cli.run_output import print_result

if TYPE_CHECKING:
    from agentmut.campaign import CampaignState, Plan, Session
    from agentmut.cli.progress import ProgressLine
    from agentmut.mutation import Generation
    from agentmut.nouns import Result
    from agentmut.store import Store

    Progress = Callable[[CampaignState], None]


Shard = Annotated[
    str | None,
    typer.Option("--shard", help="Only the k-th of n parts of the mutants: k/n.", metavar="k/n"),
]
BaselineOnly = Annotated[
    bool, typer.Option("--baseline-only", help="Only the baseline and the controls, for shards to share.")
]
Gate = Annotated[
    bool,
    typer.Option(
        "--gate", help="Decide by the section `gate` as well: exit code 0 deploy, 1 block, 3 manual."
    ),
]
GoOn = Annotated[
    bool, typer.Option("--continue", help="Go on without scenarios that fail each of their first runs.")
]
Serve = Annotated[
    bool, typer.Option("--serve", help="Serve a live page on 127.0.0.1: progress, decisions, a stop button.")
]


@choosing
def run(
    project: ProjectPath = Path(),
    choice: Choice = Choice(),
    sample_scenarios: ScenarioSample = None,
    usd: Usd = None,
    trials: MostTrials = None,
    minutes: Minutes = None,
    precision: Precision = None,
    seed: Seed = None,
    yes: Yes = False,
    fresh: Fresh = False,
    shard: Shard = None,
    baseline_only: BaselineOnly = False,
    gate: Gate = False,
    go_on: GoOn = False,
    serve: Serve = False,
    full: Full = False,
    as_json: Json = False,
    agent: AgentRef = None,
) -> None:
    """Measure the suite on broken copies of the agent.

    Reports which breakages the scenarios notice, and which nobody notices. Looks for large drops of a pass rate
    first, so a small budget gives a coarse answer, and a later run with more money continues from there. If the
    budget is not enough for all mutants, a random sample of them is tried. Each scenario runs once first. A
    scenario that fails each of its first runs stops the command, unless --continue leaves it out. For several
    machines: --baseline-only, copy .agentmut to each, --shard k/n on each, then `agentmut merge`.

    Example: agentmut run --usd 2 --yes
    """
    from agentmut.campaign import make_mutants, part_of
    from agentmut.cli.verbs.gate_verb import decide_and_print
    from agentmut.project import load_project
    from agentmut.usecases import opened

    if gate and (shard or baseline_only):
        raise UsageError("--gate decides on a whole campaign. Give `agentmut gate` after `agentmut merge`.")
    with agents_on_stderr():
        loaded = load_project(project, agent).limited(usd, trials, minutes).to_precision(precision)
    selection = selection_of(choice)
    with agents_on_stderr(), opened(loaded, choice.named_scenarios, sample_scenarios) as (session, store):
        selection = with_session_changes(selection, session, choice.in_diff, agent)
        generation = make_mutants(session, selection)
        untouched = None if generation.mutants else selection.changes
        if untouched is None:
            share = partial(part_of, shard=shard, baseline_only=baseline_only, fresh=fresh, go_on=go_on)
            result = _campaign(session, store, generation, seed, share, yes=yes, fresh=fresh, serve=serve)
    if untouched is not None:
        if gate:  # what is stored may yet decide
            raise typer.Exit(int(decide_and_print(loaded, None, as_json, project)))
        print_nothing_to_do(untouched, as_json=as_json)
        return
    if gate and result.status in ("finished", "budget"):
        raise typer.Exit(int(decide_and_print(loaded, result, as_json, project)))
    print_result(result, as_json, project, full=full)
    raise typer.Exit(int(exit_code(result)))


def _campaign(
    session: "Session",
    store: "Store",
    generation: "Generation",
    seed: int | None,
    share: "Callable[[Plan], Plan]",
    *,
    yes: bool,
    fresh: bool,
    serve: bool,
) -> "Result":
    from agentmut.campaign import make_plan, register
    from agentmut.cli.progress import ProgressLine
    from agentmut.usecases import carry_out_campaign, starter_leftovers, stored_plan, with_cheap_model

    line = ProgressLine()
    if (
        second := gone_again()
    ) and second.kind == "run":  # the command's first process has registered it, and asked
        (left,) = (stored for stored in store.runs() if stored.id == second.run)
        return _carried_out(session, stored_plan(session, left), store, line, fresh=False, serve=serve)
    plan = share(make_plan(session, generation, seed, time.time()))
    for note in filter(None, (starter_leftovers(session.project), *plan.price, *generation.notes)):
        typer.echo(f"Note: {note}.", err=True)
    if not yes:
        _ask(store, plan)

    def again(left: "Session") -> "Plan":
        return share(make_plan(left, generation, seed, time.time()))

    carry_out = partial(carry_out_campaign, fresh=fresh, progress=line)
    plan = with_cheap_model(session, store, generation, plan, again, carry_out)
    register(store, plan, session.tests.texts)
    return _carried_out(session, plan, store, line, fresh=fresh, serve=serve)


def _carried_out(
    session: "Session", plan: "Plan", store: "Store", line: "ProgressLine", *, fresh: bool, serve: bool
) -> "Result":
    """Carry a plan out, and show how far it is."""
    from agentmut.usecases import carry_out_campaign

    shown: AbstractContextManager[Progress] = nullcontext(line)
    if serve:
        from agentmut.cli.live_run import on_live_page

        wordless = session.tests.texts.is_hidden
        shown = on_live_page(session.project.root.name, plan.run_id, line, wordless=wordless)
    try:
        with shown as progress:
            return carry_out_campaign(session, plan, store, fresh=fresh, progress=progress)
    finally:
        line.close()


def _ask(store: "Store", plan: "Plan") -> None:
    """Ask before a run that may be expensive, and show its worst case."""
    from agentmut.cli.verbs.verdicts import ask_to_run
    from agentmut.report import counted
    from agentmut.usecases import why_ask

    why = why_ask(plan.budget, plan.worst_case_trials, store.mean_cost())
    if why:
        ask_to_run(
            f"{counted(len(plan.mutants), 'mutant')}, {counted(len(plan.scenarios), 'scenario')}, baseline of "
            f"{plan.baseline} each: in the worst case {plan.worst_case_trials} agent runs, usually a small part of "
            "that.",
            why,
        )
