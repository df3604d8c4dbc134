"""The power of a comparison: the chance of FAIL by the drop and by the size of the baseline."""

from collections.abc import Iterator, Mapping

from agentmut.assessment.comparison_rules import Family, comparison_rule
from agentmut.assessment.fitness import at_size, with_fisher
from agentmut.assessment.rules import BaselineCounts, ComparisonRule
from agentmut.assessment.sizes import further_looks, next_sizes
from agentmut.campaign import Tables
from agentmut.project import Project
from agentmut.store import PowerCell, SavedScenario

DROPS = (0.25, 0.5, 1.0, 1.5)
"""Drops that are shown, as parts of `statistics.delta`."""
LARGER = 2
"""Sizes beyond today's that are shown."""


def with_power(
    project: Project, saved: Mapping[str, SavedScenario], tables: Tables
) -> dict[str, SavedScenario]:
    """Return the scenarios, each with the power of a comparison of all scenarios together.

    Raises `UsageError` for settings that no comparison can have.
    """
    family = Family.from_project(project, max(1, sum(bool(each.trials) for each in saved.values())))
    return {
        name: each.model_copy(update={"power": power_cells(project, each, family, tables)})
        for name, each in saved.items()
    }


def power_cells(
    project: Project, saved: SavedScenario, family: Family, tables: Tables
) -> tuple[PowerCell, ...]:
    """Return the chances of FAIL for the baseline's present size and the next sizes, exact under the project's rule.

    The observed pass rate is taken to be the true one; drops below 0 are left out. Larger sizes pay for the looks that
    they take, and have Fisher's test for Boschloo's, which notices a little less.
    """
    if not saved.trials:
        return ()
    rate = saved.passes / saved.trials
    drops = [round(part * project.statistics.delta, 6) for part in DROPS]
    return tuple(
        PowerCell(trials=size, drop=drop, fail=rule.chance_of_fail(rate - drop))
        for size, rule in _rules(project, saved, family, tables)
        for drop in drops
        if drop <= rate
    )


def _rules(
    project: Project, saved: SavedScenario, family: Family, tables: Tables
) -> Iterator[tuple[int, ComparisonRule]]:
    side, looks = BaselineCounts(saved.passes, saved.trials), saved.looks
    yield side.trials, comparison_rule(project, side, family, tables, looks)
    for size in next_sizes(side.trials, LARGER):
        paid = looks + further_looks(side.trials, size)
        yield size, comparison_rule(with_fisher(project), at_size(side, size), family, tables, paid)
