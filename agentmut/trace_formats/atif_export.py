"""Read trajectories of `agentmut export`: the trial as it was stored, also the parts without a place in ATIF."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agentmut.nouns import (
    Action,
    AgentTrace,
    ForeignTrial,
    Step,
    answers_of_steps,
    config_of,
    imported_again,
    step_of,
)

Json = dict[str, Any]


def with_exported_parts(
    found: ForeignTrial, run: Mapping[str, Any], steps: Iterable[Mapping[str, Any]]
) -> ForeignTrial:
    """Return the trial with what `agentmut export` kept beside ATIF; trajectories of earlier versions keep less.

    Raises `LookupError`, `TypeError` or `ValueError` where the trajectory was changed.
    """
    extra = run.get("extra")
    if not isinstance(extra, Mapping) or "trace" not in extra:
        return found
    config = config_of(extra["config"], found.config) if "config" in extra else found.config
    given = {"trace": _trace(extra["trace"], steps), "config": config, "started": extra["began"]}
    if "turns" in extra:
        given["turns"] = tuple(extra["turns"]) or ("",)
    whole = found.model_copy(update=given)
    return imported_again(extra["imported"], whole) if "imported" in extra else whole


def _trace(beyond: Mapping[str, Any], steps: Iterable[Mapping[str, Any]]) -> AgentTrace:
    made = tuple(step for told in steps for step in _steps(told))
    return AgentTrace.model_validate({"outputs": answers_of_steps(made), **beyond, "steps": made})


def _steps(entry: Mapping[str, Any]) -> Iterator[Step]:
    beyond = (entry.get("extra") or {}).get("steps") or ()
    carried = carried_steps(entry, [Action(each["action"]) for each in beyond])
    return (step_of(*each) for each in zip(beyond, carried, strict=True))


def carried_steps(entry: Mapping[str, Any], actions: Iterable[Action]) -> Iterator[Json]:
    """Yield the fields that a step of a trajectory has of each step of the trial which it tells of."""
    calls = iter(entry.get("tool_calls") or ())
    results = iter((entry.get("observation") or {}).get("results") or ())
    for action in actions:
        if action is Action.REASON:
            yield _model_fields(entry)
        elif action is Action.CALL_TOOL:
            yield _called(next(calls), next(results))
        else:
            yield {"output": entry["message"]}


def _model_fields(entry: Mapping[str, Any]) -> Json:
    used = entry.get("metrics") or {}
    usage = {
        "input_tokens": used.get("prompt_tokens", 0),
        "output_tokens": used.get("completion_tokens", 0),
        "cached_tokens": used.get("cached_tokens", 0),
        "cache_written_tokens": 0,
    }
    return {
        "output": entry["message"],
        "model": entry.get("model_name"),
        "usage": usage,
        "usd": used.get("cost_usd"),
    }


def _called(call: Mapping[str, Any], result: Mapping[str, Any]) -> Json:
    return {
        "tool": call["function_name"],
        "arguments": call["arguments"],
        "call_id": call["tool_call_id"],
        "output": result["content"],
    }
