"""`agentmut baseline save` and `agentmut baseline compare`: has the agent become worse than it was?"""

from pathlib import Path
from typing import Annotated, Literal

import typer

from agentmut._base import UsageError
from agentmut.cli import completing
from agentmut.cli.options import AgentRef, Correction, Fresh, Json, ProjectPath, Scenarios, Seed, Yes
from agentmut.cli.output import agent_option, print_report, project_option

app = typer.Typer(
    name="baseline",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Keep the agent's pass rates, and compare later versions with them.\n\n"
    "Save before the agent is changed, compare afterwards.\n\n"
    "Example: agentmut baseline save --trials 100",
)
Name = Annotated[
    str | None,
    typer.Argument(
        help="The baseline's name. Default: `gate.baseline` of the project file, or else `default`.",
        autocompletion=completing.baselines,
    ),
]
Method = Literal["sequential", "fixed"]
Test = Literal["fisher", "boschloo", "z"]


@app.command()
def save(
    name: Name = None,
    project: ProjectPath = Path(),
    scenarios: Scenarios = None,
    trials: Annotated[
        int | None,
        typer.Option(
            "--trials",
            min=2,
            max=10_000,
            help="Trials of every scenario. Default: `compare.trials`, 100 if not set.",
        ),
    ] = None,
    seed: Seed = None,
    yes: Yes = False,
    fresh: Fresh = False,
    as_json: Json = False,
    agent: AgentRef = None,
) -> None:
    """Run the unchanged agent and keep its pass rates under a name.

    Replaces an earlier baseline of that name. Reuses finished trials.

    Example: agentmut baseline save --trials 100
    """
    from agentmut.assessment import RunSettings, prepare_saving
    from agentmut.campaign import cost_of
    from agentmut.cli.verbs.verdicts import under_way, with_settings
    from agentmut.report import render_baseline
    from agentmut.store import check_baseline_name
    from agentmut.usecases import carry_out_saving

    loaded = with_settings(project, agent, "compare", {})
    name = name if name is not None else loaded.baseline_name
    check_baseline_name(name)
    with under_way(loaded, tuple(scenarios or ())) as (session, store, now, progress):
        prepared = prepare_saving(session, trials, RunSettings(now, seed, fresh))
        progress.ask(prepared, yes)
        saved = carry_out_saving(session, prepared, store, name, progress)
    print_report(
        saved,
        as_json,
        lambda: render_baseline(
            saved,
            cost_of(prepared.work.spend, prepared.work.plan.environment),
            project_option(project) + agent_option(agent),
        ),
    )


MethodOption = Annotated[
    Method | None, typer.Option("--method", help="Stop as soon as the trials decide, or run all trials.")
]
Trials = Annotated[
    int | None,
    typer.Option("--trials", min=1, max=10_000, help="Trials of each scenario with --method fixed."),
]
Preview = Annotated[
    bool,
    typer.Option("--preview", help="Show which drops the comparison will notice; run nothing."),
]
Update = Annotated[
    bool, typer.Option("--update", help="After PASS, add a new series of trials to the baseline.")
]
UpdateTrials = Annotated[
    int | None,
    typer.Option(
        "--update-trials",
        min=1,
        max=10_000,
        help="With --update: new trials of each scenario. Default: as many as the check of the baseline asks for.",
    ),
]
Behaviour = Annotated[
    bool,
    typer.Option("--behaviour", help="Also compare what the runs do. This changes no verdict."),
]


@app.command()
def compare(
    name: Name = None,
    project: ProjectPath = Path(),
    scenarios: Scenarios = None,
    method: MethodOption = None,
    trials: Trials = None,
    test: Annotated[Test | None, typer.Option("--test", help="The test of --method fixed.")] = None,
    correction: Correction = None,
    preview: Preview = False,
    update: Update = False,
    update_trials: UpdateTrials = None,
    behaviour: Behaviour = False,
    seed: Seed = None,
    yes: Yes = False,
    fresh: Fresh = False,
    as_json: Json = False,
    agent: AgentRef = None,
) -> None:
    """Test whether the agent has become worse on any scenario.

    Today's agent is compared with a saved baseline, whose stored trials are reused and judged by today's evaluators.
    FAIL: a pass rate has dropped. PASS: drops by `statistics.delta` or more are ruled out. Exit code 0 for PASS,
    1 for FAIL, 3 for INCONCLUSIVE, 4 if the agent cannot run.

    Example: agentmut baseline compare --method fixed --trials 60
    """
    from agentmut.assessment import RunSettings
    from agentmut.cli.verbs.preview_comparison import print_comparison_preview
    from agentmut.cli.verbs.verdicts import assess_and_print, update_and_print, with_settings
    from agentmut.usecases import comparison, prepare_update

    _check_update(update, update_trials, preview, behaviour)
    options = {"method": method, "trials": trials, "test": test, "correction": correction}
    loaded, only = with_settings(project, agent, "compare", options), tuple(scenarios or ())
    wanted = name if name is not None else loaded.baseline_name
    compared = wanted if behaviour else None
    if preview:
        print_comparison_preview(loaded, wanted, only, as_json)
        return
    if update:
        update_and_print(
            loaded,
            only,
            lambda session, store, now: prepare_update(
                session, store, wanted, RunSettings(now, seed, fresh), update_trials
            ),
            yes=yes,
            as_json=as_json,
            behaviour=compared,
        )
    assess_and_print(
        loaded,
        only,
        lambda session, store, now: comparison(session, store, wanted, RunSettings(now, seed, fresh)),
        yes=yes,
        as_json=as_json,
        behaviour=compared,
    )


def _check_update(update: bool, trials: int | None, preview: bool, behaviour: bool) -> None:
    from agentmut.cli.verbs.verdicts import refuse_behaviour_of_preview

    refuse_behaviour_of_preview(preview, behaviour)
    if update and preview:
        raise UsageError(
            "--preview runs nothing, so that --update has no verdict to wait for. Leave one out."
        )
    if trials is not None and not update:
        raise UsageError("--update-trials is for --update; without it the baseline stays as it is.")
