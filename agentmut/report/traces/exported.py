"""A stored trial as an export sees it: ids that stay the same, and values as text."""

import hashlib

from pydantic import JsonValue

from agentmut._base import canonical_json
from agentmut.usecases import ExportedTrial


def digest_of(trial: ExportedTrial, part: str, length: int) -> str:
    """Return so many hexadecimal digits that identify a part of the trial, the same in each export of it."""
    text = f"{trial.key}/{trial.number}/{part}"
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def text_of(value: JsonValue) -> str:
    """Return a value as text: a string as it is, anything else as JSON."""
    return value if isinstance(value, str) else canonical_json(value)
