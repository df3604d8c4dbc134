"""The trend over a project's stored runs: for the command line and for Python."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from agentmut._base import UsageError, __version__, digest_of
from agentmut.campaign import MOST_READ, Heads, RunPlan, Session, open_session, original_heads, plan_of
from agentmut.nouns import Origins, Result
from agentmut.project import Project, load_project
from agentmut.store import Store, TrialHead
from agentmut.usecases.drift import IN_CONTROL, REFERENCE, Chart, Watch, watch
from agentmut.usecases.notebook import beside_kernel, spent_so_far
from agentmut.usecases.runtime import agent_environment, open_store, stand_in_keys
from agentmut.usecases.stored_reports import CHEAP, Report, shaping, stored_reports
from agentmut.usecases.trend_rows import TrendReport, TrendRow, any_false_alarm, fall_of, row_of


def trend(
    project: Project | str | Path = ".",
    *,
    drop: float | None = None,
    reference: int = REFERENCE,
    in_control: float = IN_CONTROL,
) -> TrendReport:
    """Return scores and pass rates over the stored runs, with drift flagged: `agentmut trend`. No agent is run.

    `drop` is the fall of a pass rate that matters (the project's `statistics.delta` when left out), `reference` the
    number of first trials that later ones are held against, `in_control` the trials from one false alarm to the next.
    Raises `UsageError` where nothing is stored, and for values out of range.
    """
    loaded = project if isinstance(project, Project) else load_project(Path(project))
    chart = Chart(loaded.statistics.delta if drop is None else drop, reference, in_control)
    _check(chart)

    def told() -> TrendReport:
        with stand_in_keys(), agent_environment(loaded), open_store(loaded) as store:
            return _trend(open_session(loaded), store, chart)

    return beside_kernel("agentmut.trend", lambda _: told(), spent_so_far)


def _check(chart: Chart) -> None:
    if not 0.01 <= chart.drop < 1:
        raise UsageError(f"drop: a fall of the pass rate is from 0.01 to below 1, got {chart.drop!r}.")
    if chart.reference < 10:
        raise UsageError(f"reference: give at least 10 trials, got {chart.reference!r}.")
    if not 1 <= chart.in_control <= 1e9:
        raise UsageError(f"in-control: give from 1 to 1e9 trials, got {chart.in_control!r}.")


def _trend(session: Session, store: Store, chart: Chart) -> TrendReport:
    plans = {stored.id: plan for stored in store.runs() if (plan := plan_of(stored))}
    rows: list[TrendRow] = []
    facts: dict[str, Mapping[str, str]] = {}
    notes: list[str] = []
    for entry in stored_reports(session.project.runs):
        if entry.report is None:
            notes.append(f"run {entry.run} was left out: {entry.problem}")
            continue
        if entry.kind == CHEAP:
            notes.append(f"run {entry.run} was left out: it asked a cheap model, not the agent's")
            continue
        if entry.rescored:
            notes.append(f"run {entry.run} was rescored since; the score shown is by its own evaluators")
        facts[entry.run] = dict(_facts(entry.report, plans.get(entry.run)))
        rows.append(row_of(entry.report, rows[-1] if rows else None, facts))
    if not rows:
        raise UsageError("there is no stored run yet. `agentmut run` and `agentmut test` make them.")
    heads, _ = original_heads(session, store, most=MOST_READ)
    watches = tuple(_watches(session, store, heads, chart))
    if any(len(trials) >= MOST_READ for trials in heads.values()):
        notes.append(f"drift is looked for in the last {MOST_READ:,} trials of a scenario")
    return TrendReport(
        agentmut_version=__version__,
        project=session.project.path.name,
        rows=tuple(rows),
        origins=Origins.together(row.origins for row in rows),
        watches=watches,
        false_alarm=any_false_alarm(watches),
        fall=fall_of(rows, facts),
        notes=tuple(notes),
    )


def _facts(report: Report, plan: RunPlan | None) -> Iterator[tuple[str, str]]:
    """Yield what makes runs comparable, by name; nothing of a run that the store does not know."""
    if plan is not None:
        yield "suite", plan.suite_digest
        yield "code", digest_of(shaping(plan.environment))
    if isinstance(report, Result):
        yield "mutants", digest_of(sorted(row.id for row in report.mutants))


def _watches(session: Session, store: Store, heads: Heads, chart: Chart) -> Iterator[Watch]:
    """Yield each scenario's trials on today's config, each counted once, judged by today's evaluators.

    Of a scenario with more than `MOST_READ` trials these are the last ones, so that an old store takes no longer.
    Trials are read one after the other, and none stays in memory.
    """
    for scenario in session.scenarios:
        name = scenario.name
        ordered = [head.id for head in sorted(heads.get(name, ()), key=_launch_order)]
        judged = [
            (trial.run, result.outcome == "pass")
            for trial in store.listing.some(ordered)
            if session.tests.can_judge(name, trial.execution)
            and (result := session.tests.result(name, trial.execution, None)).outcome.is_evidence
        ]
        found = watch(name, [passed for _, passed in judged], chart)
        at = judged[chart.reference + found.alarm_at - 1][0] if found.alarm_at else ""
        yield found.model_copy(update={"since": at})


def _launch_order(trial: TrialHead) -> tuple[str, int]:
    """Return the sort key of a trial's making: its run's id, which begins with the time, then its launch.

    By the time of their end, slow failures would come last.
    """
    return trial.run, trial.repeat
