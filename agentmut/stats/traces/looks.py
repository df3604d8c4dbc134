"""Plan comparisons of traces while trials are still being run, so that several looks stay one test.

Conditions that are the caller's:

* The sizes are fixed in advance, and a look at n uses the first n traces of the candidate in launch order.
* These trials are a first block that every mutant gets whatever its results: where trials are allocated
  adaptively, who gets another trial depends on failures, failures show in the traces, and the traces
  would no longer be exchangeable with the baseline's.
"""

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from agentmut.stats.checks import check_count, check_rate


class Change(StrEnum):
    """What the looks so far say about the behaviour."""

    CHANGED = "changed"
    """Some look was significant at the level that the looks so far may spend."""
    CONTINUE = "continue"
    """None was, and more looks are planned."""
    NOT_SHOWN = "not shown"
    """None was, and none is left. This is no evidence that the behaviour is the same."""


class Looks(NamedTuple):
    """Planned looks: at these numbers of candidate traces, each with alpha / number of looks to spend."""

    sizes: tuple[int, ...] = (5, 10, 20, 40)
    alpha: float = 0.05
    """Chance that any of the looks finds a change although nothing changed."""

    def spent(self, look: int) -> float:
        """Return the part of alpha that the first `look` looks may spend together."""
        return self.alpha * look / len(self.sizes)

    def baseline_sizes(self, runs: int) -> tuple[int, ...]:
        """Return how many of the baseline's runs each look compares with: two parts at the first look, then one more.

        >>> Looks().baseline_sizes(100)
        (40, 60, 80, 100)
        """
        looks = len(self.sizes)
        return tuple(math.ceil(runs * (look + 1) / (looks + 1)) for look in range(1, looks + 1))


DEFAULT_LOOKS = Looks()


class LooksVerdict(NamedTuple):
    """The verdict of all looks so far.

    >>> print(looks_verdict([0.4, 0.018]))
    changed: p = 0.018 <= 0.025 at look 2 of 4 (10 traces; alpha = 0.05 over all looks)
    """

    change: Change
    p_values: tuple[float, ...]
    """Valid over all looks so far, one a look taken; for CHANGED, up to the look that decided."""
    plan: Looks

    def __str__(self) -> str:
        taken, level = len(self.p_values), self.plan.spent(len(self.p_values))
        if not taken:
            return f"{self.change}: no look taken, the first is at {self.plan.sizes[0]} traces"
        p = self.p_values[-1]
        sign, at = ("<=", "at look") if self.change is Change.CHANGED else (">", "after look")
        return (
            f"{self.change}: p = {p:.3g} {sign} {level:g} {at} {taken} of {len(self.plan.sizes)} "
            f"({self.plan.sizes[taken - 1]} traces; alpha = {self.plan.alpha:g} over all looks)"
        )


def looks_verdict(p_values: Sequence[float], plan: Looks = DEFAULT_LOOKS) -> LooksVerdict:
    """Return the verdict from the p-values of the first looks, in order; later ones than the deciding are not read.

    Each p-value is valid over the looks so far, as `compare_at_looks` gives it, and is held against what these may
    spend.

    Raises `ValueError` for more p-values than looks, a p-value outside [0, 1], or a bad plan.
    """
    check_plan(plan)
    if len(p_values) > len(plan.sizes):
        raise ValueError(f"p_values must be at most {len(plan.sizes)}, one a look, got {len(p_values)}")
    checked = tuple(check_rate("p_values", p, closed=True) for p in p_values)
    for taken, p in enumerate(checked, 1):
        if p <= plan.spent(taken):
            return LooksVerdict(Change.CHANGED, checked[:taken], plan)
    goes_on = len(checked) < len(plan.sizes)
    return LooksVerdict(Change.CONTINUE if goes_on else Change.NOT_SHOWN, checked, plan)


def check_plan(plan: Looks) -> Looks:
    """Return the plan; `ValueError` for no sizes, sizes that do not rise from 1, or alpha outside (0, 1)."""
    check_rate("alpha", plan.alpha)
    rising = all(a < b for a, b in zip(plan.sizes, plan.sizes[1:], strict=False))
    if not plan.sizes or not rising:
        raise ValueError(f"sizes must rise and not be empty, got {plan.sizes}")
    for size in plan.sizes:
        check_count("sizes", size, 1)
    return plan
