"""JSON as users write it, read with errors that name the place."""

import json
import math
import re
from typing import Any

from agentmut._base.errors import ProjectError


def parse_json(text: str, label: str) -> Any:
    """Return a JSON value. Raises `ProjectError`."""
    try:
        return json.loads(text, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError) as error:
        raise ProjectError(f"{label} is not JSON: {error}") from None


_NOT_JSON = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=(?:\s|//[^\n]*|/\*.*?\*/)*[}\]])', re.DOTALL
)
"""A text, or what JSON with comments has beyond JSON: a comment, and a comma behind the last item."""


def without_comments(text: str) -> str:
    """Return JSON with comments as JSON, with all else on its line.

    >>> without_comments('{"a": "// kept", /* gone */ "b": [1, 2,], // gone\\n}')
    '{"a": "// kept",  "b": [1, 2] \\n}'
    """
    return _NOT_JSON.sub(_kept, text)


def _kept(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith('"') else "\n" * found[0].count("\n")


def _finite(written: str) -> float:
    value = float(written)
    if not math.isfinite(value):
        raise ValueError(f"{written} is not a number that can be used here")
    return value
