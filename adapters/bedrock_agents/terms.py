"""Requests to Bedrock agents, and their requests when they return control. Pure functions."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import JsonValue

from agentmut.adapters._shared.tool_loop.dialect import Answer, Call
from agentmut.nouns import Document, ModelConfig, ToolSpec, is_set
from agentmut.wire.dialects.bedrock_agent import call_ids

LEAST_INSTRUCTION = 40
"""Characters that an inline agent's instruction must have."""
DOCUMENTS = "documents"
"""The prompt session attribute that documents travel in."""
TYPES = ("string", "number", "integer", "boolean", "array")
"""The types that parameters of a function have."""
SETTINGS: Mapping[str, str] = {
    "temperature": "temperature",
    "top_p": "topP",
    "max_tokens": "maximumLength",
    "stop": "stopSequences",
}
_CONSENT, _CONSENT_FIRST = "USER_CONFIRMATION", "USER_CONFIRMATION_AND_RESULT"
"""Why control is handed back, besides for a result: for consent alone, or for both."""


class ClientCall(NamedTuple):
    """A call that the agent leaves to the client."""

    call: Call
    raw: Mapping[str, Any]
    """`functionInvocationInput` or `apiInvocationInput`, as it came."""

    @property
    def is_question(self) -> bool:
        """Return whether only the user's consent is asked for: the service then carries the call out itself."""
        return self.raw.get("actionInvocationType") == _CONSENT

    @property
    def needs_consent(self) -> bool:
        """Return whether the user has to confirm the call, whoever carries it out."""
        return self.raw.get("actionInvocationType") in (_CONSENT, _CONSENT_FIRST)


def action_group(name: str, tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
    """Return the tools as one action group that returns control; none without tools. Raise `ValueError`."""
    if not tools:
        return []
    functions = [_function(tool) for tool in tools]
    return [
        {
            "actionGroupName": name,
            "actionGroupExecutor": {"customControl": "RETURN_CONTROL"},
            "functionSchema": {"functions": functions},
        }
    ]


def _function(tool: ToolSpec) -> dict[str, Any]:
    described = {"description": tool.description} if tool.description else {}
    properties, required = tool.parameters.get("properties"), tool.parameters.get("required")
    needed = required if isinstance(required, list) else []
    parameters = {
        name: _parameter(tool.name, name, schema, needed=name in needed)
        for name, schema in (properties.items() if isinstance(properties, dict) else ())
    }
    return {"name": tool.name, **described, **({"parameters": parameters} if parameters else {})}


def _parameter(tool: str, name: str, schema: JsonValue, *, needed: bool) -> dict[str, Any]:
    found = schema if isinstance(schema, dict) else {}
    kinds = [kind for kind in _kinds(found) if kind != "null"]
    if len(kinds) != 1 or kinds[0] not in TYPES:
        raise ValueError(
            f"the parameter {name!r} of {tool!r} is {' or '.join(kinds) or 'of no type'}; functions of action groups "
            f"take {', '.join(TYPES)}"
        )
    text = found.get("description")
    described = {"description": text} if isinstance(text, str) and text else {}
    return {"type": kinds[0], **described, "required": needed}


def _kinds(schema: Mapping[str, Any]) -> Iterator[str]:
    for found in schema.get("anyOf") or (schema,):
        kind = found.get("type") if isinstance(found, dict) else None
        yield from kind if isinstance(kind, list) else [str(kind)] if kind else []


def unsupported(model: ModelConfig, template: str | None) -> str:
    """Return the first setting that inline agents do not have, in a phrase; empty if they have all."""
    for name in (n for n in ModelConfig.model_fields if n not in ("name", "provider")):
        value = getattr(model, name)
        if not is_set(value):
            continue
        if name not in SETTINGS:
            return f"inline agents have no {name}"
        if template is None:
            return (
                f"inline agents take {name} only along with a prompt template of one's own "
                "(agent.options.prompt_template)"
            )
        if name == "temperature" and value > 1:
            return f"inline agents take temperatures up to 1, not {value:g}"
    return ""


def override(model: ModelConfig, template: str | None) -> dict[str, Any]:
    """Return the agent's overridden orchestration prompt, with the settings of the model."""
    if template is None:
        return {}
    values = {key: getattr(model, name) for name, key in SETTINGS.items() if is_set(getattr(model, name))}
    told = {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
    prompt = {
        "promptType": "ORCHESTRATION",
        "promptCreationMode": "OVERRIDDEN",
        "promptState": "ENABLED",
        "basePromptTemplate": template,
        **({"inferenceConfiguration": told} if told else {}),
    }
    return {"promptOverrideConfiguration": {"promptConfigurations": [prompt]}}


def documents(context: Iterable[Document]) -> dict[str, str]:
    """Return the prompt session attributes for documents, in order, with safe names."""
    text = "\n\n".join(document.wrapped for document in context)
    return {DOCUMENTS: text} if text else {}


def earlier(messages: Iterable[Mapping[str, str]]) -> dict[str, Any]:
    """Return the conversation before the session."""
    said = [{"role": m["role"], "content": [{"text": m["content"]}]} for m in messages if m["content"]]
    return {"conversationHistory": {"messages": said}} if said else {}


def asked_of(event: Mapping[str, Any], *, confirm: bool) -> list[ClientCall]:
    """Return the calls of a `returnControl` event. Raises `NotImplementedError` for a question to the user, unless it
    is to be confirmed.
    """
    inputs = event.get("invocationInputs") or []
    ids = call_ids(event.get("invocationId", ""), len(inputs))
    asked = [
        _client_call(call_id, next(iter(found.values()))) for call_id, found in zip(ids, inputs, strict=True)
    ]
    for one in asked if not confirm else ():
        if one.needs_consent:
            raise NotImplementedError(
                f"the agent wants its user to confirm the call of {one.call.name!r}; with agent.options.confirm: true "
                "all such calls are confirmed"
            )
    return asked


def _client_call(call_id: str, raw: Mapping[str, Any]) -> ClientCall:
    name = raw.get("function") or f"{raw.get('httpMethod', '')} {raw.get('apiPath', '')}".strip()
    arguments = {found["name"]: value_of(found) for found in _parameters(raw) if found.get("name")}
    return ClientCall(Call(call_id, name, arguments, raw.get("collaboratorName", "")), raw)


def _parameters(raw: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from raw.get("parameters") or ()
    for content in ((raw.get("requestBody") or {}).get("content") or {}).values():
        # an event of the stream has a mapping here, a trace has a list
        yield from content.get("properties") or () if isinstance(content, dict) else content


def value_of(parameter: Mapping[str, Any]) -> JsonValue:
    """Return a parameter's value, which arrives as text, by its type; the text if it does not fit the type.

    >>> value_of({"type": "number", "value": "2.5"}), value_of({"type": "integer", "value": "two"})
    (2.5, 'two')
    """
    text = str(parameter.get("value", ""))
    if parameter.get("type") in ("string", None):
        return text
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, _PYTHON.get(str(parameter["type"]), object)) else text


_PYTHON: Mapping[str, Any] = {"number": int | float, "integer": int, "boolean": bool, "array": list}


def result_of(call: ClientCall, answer: Answer | None) -> dict[str, Any]:
    """Return what a call is answered with, None for mere consent. After a failure the model is asked again, instead of
    the session being ended.
    """
    raw, is_function = call.raw, "function" in call.raw
    kept = {key: raw[key] for key in _KEPT[is_function] if key in raw}
    if call.needs_consent:
        kept["confirmationState"] = "CONFIRM"
    if answer is not None:
        kind = "TEXT" if is_function else "application/json"
        status = {} if is_function else {"httpStatusCode": 500 if answer.failed else 200}
        failed = {"responseState": "REPROMPT"} if answer.failed else {}
        kept |= {**failed, **status, "responseBody": {kind: {"body": answer.text}}}
    return {"functionResult" if is_function else "apiResult": kept}


_KEPT: Mapping[bool, Sequence[str]] = {
    True: ("actionGroup", "agentId", "function"),
    False: ("actionGroup", "agentId", "apiPath", "httpMethod"),
}
"""What tells the service which call a result is of, of functions and of APIs; the agent is one that others asked."""


def instruction(prompt: str) -> str:
    """Return the prompt, padded with blanks to the shortest instruction that boto3 accepts."""
    return prompt.ljust(LEAST_INSTRUCTION)
