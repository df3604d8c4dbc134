"""Model settings of Anthropic Messages, converted to and from the normal form."""

from collections.abc import Mapping
from typing import Any

from agentmut.nouns import Body, ModelRequest
from agentmut.wire import bodies
from agentmut.wire.dialects.edits import choice_of, named_tool, settings_of, wanted_schema, with_value

EFFORTS = ("low", "medium", "high", "xhigh", "max")
_AS_GIVEN = ("max_tokens", "temperature", "top_p")
_CHOICES: Mapping[str, str] = {"auto": "auto", "any": "required", "none": "none"}
_KINDS = {choice: kind for kind, choice in _CHOICES.items()}


def read(body: Body) -> dict[str, Any]:
    """Return the settings as fields of `ModelRequest`."""
    return {
        "model": bodies.name(body.get("model"), "model"),
        "stop": tuple(bodies.listing(body.get("stop_sequences"), "stop_sequences")),
        "reasoning_effort": _effort(body),
        "tool_choice": _tool_choice(body.get("tool_choice")),
        "response_format": _response_format(body),
        **{key: body.get(key) for key in _AS_GIVEN},
    }


def written(request: ModelRequest) -> Body:
    """Return the settings of a request, as far as the dialect has them."""
    return {"model": request.model, **settings_of(request, with_setting)}


def with_setting(body: Body, name: str, value: Any) -> Body:
    """Return the body with one setting changed, or removed for None; unchanged if the dialect has no such setting."""
    if name in _AS_GIVEN:
        return with_value(body, (name,), value)
    if name == "name":
        return with_value(body, ("model",), value) if value else body
    if name == "stop":
        return with_value(body, ("stop_sequences",), list(value or ()) or None)
    if name == "reasoning_effort":
        return _with_effort(body, value)
    if name == "tool_choice":
        return _with_tool_choice(body, value)
    return _with_response_format(body, value) if name == "response_format" else body


def _output(body: Body) -> Mapping[str, Any]:
    return bodies.mapping(body.get("output_config") or {}, "output_config")


def _thinks_not(body: Body) -> bool:
    thinking = body.get("thinking")
    return isinstance(thinking, dict) and thinking.get("type") == "disabled"


def _effort(body: Body) -> Any:
    """Return the effort; `none` where thinking is turned off and no effort is set."""
    effort = _output(body).get("effort")
    return "none" if effort is None and _thinks_not(body) else effort


def _with_effort(body: Body, effort: Any) -> Body:
    """Set the effort; a budget of thinking tokens changes only where thinking is turned off."""
    if effort == "none":
        quiet = with_value(body, ("output_config", "effort"), None)
        return with_value(quiet, ("thinking",), {"type": "disabled"})
    if effort is not None and effort not in EFFORTS:
        return body
    if _effort(body) == "none":
        body = with_value(body, ("thinking",), None)
    return with_value(body, ("output_config", "effort"), effort)


def _tool_choice(choice: Any) -> Any:
    if choice is None:
        return None
    found = bodies.mapping(choice, "tool_choice")
    if found.get("type") == "tool":
        named = bodies.name(found.get("name"), "tool_choice.name")
        return choice_of(named)
    kind = bodies.name(found.get("type"), "tool_choice.type")
    return _CHOICES.get(kind, kind)


def _with_tool_choice(body: Body, choice: Any) -> Body:
    if choice is None:
        return with_value(body, ("tool_choice",), None)
    wanted = _wanted(choice)
    if wanted is None:
        return body
    now = body.get("tool_choice")
    kept = now if isinstance(now, dict) and wanted["type"] != "none" else {}
    others = {key: value for key, value in kept.items() if key not in ("type", "name")}
    return {**body, "tool_choice": {**wanted, **others}}


def _wanted(choice: Any) -> dict[str, Any] | None:
    if named := named_tool(choice):
        return {"type": "tool", "name": named}
    kind = _KINDS.get(choice) if isinstance(choice, str) else None
    return None if kind is None else {"type": kind}


def _response_format(body: Body) -> Any:
    found = _output(body).get("format", body.get("output_format"))  # its name in the beta
    if found is None:
        return None
    schema = bodies.mapping(found, "output_config.format").get("schema")
    return {"type": "json_schema", "json_schema": {"schema": schema}}


def _with_response_format(body: Body, wanted: Any) -> Body:
    """Return the body with the schema of the response; the dialect has nothing like `json_object`."""
    path = ("output_format",) if "output_format" in body else ("output_config", "format")
    if wanted is None:
        return with_value(body, path, None)
    named = wanted_schema(wanted)
    if named is None:
        return body
    return with_value(body, path, {"type": "json_schema", "schema": named["schema"]})
