"""Trials as OTLP/JSON: a line for each, as the file exporter of the OpenTelemetry Collector writes them.

A trial is one trace: a span `invoke_agent` with a child for each model call (`chat`) and tool call (`execute_tool`),
under the names of the semantic conventions for GenAI. What these have no name for stands under `agentmut.*`.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import JsonValue

from agentmut._base import __version__
from agentmut.nouns import (
    Action,
    AgentConfig,
    Step,
    config_beyond,
    imported_beyond,
    step_beyond,
    trace_beyond,
)
from agentmut.report.traces.exported import digest_of, text_of
from agentmut.usecases import ExportedTrial

NANOSECONDS = 1_000_000_000
INTERNAL, CLIENT = 1, 3
"""Kinds of span: work inside the program, and a request to another one."""
ERROR = 2
SCOPE = "agentmut"
_TIMES = ("turn", "node", "usd", "started", "seconds", "output")
"""Fields of every step that have an attribute."""
_NAMED = {
    Action.REASON: {*_TIMES, "model", "usage"},
    Action.CALL_TOOL: {*_TIMES, "tool", "arguments", "call_id"},
    Action.RESPOND: {*_TIMES, "error"},
}
"""Fields of a step that have an attribute; the error of a span is its status."""
_OF_TRACE = {"steps", "outputs", "error", "seconds", "exit_code", "stderr", "edges"}
Attributes = dict[str, Any]


def otlp_line(trial: ExportedTrial, agent: str) -> str:
    """Return a trial as one line of OTLP/JSON, an `ExportTraceServiceRequest`. `agent` names the agent."""
    spans = [_root(trial, agent), *_children(trial)]
    resource = {"attributes": _listed({"service.name": agent, "agentmut.version": __version__})}
    scopes = [{"scope": {"name": SCOPE, "version": __version__}, "spans": spans}]
    request = {"resourceSpans": [{"resource": resource, "scopeSpans": scopes}]}
    return json.dumps(request, ensure_ascii=False, separators=(",", ":"))


def _root(trial: ExportedTrial, agent: str) -> Attributes:
    trace = trial.trace
    attributes: Attributes = {
        **_recorded(trial),
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": agent,
        "gen_ai.conversation.id": digest_of(trial, "conversation", 32),
        "gen_ai.usage.input_tokens": trace.usage.input_tokens,
        "gen_ai.usage.output_tokens": trace.usage.output_tokens,
        "gen_ai.input.messages": _json([_text_message("user", turn) for turn in trial.turns]),
        "gen_ai.output.messages": _json([_text_message("assistant", output) for output in trace.outputs]),
        **_of_config(trial.config),
        **_of_agentmut(trial),
    }
    failed = trace.error or (trial.reason if trial.ending != "answered" else "")
    span = _span(trial, "", f"invoke_agent {agent}", INTERNAL, 0.0, trace.seconds, attributes, failed or None)
    span["events"] = list(_answers(trial))
    return span


def _recorded(trial: ExportedTrial) -> Attributes:
    """Return the attributes that the record of an imported run had, as far as a span can have them."""
    fields = trial.imported.trial.fields if trial.imported else {}
    return {name: value for name, value in fields.items() if isinstance(value, str | int | float)}


def _of_config(config: AgentConfig | None) -> Attributes:
    """Return the config, its parts under the names that the conventions have."""
    if config is None:
        return {}
    beyond = config_beyond(config)
    tools = [{"type": "function", **_function(tool.to_openai())} for tool in config.tools]
    return {
        "gen_ai.system_instructions": _json([{"type": "text", "content": config.prompt}])
        if config.prompt
        else None,
        "gen_ai.tool.definitions": _json(tools) if tools else None,
        "gen_ai.request.model": config.model.name or None,
        "gen_ai.request.temperature": config.model.temperature,
        "gen_ai.request.max_tokens": config.model.max_tokens,
        "gen_ai.request.seed": config.model.seed,
        "agentmut.config": _json(beyond) if beyond else None,
    }


def _function(tool: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    function = tool["function"]
    assert isinstance(function, dict)
    return function


def _of_agentmut(trial: ExportedTrial) -> Attributes:
    trace = trial.trace
    beyond = trace_beyond(trace, _OF_TRACE)
    return {
        "agentmut.trial": trial.number,
        "agentmut.run": trial.run,
        "agentmut.mutant": trial.mutant or None,
        "agentmut.scenario": trial.scenario,
        "agentmut.repeat": trial.repeat,
        "agentmut.outcome": trial.outcome or None,
        "agentmut.reason": trial.reason or None,
        "agentmut.ending": trial.ending,
        "agentmut.checks": _json([check.model_dump(mode="json") for check in trial.checks])
        if trial.checks
        else None,
        "agentmut.seconds": trace.seconds,
        "agentmut.exit_code": trace.exit_code,
        "agentmut.stderr": trace.stderr or None,
        "agentmut.edges": _json(trace.edges) if trace.edges else None,
        "agentmut.error": trace.error,
        "agentmut.turns": _json(trial.turns),
        "agentmut.outputs": _json(trace.outputs),
        "agentmut.trace": _json(beyond) if beyond else None,
        "agentmut.imported": _json(imported_beyond(trial.imported)) if trial.imported else None,
    }


def _answers(trial: ExportedTrial) -> Iterator[Attributes]:
    """Yield an event for each answer to a turn: the conventions have no span for it."""
    for number, step in enumerate(trial.trace.steps):
        if step.action is Action.RESPOND:
            yield {
                "name": "agentmut.respond",
                "timeUnixNano": _nanoseconds(trial.began + step.started),
                "attributes": _listed(
                    _of_step(step, number) | {"agentmut.output": _json(step.output), "error.type": step.error}
                ),
            }


def _children(trial: ExportedTrial) -> Iterator[Attributes]:
    for number, step in enumerate(trial.trace.steps):
        if step.action is Action.REASON:
            name, kind = f"chat {step.model}" if step.model else "chat", CLIENT
            attributes = _of_model_call(step)
        elif step.action is Action.CALL_TOOL:
            name, kind = f"execute_tool {step.tool}", INTERNAL
            attributes = _of_tool_call(step)
        else:
            continue
        attributes |= _of_step(step, number)
        yield _span(trial, str(number), name, kind, step.started, step.seconds, attributes, step.error)


def _of_model_call(step: Step) -> Attributes:
    said = None if step.output is None else _json([_text_message("assistant", step.output)])
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": step.model,
        "gen_ai.response.model": step.model if step.error is None else None,
        "gen_ai.usage.input_tokens": step.usage.input_tokens,
        "gen_ai.usage.output_tokens": step.usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": step.usage.cached_tokens or None,
        "gen_ai.usage.cache_creation.input_tokens": step.usage.cache_written_tokens or None,
        "gen_ai.output.messages": said,
        "agentmut.output": None if step.output is None else _json(step.output),
    }


def _of_tool_call(step: Step) -> Attributes:
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": step.tool,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": step.call_id,
        "gen_ai.tool.call.arguments": None if step.arguments is None else _json(step.arguments),
        "gen_ai.tool.call.result": None if step.output is None else _json(step.output),
    }


def _of_step(step: Step, number: int) -> Attributes:
    carried = step.model_dump(mode="json", include=_NAMED[step.action])
    beyond = step_beyond(step, {"action": step.action.value, "error": step.error or None, **carried})
    return {
        "agentmut.step": number,
        "agentmut.turn": step.turn,
        "agentmut.node": step.node,
        "agentmut.usd": step.usd,
        "agentmut.started": step.started,
        "agentmut.seconds": step.seconds,
        "agentmut.beyond": _json(beyond) if beyond else None,
    }


def _span(
    trial: ExportedTrial,
    part: str,
    name: str,
    kind: int,
    started: float,
    seconds: float,
    attributes: Attributes,
    error: str | None,
) -> Attributes:
    """Return a span; `part` is empty for the root. Times are seconds since the run began."""
    span: Attributes = {
        "traceId": digest_of(trial, "trace", 32),
        "spanId": digest_of(trial, f"span {part}", 16),
        "name": name,
        "kind": kind,
        "startTimeUnixNano": _nanoseconds(trial.began + started),
        "endTimeUnixNano": _nanoseconds(trial.began + started + seconds),
    }
    if part:
        span["parentSpanId"] = digest_of(trial, "span ", 16)
    if error is not None:
        attributes = attributes | {"error.type": error.partition(":")[0] or "error"}
        span["status"] = {"code": ERROR, "message": error}
    span["attributes"] = _listed(attributes)
    return span


def _text_message(role: str, value: JsonValue) -> dict[str, JsonValue]:
    return {"role": role, "parts": [{"type": "text", "content": text_of(value)}]}


def _nanoseconds(seconds: float) -> str:
    return str(round(seconds * NANOSECONDS))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _listed(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return attributes as OTLP lists them; those that are None are left out."""
    return [{"key": key, "value": _value(value)} for key, value in attributes.items() if value is not None]


def _value(value: str | bool | int | float) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
    return {"stringValue": value}
