"""Compare JSON values and show them."""

import json
from typing import Any

from pydantic import JsonValue

from agentmut.nouns import AgentTrace

SHOWN = 160


def same_json(left: JsonValue, right: JsonValue) -> bool:
    """Return whether two JSON values are equal: 1 equals 1.0, but true does not equal 1.

    >>> same_json({"n": 1}, {"n": 1.0}), same_json(True, 1)
    (True, False)
    """
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same_json(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_json, left, right))
    return isinstance(left, bool) is isinstance(right, bool) and left == right


def structured(trace: AgentTrace) -> JsonValue:
    """Return the output as JSON: parsed if it is text, else unchanged. Raise `ValueError`."""
    output = trace.output
    if not isinstance(output, str):
        return output
    try:
        parsed: JsonValue = json.loads(output, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise ValueError(f"the output is not JSON: {shown(output)}") from None
    return parsed


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def written_json(value: JsonValue) -> str:
    """Return JSON that is the same text for the same value. Unlike canonical JSON it can write infinity.

    >>> written_json({"b": 1, "a": [None]})
    '{"a": [null], "b": 1}'
    """
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def as_text(value: JsonValue) -> str:
    """Return text unchanged, and anything else as JSON.

    >>> as_text("A-1"), as_text(12.5), as_text(True)
    ('A-1', '12.5', 'true')
    """
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def shown(value: JsonValue) -> str:
    """Return a value for a reason: text in quotes, anything else as JSON, cut to one readable line.

    >>> shown("ok"), shown({"a": None})
    ("'ok'", '{"a": null}')
    """
    rendered = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return rendered if len(rendered) <= SHOWN else f"{rendered[: SHOWN - 3]}..."
