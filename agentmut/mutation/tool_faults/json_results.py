"""Results that are JSON text: their values, and the text after a change of the values."""

import json
from collections.abc import Callable
from typing import Any

Change = Callable[[Any], Any]
"""What becomes of a result, or of a part of one."""


def in_json_text(change: Change, text: str, plain: Callable[[str], str]) -> str:
    """Return a text with `change` applied to its JSON object or array, or with `plain` applied to other text."""
    value = container(text)
    if value is None:
        return plain(text)
    after = change(value)
    if after == value:
        return text
    separators = None if '": ' in text or '"' not in text else (",", ":")
    return json.dumps(
        after, ensure_ascii=False, indent=2 if "\n" in text.strip() else None, separators=separators
    )


def is_json_object(text: str) -> bool:
    """Return whether a text is a JSON object."""
    return isinstance(container(text), dict)


def container(text: str) -> Any:
    """Return the object or array in a JSON text, else None."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
