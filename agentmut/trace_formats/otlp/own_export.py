"""Read files of `agentmut export`: the trial as it was stored, also the parts without a conventional name."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agentmut._base import jsonable
from agentmut.nouns import Action, AgentConfig, AgentTrace, ForeignTrial, RecordedScore, Step, ToolSpec, Usage
from agentmut.trace_formats.otlp.spans import Span, spans_of
from agentmut.trace_formats.records import Record

SCOPE = "agentmut"
"""The instrumentation scope that an export names."""
MARK = "agentmut.outputs"
"""The attribute of the first span by which such a trace is known."""
ANSWER = "agentmut.respond"
"""The event of the first span that tells of an answer."""
_LISTS = (MARK, "agentmut.turns", "gen_ai.input.messages", "gen_ai.output.messages", "agentmut.checks")
Told = Mapping[str, Any]


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
    root, told = roots[0], roots[0].attributes
    return ForeignTrial(
        scenario=str(told["agentmut.scenario"]),
        turns=tuple(json.loads(told["agentmut.turns"])) or ("",),
        trace=_trace(root, spans),
        place=record.place,
        config=_config(told),
        scores=own_scores(told),
        fields={
            name: jsonable(value) for name, value in {**root.resource, **told}.items() if name not in _LISTS
        },
        started=root.started,
    )


def _is_of_our_scope(request: Any) -> bool:
    """Return whether the first spans are of agentmut's scope; spans of other scopes are not read twice."""
    first: bool = request["resourceSpans"][0]["scopeSpans"][0]["scope"]["name"] == SCOPE
    return first


def _trace(root: Span, spans: Sequence[Span]) -> AgentTrace:
    told = root.attributes
    parts = [(span.attributes, span.error) for span in spans if span is not root]
    parts += [
        (event.attributes, event.attributes.get("error.type"))
        for event in root.events
        if event.name == ANSWER
    ]
    parts.sort(key=lambda part: int(part[0]["agentmut.step"]))
    return AgentTrace(
        steps=tuple(_step(*part) for part in parts),
        outputs=tuple(json.loads(told[MARK])),
        error=told.get("agentmut.error"),
        seconds=told["agentmut.seconds"],
        exit_code=told.get("agentmut.exit_code"),
        stderr=told.get("agentmut.stderr", ""),
        edges=tuple((a, b) for a, b in json.loads(told.get("agentmut.edges", "[]"))),
    )


def _step(told: Told, error: str | None) -> Step:
    tool = told.get("gen_ai.tool.name")
    reasons = told.get("gen_ai.operation.name") == "chat"
    output = told.get("gen_ai.tool.call.result" if tool else "agentmut.output")
    arguments = told.get("gen_ai.tool.call.arguments")
    return Step(
        action=Action.CALL_TOOL if tool else Action.REASON if reasons else Action.RESPOND,
        turn=told["agentmut.turn"],
        tool=tool,
        arguments=None if arguments is None else json.loads(arguments),
        output=None if output is None else json.loads(output),
        error=error,
        model=told.get("gen_ai.request.model"),
        usage=Usage(
            input_tokens=told.get("gen_ai.usage.input_tokens", 0),
            output_tokens=told.get("gen_ai.usage.output_tokens", 0),
        ),
        usd=told.get("agentmut.usd"),
        started=told["agentmut.started"],
        seconds=told["agentmut.seconds"],
        node=told.get("agentmut.node"),
        call_id=told.get("gen_ai.tool.call.id"),
    )


def _config(told: Told) -> AgentConfig:
    parts = json.loads(told.get("gen_ai.system_instructions", "[]"))
    tools = json.loads(told.get("gen_ai.tool.definitions", "[]"))
    return AgentConfig(
        prompt="".join(part["content"] for part in parts),
        tools=tuple(
            ToolSpec(name=one["name"], description=one["description"], parameters=one["parameters"])
            for one in tools
        ),
    )


def own_scores(told: Told) -> dict[str, RecordedScore]:
    """Return the verdict that was exported with the trial, if any."""
    outcome = told.get("agentmut.outcome")
    if outcome is None:
        return {}
    return {"agentmut": RecordedScore(value=outcome == "pass", reason=told.get("agentmut.reason", ""))}
