"""What `agentmut relations` does: asking, progress, printing, exit codes."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from agentmut._base import ExitCode, UsageError
from agentmut.assessment import Assessment, RunSettings
from agentmut.campaign import open_session
from agentmut.cli.output import agents_on_stderr, print_json, print_page, print_report, wants_color
from agentmut.cli.progress import ProgressLine, clock
from agentmut.cli.verbs.verdicts import ask_to_run
from agentmut.project import Project
from agentmut.relating import Progress, Relating, SourceTrials, Wish, wish, worst_case
from agentmut.report import counted, render_relations, render_survivors, render_wish
from agentmut.stats import Verdict
from agentmut.store import Finding, RelationReport
from agentmut.usecases import (
    RelationRequest,
    agent_environment,
    carry_out_relations,
    why_ask,
    with_survivor_looks,
)

if TYPE_CHECKING:
    from agentmut.campaign import Session
    from agentmut.relating import CampaignWithSurvivors
    from agentmut.store import Store

_CODES: dict[str, ExitCode] = {
    Finding.PASS: ExitCode.OK,
    Finding.FAIL: ExitCode.FAIL,
    Finding.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
    Finding.NOT_APPLICABLE: ExitCode.INCONCLUSIVE,
}
_CHANGED: dict[str, ExitCode] = {
    Verdict.PASS: ExitCode.OK,
    Verdict.FAIL: ExitCode.FAIL,
    Verdict.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
}
_ENDED = {"finished": ExitCode.OK, "budget": ExitCode.INCONCLUSIVE, "interrupted": ExitCode.INTERRUPTED}


def check_and_print(
    project: Project,
    scenarios: tuple[str, ...],
    request: RelationRequest,
    *,
    seed: int | None,
    fresh: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Check relations on the unchanged agent, print the report, and exit with the code that it means."""
    with _under_way(project, scenarios) as (session, store, line):
        wanted = wish(session, request.relations, stored=request.stored)
        if not (yes or request.stored):
            _ask(session, store, wanted)
        report = carry_out_relations(
            session,
            store,
            wanted,
            request,
            RunSettings(time.time(), seed, fresh),
            _shown_on(line),
        )
    print_report(report, as_json, lambda: render_relations(report, wants_color(), full=False))
    raise typer.Exit(int(exit_code(report)))


def check_survivors_and_print(
    project: Project,
    scenarios: tuple[str, ...],
    request: RelationRequest,
    *,
    run: str | None,
    seed: int | None,
    fresh: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Check the survivors of a run and print which ones relations kill; the exit code says whether it finished."""
    from agentmut.relating import campaign_of, check_survivors

    if seed is not None:
        raise UsageError(
            "--seed: --survivors uses the seed of the run whose survivors it checks. Leave --seed out."
        )
    with _under_way(project, scenarios) as (session, store, line):
        wanted = wish(session, request.relations, stored=request.stored)
        campaign = campaign_of(session, store, run, wanted)
        if not (yes or request.stored):
            _ask_about_survivors(session, store, wanted, campaign)
        report = check_survivors(
            session,
            store,
            wanted,
            campaign,
            RunSettings(time.time(), None, fresh),
            stored=request.stored,
            progress=_shown_on(line),
            looked=lambda report, environment: with_survivor_looks(
                report, environment, project.runs, project.statistics.alpha
            ),
        )
    print_report(report, as_json, lambda: render_survivors(report, wants_color()))
    raise typer.Exit(int(_ENDED.get(report.status, ExitCode.BROKEN)))


def print_wish(
    project: Project, scenarios: tuple[str, ...], request: RelationRequest, *, as_json: bool
) -> None:
    """Print which relations fit which scenarios, and the most trials that they can take; nothing is run."""
    with agents_on_stderr(), agent_environment(project):
        session = open_session(project, scenarios)
        wanted = wish(session, request.relations, stored=request.stored)
    most = worst_case(session, wanted)
    if as_json:
        print_json(_preview(wanted, most))
    else:
        print_page(render_wish(wanted, most))


def exit_code(report: RelationReport) -> ExitCode:
    """Return 0 for PASS, 1 for FAIL, 3 otherwise, of the change with `--against`; 130 after an interruption."""
    if report.status == "interrupted":
        return ExitCode.INTERRUPTED
    return _CHANGED[report.changed] if report.changed else _CODES[report.finding]


def describe(work: Assessment | Relating | SourceTrials) -> str:
    """Return progress, trials, money and time in one line."""
    spend = work.spend
    money = "cost unknown" if spend.unpriced else f"${spend.usd:.2f}"
    spent = f"{counted(spend.trials, 'trial')}, {money}, {clock(spend.seconds)}"
    if isinstance(work, Relating):
        done = sum(lane.complete for lane in work.lanes)
        return f"relations {done}/{len(work.lanes)}, {work.pairs} pairs | {spent}"
    if isinstance(work, SourceTrials):
        return f"runs of mutants {len(work.found)}/{len(work.found) + work.in_flight + len(work.wanted)} | {spent}"
    return f"source runs {sum(len(lane.passed) for lane in work.lanes.values())} | {spent}"


@contextmanager
def _under_way(
    project: Project, scenarios: tuple[str, ...]
) -> Iterator[tuple["Session", "Store", ProgressLine]]:
    from agentmut.usecases import opened

    line = ProgressLine()
    with agents_on_stderr(), opened(project, scenarios) as (session, store):
        try:
            yield session, store, line
        finally:
            line.close()


def _shown_on(line: ProgressLine) -> Progress:
    return lambda work: line.show(lambda: describe(work))


def _ask(session: "Session", store: "Store", wanted: Wish) -> None:
    if not wanted.fitting:
        return
    most = worst_case(session, wanted)
    if why := why_ask(session.project.budget, most, store.mean_cost()):
        ask_to_run(
            f"{counted(len(wanted.fitting), 'relation')} on {counted(len(wanted.scenarios), 'scenario')}: about {most} "
            "agent runs at most, reused ones included.",
            why,
        )


def _ask_about_survivors(
    session: "Session", store: "Store", wanted: Wish, campaign: "CampaignWithSurvivors"
) -> None:
    from agentmut.relating import most_runs

    most = most_runs(campaign, session, wanted)
    if why := why_ask(session.project.budget, most, store.mean_cost()):
        survivors = counted(len(campaign.survivors), "survivor")
        ask_to_run(f"{survivors}: about {most} agent runs at most, reused ones included.", why)


def _preview(wanted: Wish, most: int) -> dict[str, Any]:
    rows = [{"relation": f.chosen.label, "scenario": f.scenario.name, "lack": f.lack} for f in wanted.fits]
    return {
        "schema_version": 1,
        "kind": "relations preview",
        "most_trials": most,
        "relations": rows,
        "needs_argument": dict(wanted.needs_argument),
    }
