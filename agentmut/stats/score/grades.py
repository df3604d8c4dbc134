"""Grades: a word for the p-value of a kill, which also says how sure the kill is among all mutants of the run."""

from collections.abc import Sequence
from enum import StrEnum

from agentmut.stats.checks import check_rate

STRONG = 0.01
"""Largest p-value of a strong kill."""
CERTAIN = 0.05
"""The chance that any kill of the run that is called certain is false."""


class Grade(StrEnum):
    """The strength of a kill, by its p-value."""

    CERTAIN = "certain"
    """All certain kills of the run are real, with confidence 0.95."""
    STRONG = "strong"
    """The p-value is at most 0.01."""
    MODERATE = "moderate"
    """The mutant is killed at the rule's own level."""


def grades(p_values: Sequence[float], killed: Sequence[bool]) -> list[Grade | None]:
    """Return the grade of each kill; None for mutants that were not killed.

    `p_values` holds those of all mutants that could have been killed, so that certain holds for all of them.
    """
    certain = hommel(p_values, CERTAIN)
    trios = zip(p_values, killed, certain, strict=True)
    return [_grade(p, is_certain=sure) if kill else None for p, kill, sure in trios]


def _grade(p: float, *, is_certain: bool) -> Grade:
    if is_certain:
        return Grade.CERTAIN
    return Grade.STRONG if p <= STRONG else Grade.MODERATE


def hommel(p_values: Sequence[float], alpha: float) -> list[bool]:
    """Return which hypotheses Hommel's procedure rejects with family-wise error `alpha`, in the order given.

    With i the largest number for which p_(m-i+k) > k alpha/i for all k = 1..i, those with p <= alpha/i are rejected;
    all where there is no such i. It needs what Simes' test needs. Source: G. Hommel, Biometrika 75 (1988) 383-386.
    """
    alpha, rising = check_rate("alpha", alpha), sorted(p_values)
    m = len(rising)
    for i in range(m, 0, -1):
        if all(rising[m - i + k - 1] > k * alpha / i for k in range(1, i + 1)):
            return [p <= alpha / i for p in p_values]
    return [True] * m
