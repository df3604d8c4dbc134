"""JSON as users write it, read with errors that name the place; and JSON that is safe to print."""

import json
import math
import re
from typing import Any

from agentmut._base.errors import ProjectError

_STEERING = re.compile(
    "[\\x7f-\\x9f\\xad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\uffff"
    "\\U000e0000-\\U000e007f]"
)
"""Controls and format characters, which in JSON stand within strings only."""


def printable_json(text: str) -> str:
    r"""Return a JSON text in which characters that steer a terminal, or turn text around, are escaped.

    >>> printable_json('{"said": "a\x9b31m"}')
    '{"said": "a\\u009b31m"}'
    """
    return text if text.isascii() and "\x7f" not in text else _STEERING.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1]


def parse_json(text: str, label: str) -> Any:
    """Return a JSON value. Raises `ProjectError`."""
    try:
        return json.loads(text, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError) as error:
        raise ProjectError(f"{label} is not JSON: {error}") from None


_COMMENT = r"//[^\n]*+|/\*(?>.*?(?:\*/|\Z))"
_NOT_JSON = re.compile(
    rf'"(?:[^"\\\n]|\\.)*+"?|{_COMMENT}|,(?=(?>\s|{_COMMENT})*+[}}\]])',
    re.DOTALL,
)
"""A text, or what JSON with comments has beyond JSON: a comment, and a comma behind the last item.

What has no end goes to the end of the file, and nothing is tried twice, so the time is linear.
"""


def without_comments(text: str) -> str:
    """Return JSON with comments as JSON, with all else on its line.

    >>> without_comments('{"a": "// kept", /* gone */ "b": [1, 2,], // gone\\n}')
    '{"a": "// kept",  "b": [1, 2] \\n}'
    """
    return _NOT_JSON.sub(_without_comment, text)


def _without_comment(found: re.Match[str]) -> str:
    is_kept = found[0].startswith('"') or (found[0].startswith("/*") and not found[0].endswith("*/"))
    return found[0] if is_kept else "\n" * found[0].count("\n")


def _finite(written: str) -> float:
    value = float(written)
    if not math.isfinite(value):
        raise ValueError(f"{written} is not a number that can be used here")
    return value
