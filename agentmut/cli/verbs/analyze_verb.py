"""`agentmut analyze`: figures on imported runs, without their agent."""

import time
from pathlib import Path
from typing import Annotated, Literal

import typer

from agentmut.cli.options import Full, Json, ProjectPath
from agentmut.cli.output import agents_on_stderr, print_report, wants_color

Outcome = Literal["pass", "fail", "unjudged", "no_evidence"]


Scenario = Annotated[list[str] | None, typer.Option("--scenario", help="Only runs of this scenario.")]
Version = Annotated[
    list[str] | None,
    typer.Option("--version", help="Only runs of this version of the agent, or of versions that begin so."),
]
OutcomeOption = Annotated[
    Outcome | None, typer.Option("--outcome", help="Only runs with this recorded outcome.")
]
Since = Annotated[
    str | None,
    typer.Option("--since", help="Only runs that started then or later: 2026-05-01, 7d or 12h."),
]
Sample = Annotated[int | None, typer.Option("--sample", min=1, help="At most so many runs, drawn at random.")]
By = Annotated[
    str, typer.Option("--by", help="Group the pass rate by a field of the records, or by `version`.")
]
Contract = Annotated[
    list[str] | None, typer.Option("--contract", help="Judge every run by this contract, too.")
]
Relation = Annotated[list[str] | None, typer.Option("--relation", help="Only this relation or family.")]
WriteScenarios = Annotated[
    Path | None,
    typer.Option(
        "--write-scenarios",
        help="Write what users said as scenarios into this new file, without secrets.",
    ),
]


def analyze(
    scenario: Scenario = None,
    version: Version = None,
    outcome: OutcomeOption = None,
    since: Since = None,
    until: Annotated[str | None, typer.Option("--until", help="Only runs that started before.")] = None,
    sample: Sample = None,
    seed: Annotated[
        int, typer.Option("--seed", help="Seed of the sample: the same seed draws the same runs.")
    ] = 0,
    by: By = "",
    contract: Contract = None,
    relation: Relation = None,
    write_scenarios: WriteScenarios = None,
    project: ProjectPath = Path(),
    full: Full = False,
    as_json: Json = False,
) -> None:
    """Analyze imported runs alone: no agent and no model is asked, and nothing is spent.

    Shows pass rates with intervals that allow for runs of one scenario being alike, reliability, coverage, contracts,
    the relations that judge a run alone, and what the runs cost. The project's evaluators judge the scenarios that it
    has; evaluators that ask a model are left out. No project file is needed.

    Example: agentmut analyze --by version --since 30d
    """
    from agentmut._base import moment
    from agentmut.report import render_analysis
    from agentmut.store import ImportQuery
    from agentmut.usecases import AnalysisWish
    from agentmut.usecases import analyze as analyzed

    now = time.time()
    query = ImportQuery(
        scenarios=tuple(scenario or ()),
        versions=tuple(version or ()),
        outcomes=(outcome,) if outcome else (),
        since=None if since is None else moment(since, now, "--since"),
        until=None if until is None else moment(until, now, "--until"),
        sample=sample,
        seed=seed,
    )
    contracts = tuple(str(Path(path).absolute()) for path in contract or ())
    with agents_on_stderr():
        file = str(write_scenarios.absolute()) if write_scenarios else ""
        analysis = analyzed(project, AnalysisWish(query, by, contracts, tuple(relation or ()), file))
    print_report(analysis, as_json, lambda: render_analysis(analysis, wants_color(), full=full), full=full)
