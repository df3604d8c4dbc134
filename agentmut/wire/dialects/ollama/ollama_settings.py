"""Model settings of Ollama, most of them in `options`, converted to and from the normal form."""

from collections.abc import Mapping
from typing import Any

from agentmut.nouns import Body
from agentmut.wire import bodies
from agentmut.wire.dialects.edits import wanted_schema, with_value
from agentmut.wire.dialects.places import same

_OPTIONS: Mapping[str, str] = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_tokens": "num_predict",
    "seed": "seed",
}
_EFFORTS: Mapping[str, str | bool] = {"none": False, "low": "low", "medium": "medium", "high": "high"}


def read(body: Body) -> dict[str, Any]:
    """Return the settings as fields of `ModelRequest`."""
    options = bodies.mapping(body.get("options") or {}, "options")
    numbers = {name: options.get(key) for name, key in _OPTIONS.items()}
    return {
        **numbers,
        "max_tokens": _limit(numbers["max_tokens"]),
        "stop": _stops(options.get("stop")),
        "reasoning_effort": _effort(body.get("think")),
        "response_format": _format(body.get("format")),
    }


def with_setting(body: Body, name: str, value: Any) -> Body:
    """Return the body with one setting changed, or removed for None; unchanged if the dialect has no such setting."""
    if name == "name":
        return with_value(body, ("model",), value) if value else body
    if name in _OPTIONS:
        return with_value(body, ("options", _OPTIONS[name]), value)
    if name == "stop":
        return _with_stops(body, tuple(value or ()))
    if name == "reasoning_effort" and (value is None or value in _EFFORTS):
        return with_value(body, ("think",), None if value is None else _EFFORTS[value])
    return _with_format(body, value) if name == "response_format" else body


def _limit(count: Any) -> Any:
    """Return the most tokens of a reply; the service takes negative numbers for no limit."""
    return None if isinstance(count, int) and not isinstance(count, bool) and count < 0 else count


def _stops(value: Any) -> tuple[str, ...]:
    found = [value] if isinstance(value, str) else bodies.listing(value, "options.stop")
    return tuple(bodies.text(sequence, "options.stop") for sequence in found)


def _with_stops(body: Body, stops: tuple[str, ...]) -> Body:
    options = body.get("options")
    if isinstance(options, dict) and _stops(options.get("stop")) == stops:
        return body
    return with_value(body, ("options", "stop"), list(stops) or None)


def _effort(think: Any) -> str | None:
    """Return the effort; `true` leaves it to the model."""
    return next((name for name, said in _EFFORTS.items() if think is not None and same(think, said)), None)


def _format(wanted: Any) -> Any:
    if wanted in (None, "", "json"):
        return {"type": "json_object"} if wanted else None
    return {"type": "json_schema", "json_schema": {"schema": bodies.mapping(wanted, "format")}}


def _with_format(body: Body, wanted: Any) -> Body:
    if wanted is None:
        return with_value(body, ("format",), None)
    named = wanted_schema(wanted)
    if named is not None:
        return with_value(body, ("format",), named["schema"])
    is_json = isinstance(wanted, dict) and wanted.get("type") == "json_object"
    return with_value(body, ("format",), "json") if is_json else body
