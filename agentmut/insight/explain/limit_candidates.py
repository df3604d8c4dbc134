"""Candidates from the effort of a run: steps, cost, length of the answer."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import permutations

from pydantic import JsonValue

from agentmut.insight.explain.candidates import Candidate, Contrast, Holds, candidate
from agentmut.insight.explain.views import View

STEPS_ROOM = 1.5
"""How far above the longest run of the original the limit of steps is set: another sensible way may take some more."""
ROOM = 1.25
"""How far above the dearest run of the original the limit of the cost is set: prices and lengths vary."""


def of_limits(contrast: Contrast) -> Iterator[Candidate]:
    """Yield `max_steps`, `max_cost`, and limits of the answer's length."""
    if not contrast.original:
        return
    steps = math.ceil(STEPS_ROOM * max(len(view.trace.steps) for view in contrast.original))
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
    """Return the cost of a run in USD; None if the evaluator `max_cost` could not know it."""
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


MOST_TOOLS = 16
"""Orders of more tools than this are not looked at: their pairs grow with the square."""


def of_tools(contrast: Contrast) -> Iterator[Candidate]:
    """Yield candidates on presence, absence, count and order of calls."""
    tools = sorted({tool for view in contrast.all_views for tool in view.tools})
    for tool in tools:
        yield candidate("tool_called", tool, f"{tool} is called", 1.0, partial(_calls, tool, 1, None))
        yield candidate("tool_not_called", tool, f"{tool} is not called", 0.95, partial(_calls, tool, 0, 0))
        yield from _counts(contrast, tool)
    yield from _orders(contrast, tools[:MOST_TOOLS])


def _calls(tool: str, least: int, most: int | None, view: View) -> bool:
    made = view.counts[tool]
    return least <= made and (most is None or made <= most)


def _counts(contrast: Contrast, tool: str) -> Iterator[Candidate]:
    made = [view.counts[tool] for view in contrast.original]
    if not made:
        return
    least, most, usual = min(made), max(made), Counter(made).most_common(1)[0][0]
    if least > 1:
        yield _count(tool, "at_least", least, 0.8, partial(_calls, tool, least, None))
    if most > 0:
        yield _count(tool, "at_most", most, 0.85, partial(_calls, tool, 0, most))
    if usual > 0:
        yield _count(tool, "exactly", usual, 0.6, partial(_calls, tool, usual, usual))


def _count(tool: str, bound: str, number: int, generality: float, holds: Holds) -> Candidate:
    times = "once" if number == 1 else f"{number} times"
    says = f"{tool} is called {bound.replace('_', ' ')} {times}"
    return candidate("tool_count", {"tool": tool, bound: number}, says, generality, holds)


def _orders(contrast: Contrast, tools: Sequence[str]) -> Iterator[Candidate]:
    for first, second in permutations(tools, 2):
        says = f"{first} is called before {second}"
        yield candidate("tool_order", [first, second], says, 0.75, partial(_before, first, second))
    if not contrast.original:
        return
    usual = Counter(view.tools for view in contrast.original).most_common(1)[0][0]
    if len(usual) > 1:
        says = f"exactly these tools are called in this order: {', '.join(usual)}"
        argument: JsonValue = {"tools": list(usual), "mode": "strict"}
        yield candidate("tool_order", argument, says, 0.4, lambda view: view.tools == usual)


def _before(first: str, second: str, view: View) -> bool:
    tools = view.tools
    return first in tools and second in tools[tools.index(first) + 1 :]
