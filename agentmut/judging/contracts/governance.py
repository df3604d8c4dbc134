"""Find where a run first exceeds each limit of a contract."""

from collections.abc import Iterator, Sequence
from itertools import accumulate

from agentmut.judging.contracts.contract import Governance
from agentmut.judging.evaluators.trajectory import unknown_cost
from agentmut.nouns import AgentTrace

Stretch = tuple[int, int, str]
"""First and last violated step, counted from 1, and what is wrong."""


def exceeded(limits: Governance, trace: AgentTrace) -> Iterator[tuple[str, Stretch]]:
    """Yield each exceeded limit with its violated steps; for tools, every refused call."""
    steps, last = trace.steps, len(trace.steps)
    if limits.max_usd is not None:
        yield from _money(limits.max_usd, trace)
    if limits.max_tokens is not None:
        tokens = list(accumulate(step.usage.total for step in steps))
        yield from _passed("max_tokens", tokens, limits.max_tokens, f"{limits.max_tokens} tokens")
    if limits.max_steps is not None and last > limits.max_steps:
        yield "max_steps", (limits.max_steps + 1, last, f"{last} steps, at most {limits.max_steps} allowed")
    if limits.max_seconds is not None:
        ends = list(accumulate((step.started + step.seconds for step in steps), max))
        ends[-1:] = [max([trace.seconds, *ends[-1:]])]  # what came after the last step counts as well
        yield from _passed("max_seconds", ends, limits.max_seconds, f"{limits.max_seconds:g} s")
    for number, step in enumerate(steps, 1):
        if step.tool is None:
            continue
        if limits.tools_allowed is not None and step.tool not in limits.tools_allowed:
            allowed = ", ".join(limits.tools_allowed) or "none"
            yield "tools_allowed", (number, number, f"called {step.tool!r}; allowed: {allowed}")
        if step.tool in limits.tools_forbidden:
            yield "tools_forbidden", (number, number, f"called {step.tool!r}, which is forbidden")


def _money(limit: float, trace: AgentTrace) -> Iterator[tuple[str, Stretch]]:
    if unknown := unknown_cost(trace):
        yield "max_usd", (1, len(trace.steps), unknown)
        return
    spent = list(accumulate(step.usd or 0.0 for step in trace.steps))
    yield from _passed("max_usd", spent, limit, f"${limit:g}")


def _passed(name: str, reached: Sequence[float], limit: float, shown: str) -> Iterator[tuple[str, Stretch]]:
    first = next((number for number, value in enumerate(reached, 1) if value > limit), None)
    if first is not None:
        yield name, (first, len(reached), f"{reached[first - 1]:g} by then, at most {shown} allowed")
