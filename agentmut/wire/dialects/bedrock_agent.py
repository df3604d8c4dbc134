"""Requests and event streams of Bedrock agents (InvokeAgent, InvokeInlineAgent), for a simulated service.

The service itself talks to the model, so that these carry no model request. An inline agent brings its prompt, model
and tools with each call; any other has them at the service, and only what the user says can be read.
"""

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

from pydantic import JsonValue

from agentmut.nouns import Body, HttpCall, Message, ModelReply, ModelRequest, Role, ToolCall, ToolSpec
from agentmut.wire import bodies
from agentmut.wire.dialects import aws_event_stream
from agentmut.wire.dialects.reading import read_arguments

_INLINE = re.compile(r".*/agents/(?P<session>[^/]+)/?")
_STORED = re.compile(
    r".*/agents/(?P<agent>[^/]+)/agentAliases/(?P<alias>[^/]+)/sessions/(?P<session>[^/]+)/text/?"
)
_SETTINGS: Mapping[str, str] = {
    "temperature": "temperature",
    "top_p": "topP",
    "max_tokens": "maximumLength",
    "stop": "stopSequences",
}
_TYPES = frozenset({"string", "number", "integer", "boolean", "array"})


class Function(NamedTuple):
    """A function of an action group, as a tool."""

    group: str
    name: str
    tool: ToolSpec
    """Called `group__name`, as functions of several groups may have the same name."""


class AgentCall(NamedTuple):
    """A request to an agent."""

    session: str
    agent: str | None
    """The id of an agent that is stored at the service; None for an inline agent."""
    request: ModelRequest
    """Instruction, history and input; results of tools answer `call_ids`. The model of a stored agent is its id."""
    functions: tuple[Function, ...]
    traced: bool
    """Whether it wants to see `trace` events."""


def matches(path: str) -> bool:
    """Return whether a URL path calls an agent.

    >>> matches("/agents/session-1"), matches("/agents/A/agentAliases/B/sessions/C/text"), matches("/agents/A/x")
    (True, True, False)
    """
    return _place(path) is not None


def decode(call: HttpCall) -> AgentCall:
    """Read a call. Raises `ValueError` naming the field that cannot be read. Groups that are described by an
    OpenAPI schema are not read."""
    place = _place(call.path)
    if place is None:
        raise ValueError(f"the path calls no agent: {call.path:.200}")
    body = bodies.mapping(bodies.read_json(call.body), "the body")
    agent = unquote(place["agent"]) if "agent" in place.groupdict() else None
    functions = tuple(_functions(body))
    request = ModelRequest(
        model=agent or bodies.name(body.get("foundationModel"), "foundationModel"),
        messages=tuple(_messages(body)),
        tools=tuple(function.tool for function in functions),
        **_settings(body),
    )
    return AgentCall(unquote(place["session"]), agent, request, functions, body.get("enableTrace") is True)


def encode(reply: ModelReply, call: AgentCall, *, invocation_id: str) -> bytes:
    """Return the event stream with which an agent answers: traces where they are wanted, then its text as a `chunk`, or
    its calls as one `returnControl` event.

    Raises `ValueError` for a call of a tool that the agent has not, or without an object of arguments.
    """
    inputs = [_invocation(found, call.functions) for found in reply.tool_calls]
    events: list[tuple[str, JsonValue]] = []
    if call.traced:
        events += [("trace", _traced(call, trace)) for trace in _traces(reply, call, inputs, invocation_id)]
    if reply.text and not inputs:
        events.append(("chunk", {"bytes": base64.b64encode(reply.text.encode("utf-8", "replace")).decode()}))
    if inputs:
        functions: list[JsonValue] = [{"functionInvocationInput": found} for found in inputs]
        events.append(("returnControl", {"invocationId": invocation_id, "invocationInputs": functions}))
    return b"".join(aws_event_stream.event(kind, payload) for kind, payload in events)


def call_ids(invocation_id: str, calls: int) -> list[str]:
    """Return the ids of an invocation's calls, in order, that results in the next request answer."""
    return [f"{invocation_id}/{number}" for number in range(calls)]


def headers(call: AgentCall) -> dict[str, str]:
    """Return the headers of an answer."""
    return {
        "Content-Type": aws_event_stream.MEDIA_TYPE,
        "x-amzn-bedrock-agent-content-type": "application/json",
        "x-amz-bedrock-agent-session-id": call.session,
    }


def _place(path: str) -> re.Match[str] | None:
    place = path.partition("?")[0]
    return _STORED.fullmatch(place) or _INLINE.fullmatch(place)


def _messages(body: Mapping[str, Any]) -> Iterator[Message]:
    instruction = bodies.text(body.get("instruction"), "instruction")
    if instruction:
        yield Message(role=Role.SYSTEM, text=instruction)
    state = _state(body)
    attributes = bodies.mapping(state.get("promptSessionAttributes") or {}, "promptSessionAttributes")
    for name, value in attributes.items():  # the service puts them into the prompt
        yield Message(role=Role.SYSTEM, text=bodies.text(value, f"promptSessionAttributes.{name}"))
    history = bodies.mapping(state.get("conversationHistory") or {}, "conversationHistory")
    for found in bodies.listing(history.get("messages"), "conversationHistory.messages"):
        yield _earlier(bodies.mapping(found, "conversationHistory.messages[]"))
    yield from _results(state)
    if body.get("inputText"):
        yield Message(role=Role.USER, text=bodies.text(body["inputText"], "inputText"))


def _state(body: Mapping[str, Any]) -> Mapping[str, Any]:
    key = "inlineSessionState" if "inlineSessionState" in body else "sessionState"
    return bodies.mapping(body.get(key) or {}, key)


def _earlier(found: Mapping[str, Any]) -> Message:
    where = "conversationHistory.messages[]"
    role = {"user": Role.USER, "assistant": Role.ASSISTANT}.get(
        bodies.text(found.get("role"), f"{where}.role")
    )
    if role is None:
        raise ValueError(f"{where}.role: expected user or assistant, found {found.get('role')!r:.80}")
    blocks = (bodies.mapping(b, where) for b in bodies.listing(found.get("content"), f"{where}.content"))
    return Message(role=role, text="\n".join(bodies.text(block.get("text"), where) for block in blocks))


def _results(state: Mapping[str, Any]) -> Iterator[Message]:
    where = "returnControlInvocationResults"
    results = bodies.listing(state.get(where), where)
    ids = call_ids(bodies.text(state.get("invocationId"), "invocationId"), len(results))
    for call_id, result in zip(ids, results, strict=True):
        found = bodies.mapping(result, f"{where}[]")
        held = bodies.mapping(
            found.get("functionResult") or found.get("apiResult"), f"{where}[].functionResult"
        )
        shown = bodies.mapping(held.get("responseBody") or {}, f"{where}[].responseBody").values()
        texts = (bodies.text(bodies.mapping(body, where).get("body"), f"{where}[].body") for body in shown)
        yield Message(role=Role.TOOL, text="\n".join(texts), tool_call_id=call_id)


def _functions(body: Mapping[str, Any]) -> Iterator[Function]:
    for index, found in enumerate(bodies.listing(body.get("actionGroups"), "actionGroups")):
        where = f"actionGroups[{index}]"
        group = bodies.mapping(found, where)
        schema = bodies.mapping(group.get("functionSchema") or {}, f"{where}.functionSchema")
        named = bodies.name(group.get("actionGroupName"), f"{where}.actionGroupName")
        for entry in bodies.listing(schema.get("functions"), f"{where}.functionSchema.functions"):
            function = bodies.mapping(entry, f"{where}.functionSchema.functions[]")
            name = bodies.name(function.get("name"), f"{where}.functionSchema.functions[].name")
            yield Function(named, name, _tool(f"{named}__{name}", function, where))


def _tool(name: str, function: Mapping[str, Any], where: str) -> ToolSpec:
    found = bodies.mapping(function.get("parameters") or {}, f"{where}.parameters")
    parameters = {key: bodies.mapping(value, f"{where}.parameters.{key}") for key, value in found.items()}
    required: list[JsonValue] = [key for key, value in parameters.items() if value.get("required") is True]
    schema: dict[str, JsonValue] = {
        "type": "object",
        "properties": {key: _property(value) for key, value in parameters.items()},
    }
    return ToolSpec(
        name=name,
        description=bodies.text(function.get("description"), f"{where}.description"),
        parameters={**schema, "required": required} if required else schema,
    )


def _property(parameter: Mapping[str, Any]) -> JsonValue:
    kind = parameter.get("type")
    described: dict[str, JsonValue] = {"type": kind if kind in _TYPES else "string"}
    text = parameter.get("description")
    return {**described, "description": text} if isinstance(text, str) else described


def _settings(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the orchestration prompt if they are overridden."""
    override = bodies.mapping(body.get("promptOverrideConfiguration") or {}, "promptOverrideConfiguration")
    where = "promptOverrideConfiguration.promptConfigurations"
    prompts = [bodies.mapping(p, where) for p in bodies.listing(override.get("promptConfigurations"), where)]
    own = next((prompt for prompt in prompts if prompt.get("promptType") == "ORCHESTRATION"), {})
    config = bodies.mapping(own.get("inferenceConfiguration") or {}, f"{where}[].inferenceConfiguration")
    return {name: config[key] for name, key in _SETTINGS.items() if config.get(key) is not None}


def _invocation(call: ToolCall, functions: Sequence[Function]) -> dict[str, JsonValue]:
    function = next((found for found in functions if found.tool.name == call.name), None)
    if function is None:
        known = ", ".join(found.tool.name for found in functions) or "none"
        raise ValueError(f"the agent has no tool {call.name!r}; it has {known}")
    arguments = bodies.mapping(read_arguments(call), f"the arguments of the call of {call.name}")
    parameters: list[JsonValue] = [
        {"name": key, "type": _type_of(function.tool, key), "value": _as_text(value)}
        for key, value in arguments.items()
    ]
    return {
        "actionGroup": function.group,
        "actionInvocationType": "RESULT",
        "function": function.name,
        "parameters": parameters,
    }


def _type_of(tool: ToolSpec, parameter: str) -> str:
    properties = tool.parameters.get("properties")
    found = properties.get(parameter) if isinstance(properties, dict) else None
    return str(found["type"]) if isinstance(found, dict) else "string"


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else bodies.write_json(value).decode("ascii")


def _traced(call: AgentCall, trace: Body) -> dict[str, JsonValue]:
    whose: dict[str, JsonValue] = {"agentId": call.agent} if call.agent else {}
    return {**whose, "sessionId": call.session, "trace": {"orchestrationTrace": trace}}


def _traces(
    reply: ModelReply, call: AgentCall, inputs: Sequence[Mapping[str, JsonValue]], invocation_id: str
) -> Iterator[Body]:
    """Yield the traces of an agent's work: the model's request and reply, its calls, and its answer."""
    trace: Body = {"traceId": f"{invocation_id}-0"}
    asked = call.request.messages[-1].text if call.request.messages else ""
    yield {
        "modelInvocationInput": {
            **trace,
            "type": "ORCHESTRATION",
            "text": asked,
            "foundationModel": call.request.model,
        }
    }
    usage = {"inputTokens": reply.usage.input_tokens, "outputTokens": reply.usage.output_tokens}
    raw = {"content": reply.text}
    yield {"modelInvocationOutput": {**trace, "metadata": {"usage": usage}, "rawResponse": raw}}
    for found in inputs:
        invoked = {
            "actionGroupName": found["actionGroup"],
            "executionType": "RETURN_CONTROL",
            "function": found["function"],
            "invocationId": invocation_id,
            "parameters": found["parameters"],
        }
        yield {
            "invocationInput": {
                **trace,
                "invocationType": "ACTION_GROUP",
                "actionGroupInvocationInput": invoked,
            }
        }
    if not inputs:
        yield {"observation": {**trace, "type": "FINISH", "finalResponse": {"text": reply.text}}}
