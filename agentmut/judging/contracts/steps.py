"""The values that describe a run after each of its steps."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from agentmut.judging.evaluators.expression import namespace
from agentmut.judging.evaluators.json_values import structured
from agentmut.nouns import Action, AgentTrace, Scenario, Usage

Values = dict[str, Any]
Fault = Callable[[Values], str]
"""Returns what is wrong after a step, given the values then; empty if nothing is."""
Stretch = tuple[int, int, str]
"""First and last violated step, counted from 1, and what is wrong at first."""


def step_values(scenario: Scenario, trace: AgentTrace) -> Iterator[Values]:
    """Yield, after each step, the values that an invariant may name: those of an expression, `step` and `turn`.

    `step` is a mapping of number (from 1), action, tool, arguments, output, error, model, node, tokens, usd,
    seconds.
    """
    return _after_each(namespace(scenario, trace), trace)


def _after_each(end: Values, trace: AgentTrace) -> Iterator[Values]:
    calls = answers = 0
    used, usd, seconds = Usage(), 0.0, 0.0
    spent: float | None = usd
    nodes: list[str] = []
    shown: Values = _answered(trace, 0)
    for number, step in enumerate(trace.steps, 1):
        calls += step.action is Action.CALL_TOOL
        if step.action is Action.RESPOND:
            answers += 1
            shown = _answered(trace, answers)
        used += step.usage
        if step.action is Action.REASON and spent is not None and not step.error:
            spent = None if step.usd is None else spent + step.usd
        seconds = max(seconds, step.started + step.seconds)
        nodes = list(dict.fromkeys([*nodes, step.node] if step.node else nodes))
        so_far = {
            "tools": end["tools"][:calls],
            "calls": end["calls"][:calls],
            "nodes": nodes,
            "steps": number,
        }
        cost = {"tokens": used.total, "usd": spent, "seconds": seconds}
        yield {
            **end,
            **shown,
            **so_far,
            **cost,
            "turn": step.turn,
            "step": {"number": number, **_step_values(step)},
        }


def _answered(trace: AgentTrace, answers: int) -> Values:
    """Return the values that describe the answers, after the first `answers` of them."""
    outputs = trace.outputs[:answers]
    then = AgentTrace(outputs=outputs)
    return {"outputs": list(outputs), "output": then.output, "text": then.text, "json": _json(then)}


def _json(trace: AgentTrace) -> Any:
    try:
        return structured(trace)
    except ValueError:
        return None


def _step_values(step: Any) -> Values:
    fields = {"action", "tool", "arguments", "output", "error", "model", "node", "usd", "seconds"}
    shown: Values = step.model_dump(mode="json", include=fields)
    return {**shown, "tokens": step.usage.total}


def over_steps(states: Iterable[Values], faults: Sequence[Fault]) -> tuple[tuple[Stretch, ...], ...]:
    """Return, for each fault, the stretches of consecutive steps, counted from 1, after which it is present."""
    # all states at once would fill n^2 places
    said = [[fault(values) for fault in faults] for values in states]
    return tuple(tuple(_stretches([row[i] for row in said])) for i in range(len(faults)))


def _stretches(names: Sequence[str]) -> Iterator[Stretch]:
    starts = [i for i, (before, now) in enumerate(pairwise(["", *names])) if now and not before]
    for start in starts:
        end = next((i for i in range(start, len(names)) if not names[i]), len(names))
        yield start + 1, end, names[start]
