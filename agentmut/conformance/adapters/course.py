"""The course of a run: what was asked of models, which tools were called, which agents ran in which order.

That an adapter says it changed the flow is no proof that the run went otherwise.
"""

from collections import Counter
from collections.abc import Mapping

from agentmut.conformance.adapters.runs import Observed
from agentmut.nouns import Action, Exchange


def course_of(run: Observed) -> Mapping[str, object]:
    """By what it shows in: requests, calls of tools, agents, the way from one to the next, how the run ended."""
    trace = run.seen.trace if run.seen else None
    return {
        "requests": Counter(map(_asked, run.exchanges)),
        "calls": Counter(
            (step.node, step.tool, step.error is None)
            for step in run.recorder.steps
            if step.action is Action.CALL_TOOL
        ),
        "nodes": frozenset(run.recorder.nodes),
        "edges": frozenset(trace.edges if trace else run.recorder.edges),
        "ending": run.execution.ending,
    }


def _asked(exchange: Exchange) -> tuple[object, ...]:
    """Without ids, which may be others in each run."""
    request = exchange.request
    said = tuple((one.role, one.text, tuple(c.name for c in one.tool_calls)) for one in request.messages)
    return exchange.node, request.model, said, tuple(tool.name for tool in request.tools)
