"""Trials as trajectories in the format of Harbor and Terminal-Bench: ATIF, RFC 0001 of harbor, version 1.6.

A model call begins a step of the agent; the tool calls until the next one are its calls, with their results as its
observation. What ATIF has no place for, such as the price of a tool call or the node of a graph, stands in `extra`.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from pydantic import JsonValue

from agentmut._base import __version__
from agentmut.nouns import (
    Action,
    AgentConfig,
    Step,
    answers_of_steps,
    config_beyond,
    imported_beyond,
    step_beyond,
    trace_beyond,
)
from agentmut.report.traces.exported import digest_of, text_of
from agentmut.trace_formats import carried_steps
from agentmut.usecases import ExportedTrial

SCHEMA = "ATIF-v1.6"
Json = dict[str, Any]


def atif_trajectory(trial: ExportedTrial, agent: str) -> Json:
    """Return a trial as one trajectory, JSON types throughout. `agent` names the agent."""
    steps = [*_system(trial), *_turns(trial)] or [_nothing(trial)]
    numbered = [{"step_id": number, **step} for number, step in enumerate(steps, 1)]
    usage, usd = trial.trace.usage, trial.trace.usd
    return {
        "schema_version": SCHEMA,
        "session_id": digest_of(trial, "session", 32),
        "agent": _without_none(
            name=agent,
            version=trial.imported.version if trial.imported else __version__,
            model_name=_model(trial),
            tool_definitions=_tools(trial.config),
            extra={"mutant": trial.mutant} if trial.mutant else None,
        ),
        "steps": numbered,
        "final_metrics": _without_none(
            total_prompt_tokens=usage.input_tokens,
            total_completion_tokens=usage.output_tokens,
            total_cost_usd=usd,
            total_steps=len(numbered),
        ),
        "extra": _outcome(trial),
    }


def _outcome(trial: ExportedTrial) -> Json:
    """Return the verdict of the evaluators, which ATIF keeps beside the trajectory, and what it has no place for."""
    trace = trial.trace
    named = {"steps", "outputs"} if trace.outputs == answers_of_steps(trace.steps) else {"steps"}
    texts = bool(trial.turns) and all(isinstance(turn, str) for turn in trial.turns)
    return _without_none(
        began=trial.began,
        trace=trace_beyond(trace, named),
        config=config_beyond(trial.config) if trial.config else None,
        turns=None if texts else list(trial.turns),
        imported=imported_beyond(trial.imported) if trial.imported else None,
        trial=trial.number,
        run=trial.run,
        scenario=trial.scenario,
        repeat=trial.repeat,
        outcome=trial.outcome or None,
        reason=trial.reason or None,
        ending=trial.ending,
        error=trial.trace.error,
        seconds=trial.trace.seconds,
        checks=[check.model_dump(mode="json") for check in trial.checks] or None,
    )


def _model(trial: ExportedTrial) -> str | None:
    asked = (step.model for step in trial.trace.steps if step.model)
    return next(asked, trial.config.model.name or None if trial.config else None)


def _tools(config: AgentConfig | None) -> list[dict[str, JsonValue]] | None:
    return [tool.to_openai() for tool in config.tools] if config and config.tools else None


def _system(trial: ExportedTrial) -> Iterator[Json]:
    config: AgentConfig | None = trial.config
    if config and config.prompt:
        yield {"timestamp": _time(trial, 0.0), "source": "system", "message": config.prompt}


def _turns(trial: ExportedTrial) -> Iterator[Json]:
    """Yield what the user said and what the agent did, turn by turn."""
    said = 0
    for turn, group in groupby(trial.trace.steps, key=lambda step: step.turn):
        steps = list(group)
        yield from _user_entries(trial, range(said, turn + 1), steps[0].started)
        said = max(said, turn + 1)
        yield from (_deed(trial, each) for each in _calls(steps))
    yield from _user_entries(trial, range(said, len(trial.turns)), 0.0)


def _user_entries(trial: ExportedTrial, turns: range, started: float) -> Iterator[Json]:
    for turn in turns[: max(0, len(trial.turns) - turns.start)]:
        yield {"timestamp": _time(trial, started), "source": "user", "message": text_of(trial.turns[turn])}


def _nothing(trial: ExportedTrial) -> Json:
    """Return an empty step for a run that did nothing, since a trajectory has at least one step."""
    return {"timestamp": _time(trial, 0.0), "source": "agent", "message": trial.trace.error or ""}


def _calls(steps: Iterable[Step]) -> Iterator[list[Step]]:
    """Divide the steps of a turn: each model call with the tool calls and the answer that follow it."""
    group: list[Step] = []
    for step in steps:
        if group and step.action is Action.REASON:
            yield group
            group = []
        group.append(step)
    if group:
        yield group


def _deed(trial: ExportedTrial, group: list[Step]) -> Json:
    """Return a step of the agent: its message is the answer, or what the model said beside its calls."""
    calls = [step for step in group if step.action is Action.CALL_TOOL]
    answers = [step.output for step in group if step.action is Action.RESPOND]
    asked = next((step for step in group if step.action is Action.REASON), None)
    said = answers[-1] if answers else asked.output if asked else None
    told = _without_none(
        timestamp=_time(trial, group[0].started),
        source="agent",
        model_name=asked.model if asked else None,
        message="" if said is None else text_of(said),
        tool_calls=[_call(step, number) for number, step in enumerate(calls)] or None,
        observation={"results": [_result(step, number) for number, step in enumerate(calls)]}
        if calls
        else None,
        metrics=_metrics(asked) if asked else None,
        extra=_without_none(
            nodes=[step.node for step in group if step.node] or None,
            errors=[step.error for step in group if step.error] or None,
        ),
    )
    carried = carried_steps(told, [step.action for step in group])
    beyond = [step_beyond(*each) for each in zip(group, carried, strict=True)]
    return {**told, "extra": {**told["extra"], "steps": beyond}}


def _call(step: Step, number: int) -> Json:
    return {
        "tool_call_id": step.call_id or f"call-{number + 1}",
        "function_name": step.tool,
        "arguments": step.arguments or {},
    }


def _result(step: Step, number: int) -> Json:
    content: JsonValue = step.error if step.error is not None else step.output
    return {
        "source_call_id": step.call_id or f"call-{number + 1}",
        "content": None if content is None else text_of(content),
    }


def _metrics(step: Step) -> Json:
    return _without_none(
        prompt_tokens=step.usage.input_tokens,
        completion_tokens=step.usage.output_tokens,
        cached_tokens=step.usage.cached_tokens or None,
        cost_usd=step.usd,
    )


def _time(trial: ExportedTrial, started: float) -> str:
    return datetime.fromtimestamp(trial.began + started, UTC).isoformat()


def _without_none(**fields: Any) -> Json:
    return {name: value for name, value in fields.items() if value is not None}
