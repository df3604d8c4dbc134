"""JSON as users write it, read with errors that name the place."""

import json
import math
from typing import Any

from agentmut._base.errors import ProjectError


def parse_json(text: str, label: str) -> Any:
    """Return a JSON value. Raises `ProjectError`."""
    try:
        return json.loads(text, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError) as error:
        raise ProjectError(f"{label} is not JSON: {error}") from None


def _finite(written: str) -> float:
    value = float(written)
    if not math.isfinite(value):
        raise ValueError(f"{written} is not a number that can be used here")
    return value
