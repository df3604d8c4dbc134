"""Read files of `agentmut export`: the trial as it was stored, also the parts without a conventional name."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agentmut._base import jsonable
from agentmut.nouns import (
    Action,
    AgentConfig,
    AgentTrace,
    ForeignTrial,
    RecordedScore,
    Step,
    ToolSpec,
    config_of,
    imported_again,
    step_of,
)
from agentmut.trace_formats.otlp.spans import Span, spans_of
from agentmut.trace_formats.records import Record

SCOPE = "agentmut"
"""The instrumentation scope that an export names."""
MARK = "agentmut.outputs"
"""The attribute of the first span by which such a trace is known."""
ANSWER = "agentmut.respond"
"""The event of the first span that tells of an answer."""
IMPORTED = "agentmut.imported"
"""The attribute of the first span of a run that another tool had recorded."""
_OF_TRACE = "agentmut.trace"
_OF_CONFIG = "agentmut.config"
_READ = (
    *(MARK, "agentmut.turns", "gen_ai.input.messages", "gen_ai.output.messages", "agentmut.checks"),
    *(_OF_TRACE, _OF_CONFIG),
)
"""Attributes of the first span that are no fields of the run, since they are read into its parts."""
_ACTIONS = {"chat": Action.REASON, "execute_tool": Action.CALL_TOOL}
_TOKENS = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cached_tokens": "cache_read.input_tokens",
    "cache_written_tokens": "cache_creation.input_tokens",
}
"""Fields of the usage, with the conventions' names."""
Attributes = Mapping[str, Any]


def own_trial(record: Record) -> ForeignTrial | None:
    """Return the trial of a request that holds one whole trace of ours; None for any other request.

    Raises `LookupError`, `TypeError` or `ValueError` for what is no request, and where such a trace was changed.
    """
    if not _is_of_our_scope(record.value):
        return None
    spans = list(spans_of(record.value, record.place))
    roots = [span for span in spans if not span.parent]
    if len(roots) != 1 or MARK not in roots[0].attributes:
        return None
    root, attributes = roots[0], roots[0].attributes
    trial = ForeignTrial(
        scenario=str(attributes["agentmut.scenario"]),
        turns=tuple(json.loads(attributes["agentmut.turns"])) or ("",),
        trace=_trace(root, spans),
        place=record.place,
        config=_config(attributes),
        scores=own_scores(attributes),
        fields={
            name: jsonable(value)
            for name, value in {**root.resource, **attributes}.items()
            if name not in _READ
        },
        started=root.started,
    )
    return imported_again(json.loads(attributes[IMPORTED]), trial) if IMPORTED in attributes else trial


def _is_of_our_scope(request: Any) -> bool:
    """Return whether the first spans are of agentmut's scope; spans of other scopes are not read twice."""
    first: bool = request["resourceSpans"][0]["scopeSpans"][0]["scope"]["name"] == SCOPE
    return first


def _trace(root: Span, spans: Sequence[Span]) -> AgentTrace:
    attributes = root.attributes
    parts = [(span.attributes, span.error) for span in spans if span is not root]
    parts += [
        (event.attributes, event.attributes.get("error.type"))
        for event in root.events
        if event.name == ANSWER
    ]
    parts.sort(key=lambda part: int(part[0]["agentmut.step"]))
    steps = tuple(_step(*part) for part in parts)
    return AgentTrace.model_validate(
        {
            "steps": steps,
            "outputs": json.loads(attributes[MARK]),
            "error": attributes.get("agentmut.error"),
            "seconds": attributes["agentmut.seconds"],
            "exit_code": attributes.get("agentmut.exit_code"),
            "stderr": attributes.get("agentmut.stderr", ""),
            "edges": json.loads(attributes.get("agentmut.edges", "[]")),
            **json.loads(attributes.get(_OF_TRACE, "{}")),
        }
    )


def _step(attributes: Attributes, error: str | None) -> Step:
    action = _ACTIONS.get(attributes.get("gen_ai.operation.name", ""), Action.RESPOND)
    output = attributes.get("gen_ai.tool.call.result" if action is Action.CALL_TOOL else "agentmut.output")
    arguments = attributes.get("gen_ai.tool.call.arguments")
    carried = {
        "action": action,
        "turn": attributes["agentmut.turn"],
        "tool": attributes.get("gen_ai.tool.name"),
        "arguments": None if arguments is None else json.loads(arguments),
        "output": None if output is None else json.loads(output),
        "error": error,
        "model": attributes.get("gen_ai.request.model"),
        "usage": {field: attributes.get(f"gen_ai.usage.{name}", 0) for field, name in _TOKENS.items()},
        "usd": attributes.get("agentmut.usd"),
        "started": attributes["agentmut.started"],
        "seconds": attributes["agentmut.seconds"],
        "node": attributes.get("agentmut.node"),
        "call_id": attributes.get("gen_ai.tool.call.id"),
    }
    return step_of(json.loads(attributes.get("agentmut.beyond", "{}")), carried)


def _config(attributes: Attributes) -> AgentConfig:
    parts = json.loads(attributes.get("gen_ai.system_instructions", "[]"))
    tools = json.loads(attributes.get("gen_ai.tool.definitions", "[]"))
    carried = AgentConfig(
        prompt="".join(part["content"] for part in parts),
        tools=tuple(
            ToolSpec(name=one["name"], description=one["description"], parameters=one["parameters"])
            for one in tools
        ),
    )
    return config_of(json.loads(attributes.get(_OF_CONFIG, "{}")), carried)


def own_scores(attributes: Attributes) -> dict[str, RecordedScore]:
    """Return the verdict that was exported with the trial, if any."""
    outcome = attributes.get("agentmut.outcome")
    if outcome is None:
        return {}
    return {"agentmut": RecordedScore(value=outcome == "pass", reason=attributes.get("agentmut.reason", ""))}
