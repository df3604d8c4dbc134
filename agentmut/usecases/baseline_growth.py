"""Comparisons with a saved baseline, and the growth of the baseline after a comparison that passes."""

from collections.abc import Mapping
from typing import NamedTuple

from agentmut._base import UsageError
from agentmut.assessment import (
    Assessment,
    Growth,
    PreparedAssessment,
    RecountedBaseline,
    RunSettings,
    comparable,
    comparison_notes,
    count_baseline,
    first_key,
    grown,
    older_than_evaluators,
    plan_growth,
    prepare_comparison,
    prepare_series,
)
from agentmut.campaign import Session, Spend, Stop, Tables, agent_of, cost_of
from agentmut.project import BudgetSettings
from agentmut.stats import Verdict
from agentmut.store import (
    BaselineUpdate,
    BaselineUsed,
    SavedBaseline,
    SavedScenario,
    SeriesAdded,
    Store,
    VerdictReport,
    read_baseline,
    write_baseline,
)
from agentmut.usecases.assessing import (
    Progress,
    baselines_folder,
    carry_out_assessment,
    keep_verdicts,
    raise_problem,
    run_prepared,
    unseen,
)
from agentmut.usecases.baseline_check import checked_baseline

MOST = 10_000
"""Trials of a scenario in one series."""


class KeptBaseline(NamedTuple):
    """A saved baseline in its present state."""

    saved: SavedBaseline
    counted: Mapping[str, RecountedBaseline]
    older: tuple[str, ...]
    """Scenarios whose evaluators may have been chosen by the baseline's trials."""
    seed: int


class PreparedUpdate(NamedTuple):
    """A comparison before its first trial, and the growth of the baseline if it passes."""

    prepared: PreparedAssessment
    kept: KeptBaseline
    growth: Growth
    asked: RunSettings


def comparison(session: Session, store: Store, name: str, run_settings: RunSettings) -> PreparedAssessment:
    """Return a comparison with the baseline `name`, before its first trial. Raises `UsageError`."""
    return _compared(session, _baseline_now(session, store, name, run_settings), run_settings)


def prepare_update(
    session: Session, store: Store, name: str, run_settings: RunSettings, trials: int | None = None
) -> PreparedUpdate:
    """Return a comparison, and the trials that PASS adds to the baseline: `trials` of a scenario, or those missing.

    Raises `UsageError`.
    """
    if trials is not None and not 1 <= trials <= MOST:
        raise UsageError(f"the trials of an update are from 1 to {MOST}, got {trials}.")
    kept = _baseline_now(session, store, name, run_settings)
    tables = Tables.from_project(session.project)
    growth = plan_growth(session, kept.saved, kept.counted, kept.older, tables, kept.seed, trials)
    return PreparedUpdate(_compared(session, kept, run_settings), kept, growth, run_settings)


def _baseline_now(session: Session, store: Store, name: str, run_settings: RunSettings) -> KeptBaseline:
    saved = read_baseline(name, baselines_folder(session.project))
    seed = session.project.statistics.seed if run_settings.seed is None else run_settings.seed
    counted = count_baseline(session, store, saved, seed)
    return KeptBaseline(saved, counted, older_than_evaluators(session, saved, counted), seed)


def _compared(session: Session, kept: KeptBaseline, run_settings: RunSettings) -> PreparedAssessment:
    saved, counted, older, seed = kept
    used = BaselineUsed(
        name=saved.name,
        saved=saved.saved,
        run_id=saved.run_id,
        agent=saved.agent,
        same_agent=all(first_key(session, n, seed) == saved.scenarios[n].first_key for n in counted),
        not_compared={n: said for n, said in comparable(session, saved).items() if said},
    )
    tables = Tables.from_project(session.project)
    notes = tuple(comparison_notes(session, saved, used, counted, run_settings.now))
    return prepare_comparison(session, used, counted, tables, notes, run_settings, older)


def carry_out_update(
    session: Session, updating: PreparedUpdate, store: Store, progress: Progress = unseen
) -> VerdictReport:
    """Compare; after PASS, run the new series and add it to the baseline. The report says how it went.

    A series that a budget or Ctrl-C cuts short is not added. Raises what `carry_out_assessment` raises.
    """
    report = carry_out_assessment(session, updating.prepared, store, progress)
    if report.verdict is not Verdict.PASS or report.status != Stop.FINISHED:
        found, status = _nothing(f"the comparison is {report.verdict}"), report.status
    elif not updating.growth.trials:
        found, status = _nothing("the check of the baseline asks for no further trials"), report.status
    else:
        found, status = _grow(session, updating, store, progress)
    report = report.model_copy(update={"update": found, "status": status})
    keep_verdicts(report, store, session.project.runs)
    return report


def _nothing(why: str) -> BaselineUpdate:
    return BaselineUpdate(said=f"nothing was added to the baseline: {why}")


def _grow(
    session: Session, updating: PreparedUpdate, store: Store, progress: Progress
) -> tuple[BaselineUpdate, str]:
    """Grow the baseline by new trials, since the comparison's trials are selected: it passed and stopped at will."""
    compared, wanted = updating.prepared.work, updating.growth.trials
    first = {name: compared.lanes[name].first + compared.lanes[name].launched for name in wanted}
    left = left_of(session.project.budget, compared.spend)
    asked = updating.asked._replace(now=updating.asked.now + compared.spend.seconds)
    work, stop = run_prepared(session, prepare_series(session, wanted, first, asked, left), store, progress)
    raise_problem(work)
    run, cost = work.plan.run_id, cost_of(work.spend, session.environment)
    if stop is not Stop.FINISHED:
        done = sum(len(lane.passed) for lane in work.lanes.values())
        cut = _nothing(f"{stop} after {done} of {updating.growth.most_trials} trials of the new series")
        return cut.model_copy(update={"run_id": run, "cost": cost}), stop.value
    scenarios = _add(session, updating, store, work)
    added = tuple(_row(name, each, work, updating.growth) for name, each in scenarios.items())
    said = "a new series of today's agent was added" if added else "no trial of the new series was evidence"
    return BaselineUpdate(said=said, run_id=run, scenarios=added, cost=cost), Stop.FINISHED.value


def left_of(budget: BudgetSettings, spent: Spend) -> BudgetSettings:
    """Return the rest of a budget after a first run; a budget that is used up becomes 0, which stops the next run."""
    used = {
        "usd": spent.usd + spent.beside_agent_usd,
        "trials": spent.trials,
        "minutes": spent.seconds / 60,
    }
    limits = {name: getattr(budget, name) for name in used}
    left = {name: max(0, limit - used[name]) for name, limit in limits.items() if limit is not None}
    return budget.model_copy(update=left)


def _add(
    session: Session, updating: PreparedUpdate, store: Store, work: Assessment
) -> dict[str, SavedScenario]:
    saved = updating.kept.saved
    changed = grown(session, saved, updating.kept.counted, updating.growth, work)
    baseline = saved.model_copy(
        update={"scenarios": {**saved.scenarios, **changed}, "agent": agent_of(session)}
    )
    write_baseline(checked_baseline(session, store, baseline), baselines_folder(session.project))
    return changed


def _row(name: str, scenario: SavedScenario, work: Assessment, growth: Growth) -> SeriesAdded:
    lane = work.lanes[name]
    return SeriesAdded(
        scenario=name,
        passes=sum(lane.passed),
        trials=len(lane.passed),
        replaces=name in growth.replaced,
        total_passes=scenario.passes,
        total_trials=scenario.trials,
        looks=scenario.looks,
    )
