"""Plan comparisons of traces while trials are still being run, so that several looks stay one test.

Conditions that are the caller's:

* The sizes are fixed in advance, and a look at n uses the first n traces of the candidate in launch order.
* These trials are a first block that every mutant gets whatever its results: where trials are allocated
  adaptively, who gets another trial depends on failures, failures show in the traces, and the traces
  would no longer be exchangeable with the baseline's.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from agentmut.stats.checks import check_count, check_rate


class Change(StrEnum):
    """What the looks so far say about the behaviour."""

    CHANGED = "changed"
    """Some look was significant at its level."""
    CONTINUE = "continue"
    """None was, and more looks are planned."""
    NOT_SHOWN = "not shown"
    """None was, and none is left. This is no evidence that the behaviour is the same."""


class Looks(NamedTuple):
    """Planned looks: at these numbers of candidate traces, each at level alpha / number of looks."""

    sizes: tuple[int, ...] = (5, 10, 20, 40)
    alpha: float = 0.05
    """Largest chance that any of the looks is significant although nothing changed, by Bonferroni."""

    @property
    def level(self) -> float:
        """Return the level of one look."""
        return self.alpha / len(self.sizes)


DEFAULT_LOOKS = Looks()


class LooksVerdict(NamedTuple):
    """The verdict of all looks so far.

    >>> print(looks_verdict([0.4, 0.008]))
    changed: p = 0.008 <= 0.0125 at look 2 of 4 (10 traces; alpha = 0.05 over all looks)
    """

    change: Change
    p_values: tuple[float, ...]
    """The p-values of the looks taken; for CHANGED, up to the look that decided."""
    plan: Looks

    def __str__(self) -> str:
        taken, level = len(self.p_values), self.plan.level
        if not taken:
            return f"{self.change}: no look taken, the first is at {self.plan.sizes[0]} traces"
        p = self.p_values[-1] if self.change is Change.CHANGED else min(self.p_values)
        sign, at = ("<=", "at look") if self.change is Change.CHANGED else (">", "after look")
        return (
            f"{self.change}: p = {p:.3g} {sign} {level:g} {at} {taken} of {len(self.plan.sizes)} "
            f"({self.plan.sizes[taken - 1]} traces; alpha = {self.plan.alpha:g} over all looks)"
        )


def looks_verdict(p_values: Sequence[float], plan: Looks = DEFAULT_LOOKS) -> LooksVerdict:
    """Return the verdict from the p-values of the first looks, in order; later ones than the deciding are not read.

    Raises `ValueError` for more p-values than looks, a p-value outside [0, 1], or a bad plan.
    """
    check_plan(plan)
    if len(p_values) > len(plan.sizes):
        raise ValueError(f"p_values must be at most {len(plan.sizes)}, one a look, got {len(p_values)}")
    checked = tuple(check_rate("p_values", p, closed=True) for p in p_values)
    for taken, p in enumerate(checked, 1):
        if p <= plan.level:
            return LooksVerdict(Change.CHANGED, checked[:taken], plan)
    left = len(checked) < len(plan.sizes)
    return LooksVerdict(Change.CONTINUE if left else Change.NOT_SHOWN, checked, plan)


def check_plan(plan: Looks) -> Looks:
    """Return the plan; `ValueError` for no sizes, sizes that do not rise from 1, or alpha outside (0, 1)."""
    check_rate("alpha", plan.alpha)
    rising = all(a < b for a, b in zip(plan.sizes, plan.sizes[1:], strict=False))
    if not plan.sizes or not rising:
        raise ValueError(f"sizes must rise and not be empty, got {plan.sizes}")
    for size in plan.sizes:
        check_count("sizes", size, 1)
    return plan
