"""The expected cost of a run in which a cheap model decides the mutants first (`mutation.proxy`)."""

import math
from collections.abc import Callable, Sequence

from agentmut.campaign import LEAST_PAIRED
from agentmut.project import ProxySettings
from agentmut.usecases.plan_figures import Amount, CheapPlan, PlannedMutant, Unit

Total = Callable[[Sequence[PlannedMutant], Sequence[PlannedMutant], Unit], Amount]
"""Returns the cost of all rounds for mutants and controls, by the price of a trial of the original."""


def cheap_plan(
    proxy: ProxySettings,
    mutants: Sequence[PlannedMutant],
    controls: Sequence[PlannedMutant],
    unit: Unit,
    usd: float | None,
    total: Total,
) -> CheapPlan:
    """Return the cost of both runs. `usd` is the price of a trial with the cheap model; None where it is not known."""
    counted = sum(each.degrades for each in mutants)
    drawn = min(counted, max(LEAST_PAIRED, math.ceil(proxy.part * counted)))
    asked, beside = (
        [each._replace(usd=usd) for each in group if not each.of_model] for group in (mutants, controls)
    )
    return CheapPlan(
        model=proxy.model,
        cheap=total(asked, beside, unit._replace(usd=usd)),
        own=between(total((), controls, unit), total(mutants, controls, unit), drawn / max(1, counted)),
        drawn=drawn,
        of=counted,
    )


def between(fixed: Amount, whole: Amount, share: float) -> Amount:
    """Return `fixed` and a share of what `whole` takes more.

    >>> print(between(Amount(trials=10, usd=1, minutes=None), Amount(trials=30, usd=5, minutes=None), 0.25))
    trials=15.0 usd=2.0 minutes=None
    """

    def part(least: float | None, most: float | None) -> float | None:
        return None if least is None or most is None else least + share * (most - least)

    trials = fixed.trials + share * (whole.trials - fixed.trials)
    return Amount(trials=trials, usd=part(fixed.usd, whole.usd), minutes=part(fixed.minutes, whole.minutes))
