"""Trajectories of sub-agents in an ATIF trajectory: their steps stand behind the call that started them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from agentmut.nouns import Action, AgentTrace, Step

TraceOf = Callable[[Mapping[str, Any]], AgentTrace]


def with_subagents(trace: AgentTrace, run: Mapping[str, Any], trace_of: TraceOf) -> AgentTrace:
    """Return the trace with the steps of the sub-agents that `run` embeds, each in the node of its agent's name.

    A call leads to its sub-agent by the reference in the call's result. Sub-agents that no call refers to come last,
    before the answer. The answer of a sub-agent is no answer to the user.
    """
    embedded = [sub for sub in run.get("subagent_trajectories") or () if isinstance(sub, Mapping)]
    if not embedded:
        return trace
    by_call = dict(_referred(run, embedded))
    started = {id(sub) for sub in by_call.values()}
    others = [sub for sub in embedded if id(sub) not in started]
    steps: list[Step] = []
    for step in trace.steps:
        if step.action is Action.RESPOND and others:
            steps += [sub_step for sub in others for sub_step in _steps(sub, step.turn, trace_of)]
            others = []
        steps.append(step)
        if step.call_id in by_call:
            steps += _steps(by_call[step.call_id], step.turn, trace_of)
    steps += [sub_step for sub in others for sub_step in _steps(sub, 0, trace_of)]
    return trace.model_copy(update={"steps": tuple(steps)})


def _referred(
    run: Mapping[str, Any], embedded: list[Mapping[str, Any]]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the id of each call with the sub-agent that its result refers to."""
    by_id = {
        str(sub[key]): sub for key in ("session_id", "trajectory_id") for sub in embedded if sub.get(key)
    }
    for step in run["steps"]:
        for result in (step.get("observation") or {}).get("results") or ():
            for reference in result.get("subagent_trajectory_ref") or ():
                name = reference.get("trajectory_id") or reference.get("session_id")
                if str(name) in by_id and result.get("source_call_id"):
                    yield str(result["source_call_id"]), by_id[str(name)]


def _steps(sub: Mapping[str, Any], turn: int, trace_of: TraceOf) -> Iterator[Step]:
    name = str((sub.get("agent") or {}).get("name") or "subagent")
    for step in with_subagents(trace_of(sub), sub, trace_of).steps:
        if step.action is not Action.RESPOND:
            yield step.model_copy(update={"turn": turn, "node": step.node or name})
