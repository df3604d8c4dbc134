"""Model settings of Bedrock Converse, converted to and from the normal form."""

from collections.abc import Mapping
from typing import Any

from agentmut.nouns import Body
from agentmut.wire import bodies
from agentmut.wire.dialects.edits import choice_of, named_tool, wanted_schema, with_value

_NUMBERS: Mapping[str, str] = {"max_tokens": "maxTokens", "temperature": "temperature", "top_p": "topP"}
_CHOICES: Mapping[str, str] = {"auto": "auto", "required": "any"}
_CHOICE = ("toolConfig", "toolChoice")
_FORMAT = ("outputConfig", "textFormat")


def read(body: Body) -> dict[str, Any]:
    """Return the settings as fields of `ModelRequest`."""
    config = bodies.mapping(body.get("inferenceConfig") or {}, "inferenceConfig")
    output = bodies.mapping(body.get("outputConfig") or {}, "outputConfig")
    tools = bodies.mapping(body.get("toolConfig") or {}, "toolConfig")
    return {
        "stop": tuple(bodies.listing(config.get("stopSequences"), "inferenceConfig.stopSequences")),
        "reasoning_effort": output.get("effort"),
        "tool_choice": _tool_choice(tools.get("toolChoice")),
        "response_format": _response_format(output.get("textFormat")),
        **{name: config.get(key) for name, key in _NUMBERS.items()},
    }


def with_setting(body: Body, name: str, value: Any) -> Body:
    """Return the body with one setting changed, or removed for None; unchanged if the dialect has no such setting."""
    if name in _NUMBERS:
        return with_value(body, ("inferenceConfig", _NUMBERS[name]), value)
    if name == "stop":
        return with_value(body, ("inferenceConfig", "stopSequences"), list(value or ()) or None)
    if name == "reasoning_effort":
        return with_value(body, ("outputConfig", "effort"), value)
    if name == "tool_choice":
        return _with_tool_choice(body, value)
    return _with_response_format(body, value) if name == "response_format" else body


def chosen(body: Body) -> str | None:
    """Return the name of the tool that must be called; None if none is named."""
    config = body.get("toolConfig")
    choice = _tool_choice(config.get("toolChoice")) if isinstance(config, dict) else None
    return named_tool(choice)


def without_choice(body: Body) -> Body:
    """Return the body without a tool choice."""
    return with_value(body, _CHOICE, None)


def _tool_choice(choice: Any) -> Any:
    if choice is None:
        return None
    found = bodies.mapping(choice, "toolConfig.toolChoice")
    if "tool" in found:
        tool = bodies.mapping(found["tool"], "toolConfig.toolChoice.tool")
        named = bodies.name(tool.get("name"), "toolConfig.toolChoice.tool.name")
        return choice_of(named)
    return next((said for said, key in _CHOICES.items() if key in found), None)


def _with_tool_choice(body: Body, choice: Any) -> Body:
    """Return the body with the tool choice. Converse cannot forbid tool calls."""
    if choice is None:
        return without_choice(body)
    if name := named_tool(choice):
        return with_value(body, _CHOICE, {"tool": {"name": name}})
    key = _CHOICES.get(choice) if isinstance(choice, str) else None
    return body if key is None else with_value(body, _CHOICE, {key: {}})


def _response_format(found: Any) -> Any:
    if found is None:
        return None
    where = "outputConfig.textFormat.structure.jsonSchema"
    structure = bodies.mapping(bodies.mapping(found, "outputConfig.textFormat").get("structure"), where)
    named = dict(bodies.mapping(structure.get("jsonSchema"), where))
    schema = bodies.read_json(bodies.text(named.get("schema"), f"{where}.schema"))
    return {"type": "json_schema", "json_schema": {**named, "schema": schema}}


def _with_response_format(body: Body, wanted: Any) -> Body:
    """Return the body with the schema of the response; the dialect has nothing like `json_object`."""
    if wanted is None:
        return with_value(body, _FORMAT, None)
    named = wanted_schema(wanted)
    if named is None:
        return body
    schema = {key: named[key] for key in ("name", "description") if isinstance(named.get(key), str)}
    schema["schema"] = bodies.write_json(named["schema"]).decode("ascii")
    return with_value(body, _FORMAT, {"type": "json_schema", "structure": {"jsonSchema": schema}})
