"""Candidates from the tools called: which, in what order, how often."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import permutations

from pydantic import JsonValue

from agentmut.insight.explain.candidates import Candidate, Contrast, Holds, candidate
from agentmut.insight.explain.views import View

MOST_TOOLS = 16
"""Orders of more tools than this are not looked at: their pairs grow with the square."""


def of_tools(contrast: Contrast) -> Iterator[Candidate]:
    """Presence, absence, count and order of calls."""
    tools = sorted({tool for view in contrast.both for tool in view.tools})
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
