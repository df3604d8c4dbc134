"""The rules of a comparison that hold given the stored baseline, and what they promise."""

import math
from collections.abc import Iterable
from typing import NamedTuple

from agentmut._base import UsageError
from agentmut.assessment.rules import BaselineCounts, ComparisonRule, FixedComparison, SequentialComparison
from agentmut.campaign import Tables
from agentmut.project import Project
from agentmut.stats import (
    CONFIDENCE,
    Correction,
    KillDesign,
    TwoSampleTest,
    doubt_of,
    level_for,
    lowest_rate,
    table_given,
)
from agentmut.store import BaselineSide, BaselineUsed

POWER = 0.8
"""A baseline is fit where a drop by delta is a FAIL with at least this chance."""


class Family(NamedTuple):
    """The scenarios that are compared together."""

    scenarios: int
    shares: float
    """Parts of alpha: a scenario that fails at its part makes the suite fail too."""

    @classmethod
    def from_project(cls, project: Project, scenarios: int) -> "Family":
        """Return the family of so many scenarios under the project's correction."""
        return cls(scenarios, shares_of(scenarios, project.compare.correction))


def shares_of(scenarios: int, correction: str) -> float:
    """Return how many parts alpha is divided into: one scenario that fails at its part fails the suite."""
    if Correction(correction) is not Correction.BENJAMINI_YEKUTIELI:
        return scenarios
    return scenarios * sum(1 / i for i in range(1, scenarios + 1))


def comparison_rule(
    project: Project, side: BaselineCounts, family: Family, tables: Tables, looks: int = 1
) -> ComparisonRule:
    """Return the rule of one scenario: its false alarms are at most its share of alpha given the baseline `side`.

    `looks` is the number of sizes that the baseline has had. Raises `UsageError` for settings that no comparison can
    have.
    """
    statistics = project.statistics
    lowest = lowest_rate(side.passes, side.trials, doubt_of(family.scenarios, looks))
    if project.compare.method == "fixed":
        if statistics.alpha >= 0.5:
            raise UsageError(
                f"statistics.alpha must be below 0.5 for a comparison, got {statistics.alpha:g}."
            )
        return _fixed(project, side, lowest, family)
    level = level_for(math.ceil(family.shares), statistics.alpha_of_a_look)
    design = KillDesign(level, statistics.beta, statistics.delta, statistics.n_max)
    try:
        table = table_given(side.trials - side.passes, side.trials, design, lowest, tables.get)
    except ValueError as error:
        raise UsageError(f"these settings cannot be compared sequentially: {error}.") from None
    return SequentialComparison(table, level, lowest)


def _fixed(project: Project, side: BaselineCounts, lowest: float, family: Family) -> FixedComparison:
    statistics, settings = project.statistics, project.compare
    errors = statistics.alpha_of_a_look, statistics.beta, statistics.delta
    test = TwoSampleTest(settings.test)
    return FixedComparison(side, settings.trials, *errors, test, lowest, 1 / family.shares)


def side_given(project: Project, rule: ComparisonRule, counts: BaselineCounts) -> BaselineSide:
    """Return the baseline on one scenario with the error rates of the rule, given the baseline."""
    after = counts.passes / counts.trials - project.statistics.delta
    return BaselineSide(
        passes=counts.passes,
        trials=counts.trials,
        lowest=round(rule.lowest, 6),
        false_fail=rule.chance_of_fail(rule.lowest),
        power=rule.chance_of_fail(after) if after >= 0 else None,
    )


def promised(used: BaselineUsed, sides: Iterable[BaselineSide], alpha: float) -> BaselineUsed:
    """Return the baseline with the suite's chance of a false FAIL, given the baseline's trials.

    The scenarios' chances add up (Bonferroni). Corrections that judge scenarios at more than their share promise alpha.
    """
    together = sum(side.false_fail or 0.0 for side in sides)
    return used.model_copy(update={"confidence": CONFIDENCE, "false_fail": min(together, alpha)})


def weakness(project: Project, side: BaselineSide) -> str:
    """Return a warning that a drop by delta would often go unnoticed; an empty text if it would not."""
    if side.power is None or side.power >= POWER:
        return ""
    return (
        f"with {side.trials} baseline trials a drop by {project.statistics.delta:g} is a FAIL in "
        f"{100 * side.power:.0f} % of comparisons. `agentmut baseline save` says how many trials would do"
    )
