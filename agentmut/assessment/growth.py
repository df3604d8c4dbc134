"""How a baseline grows: further trials of today's agent after a comparison that passes."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from agentmut.assessment.comparability import RecountedBaseline, first_key, saved_scenarios
from agentmut.assessment.comparison_rules import Family
from agentmut.assessment.fitness import growth_target
from agentmut.assessment.sizes import further_looks
from agentmut.assessment.state import AssessedScenario, Assessment
from agentmut.campaign import Session, Tables, first_repeats
from agentmut.store import SavedBaseline, SavedScenario, SavedSeries


class Growth(NamedTuple):
    """The trials that an update of a baseline will run."""

    trials: Mapping[str, int]
    """Scenario -> trials of the new series; scenarios that need none are left out."""
    replaced: frozenset[str]
    """Scenarios whose agent or evaluators are not those of the baseline: a new series stands alone."""

    @property
    def most_trials(self) -> int:
        """Return the number of trials that are evidence, over all scenarios."""
        return sum(self.trials.values())


def plan_growth(
    session: Session,
    saved: SavedBaseline,
    counted: Mapping[str, RecountedBaseline],
    older: tuple[str, ...],
    tables: Tables,
    seed: int,
    asked: int | None,
) -> Growth:
    """Return the trials that an update adds to each scenario: `asked`, or what the check of the baseline misses.

    By default a baseline grows to the size at which a drop by delta is noticed, to at most twice its size at once. A
    series that replaces the earlier ones is of that size itself. `older` are scenarios whose evaluators may have been
    chosen by the baseline's trials.
    """
    replaced = frozenset(
        name
        for name in counted
        if name in older or first_key(session, name, seed) != saved.scenarios[name].first_key
    )
    family = Family.from_project(session.project, len(counted))
    wanted = {
        name: _missing(session, found, family, tables, replaces=name in replaced) if asked is None else asked
        for name, found in counted.items()
    }
    return Growth({name: trials for name, trials in wanted.items() if trials}, replaced)


def _missing(
    session: Session, found: RecountedBaseline, family: Family, tables: Tables, *, replaces: bool
) -> int:
    """Return how many trials are missing; 0 where no size would do, since trials would be spent for nothing."""
    looks = 1 if replaces else found.looks
    target = growth_target(session.project, found.counts, family, tables, looks)
    if target is None:
        return 0
    return target if replaces else target - found.counts.trials


def grown(
    session: Session,
    saved: SavedBaseline,
    counted: Mapping[str, RecountedBaseline],
    growth: Growth,
    work: Assessment,
) -> dict[str, SavedScenario]:
    """Return the scenarios that a finished series changes. A series without evidence changes nothing."""
    alone = saved_scenarios(session, work)
    changed = {}
    for name, lane in work.lanes.items():
        series, found = _series(work, lane), counted[name]
        if not lane.passed:
            continue
        if name in growth.replaced:
            changed[name] = alone[name].model_copy(update={"series": (series,)})
            continue
        own, looks = _own_series(session, saved, name), _looks(found, growth.trials[name])
        update = _extended(found, saved.scenarios[name], own, series) | {"looks": looks}
        changed[name] = alone[name].model_copy(update=update)
    return changed


def _series(work: Assessment, lane: AssessedScenario) -> SavedSeries:
    return SavedSeries(
        run_id=work.plan.run_id,
        saved=work.plan.started,
        first=lane.first,
        launched=lane.launched,
        passes=sum(lane.passed),
        trials=len(lane.passed),
    )


def _extended(
    found: RecountedBaseline, kept: SavedScenario, own: SavedSeries, series: SavedSeries
) -> dict[str, Any]:
    """Return the baseline with further trials; earlier trials count as today's evaluators judge them."""
    return {
        "first": kept.first,
        "launched": kept.launched + series.launched,
        "passes": found.counts.passes + series.passes,
        "trials": found.counts.trials + series.trials,
        "series": (*(kept.series or (own,)), series),
    }


def _looks(found: RecountedBaseline, trials: int) -> int:
    """Return the looks by the planned trials, since trials that are no evidence must not choose a size."""
    return found.looks + further_looks(found.counts.trials, found.counts.trials + trials)


def _own_series(session: Session, saved: SavedBaseline, name: str) -> SavedSeries:
    """Return the trials of the baseline's own run, as the first of several series."""
    kept = saved.scenarios[name]
    return SavedSeries(
        run_id=saved.run_id,
        saved=saved.saved,
        first=first_repeats(session.ages).get(name, 0) if kept.first is None else kept.first,
        launched=kept.launched,
        passes=kept.passes,
        trials=kept.trials,
    )
