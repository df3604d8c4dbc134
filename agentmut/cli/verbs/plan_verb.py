"""`agentmut plan`: what a campaign will probably take, before anything is spent."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentmut._base import UsageError
from agentmut.cli.choosing import Choice, choosing, print_nothing_to_do, selection_of, with_session_changes
from agentmut.cli.options import (
    AgentRef,
    Full,
    Json,
    Minutes,
    MostTrials,
    ProjectPath,
    ScenarioSample,
    Seed,
    Usd,
    Yes,
)
from agentmut.cli.output import agents_on_stderr, print_report, say_collecting, wants_color

if TYPE_CHECKING:
    from agentmut.campaign import Session
    from agentmut.cli.verbs.verdicts import UnderWay
    from agentmut.store import Store


@choosing
def plan(
    project: ProjectPath = Path(),
    choice: Choice = Choice(),
    sample_scenarios: ScenarioSample = None,
    usd: Usd = None,
    trials: MostTrials = None,
    minutes: Minutes = None,
    seed: Seed = None,
    rate: Annotated[
        float | None, typer.Option("--rate", help="Assume this pass rate of every scenario.")
    ] = None,
    probe: Annotated[
        int | None,
        typer.Option(
            "--probe",
            min=1,
            help="First run the agent so often on each scenario; the campaign reuses these runs.",
        ),
    ] = None,
    yes: Yes = False,
    full: Full = False,
    as_json: Json = False,
    agent: AgentRef = None,
) -> None:
    """Show what `agentmut run` would take and probably find.

    Shows mutants by class, trials expected and at worst, money by the model's price, and time. With --full it also
    shows the shares of mutants that would be killed, survive or stay open, at three drops. Takes the filters of
    `run`. Runs nothing without --probe.

    Example: agentmut plan --class prompt --probe 3
    """
    from agentmut.campaign import make_mutants
    from agentmut.cli.verbs.verdicts import under_way
    from agentmut.project import load_project
    from agentmut.report import render_plan
    from agentmut.usecases import foresee, stand_in_keys

    if rate is not None and not 0 < rate <= 1:
        raise UsageError(f"--rate: a pass rate is above 0 and at most 1, got {rate:g}.")
    with agents_on_stderr():
        loaded = load_project(project, agent).limited(usd, trials, minutes)
    selection = selection_of(choice)
    say_collecting(loaded)
    keys = stand_in_keys() if probe is None else agents_on_stderr()
    with keys, under_way(loaded, choice.named_scenarios, sample_scenarios) as (session, store, now, progress):
        selection = with_session_changes(selection, session, choice.in_diff, agent)
        generation = make_mutants(session, selection)
        untouched = None if generation.mutants else selection.changes
        if untouched is None:
            if probe is not None:
                _probe(session, store, now, progress, probe, seed, yes=yes)
            forecast = foresee(session, store, generation, rate, seed)
    if untouched is not None:
        print_nothing_to_do(untouched, as_json=as_json)
    else:
        print_report(forecast, as_json, lambda: render_plan(forecast, wants_color(), full=full), full=full)


def _probe(
    session: "Session",
    store: "Store",
    now: float,
    progress: "UnderWay",
    trials: int,
    seed: int | None,
    *,
    yes: bool,
) -> None:
    """Run the unchanged agent a few times, after the same question as for any other runs."""
    from agentmut.assessment import RunSettings, prepare_saving
    from agentmut.usecases import carry_out_probe

    prepared = prepare_saving(session, trials, RunSettings(now, seed), kind="probe")
    progress.ask(prepared, yes)
    carry_out_probe(session, prepared, store, progress)
