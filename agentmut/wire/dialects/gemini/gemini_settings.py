"""Model settings of Gemini, converted to and from the normal form."""

from collections.abc import Mapping
from typing import Any

from agentmut.nouns import Body
from agentmut.wire import bodies
from agentmut.wire.dialects.edits import choice_of, named_tool, wanted_schema, with_value
from agentmut.wire.dialects.gemini.gemini_tools import is_upper, normalised, written_like
from agentmut.wire.dialects.gemini.spelling import get, used, used_path
from agentmut.wire.dialects.offers import is_among
from agentmut.wire.dialects.places import at

EFFORTS = ("minimal", "low", "medium", "high", "xhigh")
_JSON = "application/json"
_NUMBERS: Mapping[str, str] = {
    "temperature": "temperature",
    "top_p": "topP",
    "max_tokens": "maxOutputTokens",
    "seed": "seed",
}
_MODES: Mapping[str, str] = {"AUTO": "auto", "VALIDATED": "auto", "ANY": "required", "NONE": "none"}
_WRITTEN_MODES: Mapping[str, str] = {"auto": "AUTO", "required": "ANY", "none": "NONE"}
_CALLING = ("toolConfig", "functionCallingConfig")


def read(body: Body) -> dict[str, Any]:
    """Return the settings as fields of `ModelRequest`."""
    config = bodies.mapping(get(body, "generationConfig") or {}, "generationConfig")
    stops = bodies.listing(get(config, "stopSequences"), "generationConfig.stopSequences")
    return {
        "stop": tuple(stops),
        "reasoning_effort": _effort(config),
        "tool_choice": _tool_choice(body),
        "response_format": _response_format(config),
        **{name: get(config, key) for name, key in _NUMBERS.items()},
    }


def with_setting(body: Body, name: str, value: Any) -> Body:
    """Return the body with one setting changed, or removed for None; unchanged if the dialect has no such setting."""
    if name in _NUMBERS:
        return _with_setting(body, _NUMBERS[name], value)
    if name == "stop":
        return _with_setting(body, "stopSequences", list(value or ()) or None)
    if name == "reasoning_effort":
        return _with_effort(body, value)
    if name == "tool_choice":
        return _with_tool_choice(body, value)
    return _with_response_format(body, value) if name == "response_format" else body


def without_choice(body: Body) -> Body:
    """Return the body without a tool choice; the other tool settings stay."""
    return with_value(body, used_path(body, _CALLING), None)


def without_names(body: Body, gone: set[str]) -> Body:
    """Return the body with a choice that does not name tools that are not on offer any more."""
    path = used_path(body, (*_CALLING, "allowedFunctionNames"))
    names = _at(body, path)
    if not isinstance(names, list) or not any(is_among(name, gone) for name in names):
        return body
    kept = [name for name in names if not is_among(name, gone)]
    return with_value(body, path, kept) if kept else without_choice(body)


def _with_setting(body: Body, key: str, value: Any) -> Body:
    return with_value(body, used_path(body, ("generationConfig", *key.split("."))), value)


def _at(body: Body, path: tuple[str, ...]) -> Any:
    try:
        return at(body, path)
    except ValueError:
        return None


def _effort(config: Mapping[str, Any]) -> Any:
    """Return the thinking level; `none` for a budget of 0 tokens, and no level for any other budget."""
    thinking = bodies.mapping(get(config, "thinkingConfig") or {}, "generationConfig.thinkingConfig")
    level = bodies.text(get(thinking, "thinkingLevel"), "generationConfig.thinkingConfig.thinkingLevel")
    none = "none" if get(thinking, "thinkingBudget") == 0 else None
    return level.lower() or none


def _with_effort(body: Body, effort: Any) -> Body:
    """Set the thinking level and remove the budget, since they exclude each other."""
    level, budget = "thinkingConfig.thinkingLevel", "thinkingConfig.thinkingBudget"
    if effort == "none":
        return _with_setting(_with_setting(body, level, None), budget, 0)
    if effort is not None and effort not in EFFORTS:
        return body
    before = _at(body, used_path(body, ("generationConfig", *level.split("."))))
    if effort is not None or _at(body, used_path(body, ("generationConfig", *budget.split(".")))) == 0:
        body = _with_setting(body, budget, None)
    shouted = isinstance(before, str) and before.isupper()
    return _with_setting(body, level, effort.upper() if effort and shouted else effort)


def _tool_choice(body: Body) -> Any:
    tool_config = bodies.mapping(get(body, "toolConfig") or {}, "toolConfig")
    config = bodies.mapping(
        get(tool_config, "functionCallingConfig") or {}, "toolConfig.functionCallingConfig"
    )
    mode = bodies.text(config.get("mode"), "toolConfig.functionCallingConfig.mode").upper()
    where = "toolConfig.functionCallingConfig.allowedFunctionNames"
    names = [bodies.name(n, where) for n in bodies.listing(get(config, "allowedFunctionNames"), where)]
    tools = [choice_of(name) for name in names]
    if mode == "ANY" and len(tools) == 1:
        return tools[0]
    if mode == "ANY" and tools:
        return {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": tools}}
    return _MODES.get(mode)


def _with_tool_choice(body: Body, choice: Any) -> Body:
    if choice is None:
        return without_choice(body)
    mode, names = _wanted(choice)
    if mode is None:
        return body
    path = used_path(body, _CALLING)
    now = _at(body, path)
    config = dict(now) if isinstance(now, dict) else {}
    config = {**config, "mode": mode, used(config, "allowedFunctionNames"): names}
    return with_value(body, path, {key: value for key, value in config.items() if value is not None})


def _wanted(choice: Any) -> tuple[str | None, list[str] | None]:
    if isinstance(choice, str):
        return _WRITTEN_MODES.get(choice), None
    found = choice if isinstance(choice, dict) else {}
    allowed = found.get("allowed_tools")
    tools = allowed.get("tools") if isinstance(allowed, dict) else [found]
    names = [name for tool in tools or () if (name := named_tool(tool))]
    return ("ANY", names) if names else (None, None)


def _schema_key(config: Mapping[str, Any]) -> str | None:
    keys = (used(config, "responseSchema"), used(config, "responseJsonSchema"))
    return next((key for key in keys if config.get(key) is not None), None)


def _response_format(config: Mapping[str, Any]) -> Any:
    if get(config, "responseMimeType") != _JSON:
        return None
    key = _schema_key(config)
    if key is None:
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"schema": normalised(config[key])}}


def _with_response_format(body: Body, wanted: Any) -> Body:
    kind = wanted.get("type") if isinstance(wanted, dict) else None
    if wanted is not None and kind not in ("json_object", "json_schema"):
        return body
    schema = (wanted_schema(wanted) or {}).get("schema")
    config = get(body, "generationConfig")
    key = (_schema_key(config) if isinstance(config, dict) else None) or "responseJsonSchema"
    old = config.get(key) if isinstance(config, dict) else None
    body = _with_setting(body, "responseMimeType", None if wanted is None else _JSON)
    new = None if schema is None else written_like(old, schema, upper=is_upper(old))
    return with_value(body, (used(body, "generationConfig"), key), new)
