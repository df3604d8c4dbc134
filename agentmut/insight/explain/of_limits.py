"""Candidates from how much a run does: steps, cost, length of the answer."""

import math
from collections.abc import Iterator
from functools import partial

from agentmut.insight.explain.candidates import Candidate, Contrast, candidate
from agentmut.insight.explain.views import View

ROOM = 1.25
"""How far above the dearest run of the original the limit of the cost is set: prices and lengths vary."""


def of_limits(contrast: Contrast) -> Iterator[Candidate]:
    """`max_steps`, `max_cost`, and limits of the answer's length."""
    if not contrast.original:
        return
    steps = max(len(view.trace.steps) for view in contrast.original)
    if steps:
        says = f"the run takes at most {steps} steps"
        yield candidate("max_steps", steps, says, 0.6, lambda view: len(view.trace.steps) <= steps)
    yield from _cost(contrast)
    yield from _length(contrast)


def _cost(contrast: Contrast) -> Iterator[Candidate]:
    costs = [_usd(view) for view in contrast.original]
    known = [usd for usd in costs if usd is not None]
    if not known or len(known) < len(costs) or not max(known):
        return
    limit = _rounded_up(ROOM * max(known))
    says = f"the run costs at most ${limit:g}"
    yield candidate("max_cost", limit, says, 0.5, partial(_within, limit))


def _usd(view: View) -> float | None:
    """Return the cost of a run in USD; None where the evaluator `max_cost` would not know it."""
    from agentmut.nouns import Action

    calls = [step.usd for step in view.trace.steps if step.action is Action.REASON]
    return view.trace.usd if calls and None not in calls else None


def _within(limit: float, view: View) -> bool:
    usd = _usd(view)
    return usd is not None and usd <= limit


def _rounded_up(value: float, digits: int = 2) -> float:
    """Round up to a number of significant digits.

    >>> _rounded_up(0.0012345)
    0.0013
    """
    power: int = digits - 1 - math.floor(math.log10(value))
    return float(round(math.ceil(value * 10.0**power - 1e-9) / 10.0**power, power))


def _length(contrast: Contrast) -> Iterator[Candidate]:
    lengths = [view.words for view in contrast.original]
    low, high = min(lengths), max(lengths)
    for sign, limit, named, holds in (
        ("<=", high, "at most", lambda view: view.words <= high),
        (">=", low, "at least", lambda view: view.words >= low),
    ):
        expression = f"len(text.split()) {sign} {limit}"
        yield candidate("expression", expression, f"the answer has {named} {limit} words", 0.45, holds)
