"""Settings of a model, as the files of other tools write them."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from agentmut._base import ProjectError, first_fault
from agentmut.nouns import ModelConfig

_SAME = {
    "max_output_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "maxOutputTokens": "max_tokens",
    "topP": "top_p",
    "stop_sequences": "stop",
    "stopSequences": "stop",
}
_TEMPLATE = ("{{", "${")


def model_of(name: Any, settings: Mapping[str, Any] | None, where: str) -> ModelConfig:
    """Return the model with those of the settings that agentmut knows. Values that are templates are left out.

    Raises `ProjectError`, which begins with `where`, for a value that no model takes.
    """
    given = {_SAME.get(key, key): value for key, value in (settings or {}).items()}
    known = ModelConfig.model_fields.keys() - {"name", "provider"}
    used = {key: value for key, value in given.items() if key in known and _is_given(value)}
    if isinstance(used.get("stop"), str):
        used["stop"] = (used["stop"],)
    try:
        return ModelConfig(name=name if _is_given(name) and isinstance(name, str) else "", **used)
    except ValidationError as error:
        fault = first_fault(error)
        raise ProjectError(f"{where}: {fault.with_value()}. Correct the value.") from None


def _is_given(value: Any) -> bool:
    return value is not None and not (isinstance(value, str) and any(mark in value for mark in _TEMPLATE))
