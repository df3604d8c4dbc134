"""`agentmut test`: verdicts of the suite on the agent itself."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from agentmut.cli import completing
from agentmut.cli.options import AgentRef, Correction, Fresh, Json, ProjectPath, Scenarios, Seed, Yes

Method = Literal["sequential", "fixed"]
BehaviourOf = Annotated[
    str | None,
    typer.Option(
        "--behaviour",
        help="Compare the runs' behaviour with this stored baseline. This changes no verdict.",
        autocompletion=completing.baselines,
    ),
]


MethodOption = Annotated[
    Method | None, typer.Option("--method", help="Stop as soon as the trials decide, or run all trials.")
]
Trials = Annotated[
    int | None, typer.Option("--trials", min=1, max=10_000, help="At most this many trials of each scenario.")
]
Margin = Annotated[
    float | None,
    typer.Option("--margin", help="Distance below the threshold that the test must notice (sequential)."),
]
WarmStart = Annotated[
    bool | None,
    typer.Option(
        "--warm-start/--cold-start",
        help="Let earlier tests choose which rates to look for first (sequential). Error rates do not change.",
    ),
]
Preview = Annotated[
    bool, typer.Option("--preview", help="Show chances, trials and cost of the verdicts; run nothing.")
]
Rate = Annotated[
    list[float] | None,
    typer.Option("--rate", help="With --preview: a pass rate to assume."),
]


def test(
    project: ProjectPath = Path(),
    scenarios: Scenarios = None,
    method: MethodOption = None,
    trials: Trials = None,
    margin: Margin = None,
    warm_start: WarmStart = None,
    correction: Correction = None,
    behaviour: BehaviourOf = None,
    seed: Seed = None,
    preview: Preview = False,
    rate: Rate = None,
    yes: Yes = False,
    fresh: Fresh = False,
    as_json: Json = False,
    agent: AgentRef = None,
) -> None:
    """Test whether the agent meets the threshold of every scenario.

    Gives PASS, FAIL or INCONCLUSIVE for each scenario and for the suite, with the evidence. Reuses finished trials.
    Exit code 0 for PASS, 1 for FAIL, 3 for INCONCLUSIVE, 4 if the agent cannot run: every trial raised the same
    error before it asked a model.

    Example: agentmut test --method fixed --trials 50
    """
    from agentmut._base import UsageError
    from agentmut.assessment import RunSettings, prepare_test
    from agentmut.cli.verbs.verdicts import assess_and_print, refuse_behaviour_of_preview, with_settings
    from agentmut.usecases import earlier_trials

    options = {"method": method, "trials": trials, "margin": margin, "correction": correction}
    options["warm_start"] = warm_start
    loaded = with_settings(project, agent, "test", options)
    if rate and not preview:
        raise UsageError(
            "--rate is an assumption for --preview, and a test takes the agent's own rate. Leave --rate out."
        )
    refuse_behaviour_of_preview(preview, behaviour)
    if preview:
        from agentmut.cli.verbs.preview import print_preview

        print_preview(loaded, tuple(scenarios or ()), tuple(rate or ()), as_json)
        return
    assess_and_print(
        loaded,
        tuple(scenarios or ()),
        lambda session, store, now: prepare_test(
            session, RunSettings(now, seed, fresh), earlier_trials(session, store, fresh=fresh, seed=seed)
        ),
        yes=yes,
        as_json=as_json,
        behaviour=behaviour,
    )
