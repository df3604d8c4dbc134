"""`agentmut resume`: go on with an interrupted run."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from agentmut._base import ExitCode, UsageError
from agentmut.cli.options import AgentRef, Full, Json, Minutes, MostTrials, ProjectPath, RunId, Usd
from agentmut.cli.output import agents_on_stderr, exit_code, project_option
from agentmut.cli.run_output import print_result

if TYPE_CHECKING:
    from agentmut.campaign import Plan, Session
    from agentmut.nouns import Result, SpentBudget
    from agentmut.store import Store, StoredRun

CHEAP = "cheap model"
"""The kind of a run that asks the cheap model of `mutation.proxy`, ahead of the run that the user has asked for."""


def resume(
    run: RunId = None,
    project: ProjectPath = Path(),
    usd: Usd = None,
    trials: MostTrials = None,
    minutes: Minutes = None,
    full: Full = False,
    as_json: Json = False,
    agent: AgentRef = None,
) -> None:
    """Continue an unfinished run.

    Works after Ctrl-C, a kill or a budget that ran out. No finished trial is repeated. Limits that the run was given
    on the command line still hold, unless this command gives others. All other limits, and the concurrency, are those
    that the project file has now. What the run has spent before counts; a limit that is spent already is refused.

    Example: agentmut resume --usd 5
    """
    from agentmut.campaign import stored_plan_text
    from agentmut.project import load_project
    from agentmut.usecases import (
        agent_environment,
        open_store,
        refuse_spent,
        session_in,
        spent_before,
        stored_plan,
    )

    with agents_on_stderr():
        loaded = load_project(project, agent).limited(usd, trials, minutes)
    with agents_on_stderr(), agent_environment(loaded), open_store(loaded) as store:
        stored = choose_run(store.runs(), run)
        refuse_spent(store, stored.id, usd, trials)
        session = session_in(store, loaded, scenarios_of(stored))
        plan = stored_plan(session, stored)
        spent = None if as_json or full else spent_before(store, stored, plan)
        if loaded.limits_given:  # so that the next `resume` keeps to them
            store.set_plan(plan.run_id, stored_plan_text(plan, session.tests.texts))
        result = None if spent else _carried_out(session, plan, store)
    if spent or result is None:
        _say_spent(stored.id, spent, project_option(project))
        raise typer.Exit(int(ExitCode.INCONCLUSIVE))
    print_result(result, as_json, project, full=full)
    raise typer.Exit(int(exit_code(result)))


def _carried_out(session: "Session", plan: "Plan", store: "Store") -> "Result":
    """Go on with a run, with a line of progress."""
    from agentmut.cli.progress import ProgressLine
    from agentmut.usecases import carry_out_campaign

    line = ProgressLine()
    try:
        return carry_out_campaign(session, plan, store, progress=line)
    finally:
        line.close()


def _say_spent(run: str, spent: "SpentBudget | None", where: str) -> None:
    """Say in one sentence that the budget allows no further trial, and which command goes on."""
    from agentmut.report import resume_with_more

    typer.echo(f"Run {run} has spent its budget: {resume_with_more(spent, where)} goes on.")


def choose_run(runs: "list[StoredRun]", wanted: str | None) -> "StoredRun":
    """Return the run that `wanted` begins, or the latest that has not finished."""
    if wanted is not None:
        matching = [stored for stored in runs if stored.id.startswith(wanted)]
        if len(matching) != 1:
            raise UsageError(_not_one(wanted, runs, len(matching)))
        _refuse_other_kinds(matching[0])
        return matching[0]
    unfinished = [stored for stored in runs if stored.status != "finished"]
    if unfinished and unfinished[0] is runs[0] and kind_of(runs[0]) == CHEAP:
        _refuse_other_kinds(runs[0])
    resumable = [stored for stored in unfinished if kind_of(stored) == "run"]
    if not resumable:
        raise UsageError("there is no unfinished run to resume. `agentmut run` starts a new one.")
    return resumable[0]


def _not_one(wanted: str, runs: "list[StoredRun]", matching: int) -> str:
    """Return why an id names no run, or more than one."""
    if not runs:
        return f"there is no run {wanted!r}: the store holds no run. `agentmut run` starts one."
    known = ", ".join(stored.id for stored in runs)
    if not matching:
        return f"no run has an id that begins with {wanted!r}. The store holds {known}."
    return f"{matching} runs have an id that begins with {wanted!r}. Give more of the id. The store holds {known}."


def kind_of(stored: "StoredRun") -> str:
    """Return what a stored run was for: `run` for a campaign."""
    import json

    try:
        return str(json.loads(stored.plan).get("kind", "run"))
    except (ValueError, AttributeError):  # written by another version: resuming it says so
        return "run"


def _refuse_other_kinds(stored: "StoredRun") -> None:
    kind = kind_of(stored)
    if kind == CHEAP:
        raise UsageError(
            f"run {stored.id} asked the cheap model of mutation.proxy. `agentmut run` goes on with its trials."
        )
    if kind != "run":
        verb = {"test": "test", "baseline": "baseline save", "compare": "baseline compare"}.get(kind, kind)
        raise UsageError(
            f"run {stored.id} is one of `agentmut {verb}`: give that command again. Finished trials are reused."
        )


def scenarios_of(stored: "StoredRun") -> tuple[str, ...]:
    """Return the names of the scenarios in the plan of a stored run."""
    from agentmut.campaign import Plan

    return Plan.model_validate_json(stored.plan).scenarios
