"""Settings of a model as ADK has them, in a `GenerateContentConfig`, to and from those of a config.

They are read and written in the terms of a Gemini request, for which agentmut has the words.
"""

from collections.abc import Mapping
from typing import Any

from google.genai.types import GenerateContentConfig

from agentmut.nouns import is_set
from agentmut.wire.dialects.gemini import gemini_settings

SETTINGS = frozenset(
    {
        "temperature",
        "top_p",
        "max_tokens",
        "seed",
        "stop",
        "reasoning_effort",
        "tool_choice",
        "response_format",
    }
)
"""By their names in `ModelConfig`."""
_FIELDS = frozenset(
    {
        "temperature", "top_p", "max_output_tokens", "seed", "stop_sequences", "thinking_config",
        "response_mime_type", "response_schema", "response_json_schema", "tool_config",
    }
)  # fmt: skip
"""By their names in `GenerateContentConfig`."""


def settings_of(config: GenerateContentConfig | None) -> dict[str, Any]:
    """What an agent sets."""
    return {name: value for name, value in gemini_settings.read(_body(config)).items() if is_set(value)}


def with_settings(config: GenerateContentConfig | None, settings: Mapping[str, Any]) -> GenerateContentConfig:
    """A copy with these settings; None or empty: without."""
    body = _body(config)
    for name, value in settings.items():
        body = gemini_settings.with_setting(body, name, value if is_set(value) else None)
    fresh = GenerateContentConfig.model_validate(
        {**body.get("generationConfig", {}), "toolConfig": body.get("toolConfig")}
    )
    before = config or GenerateContentConfig()
    return before.model_copy(update={name: getattr(fresh, name) for name in _FIELDS})


def _body(config: GenerateContentConfig | None) -> dict[str, Any]:
    """The part of a request that the settings would be."""
    if config is None:
        return {}
    told = config.model_dump(mode="json", by_alias=True, exclude_none=True, include=set(_FIELDS))
    choice = told.pop("toolConfig", None)
    return {"generationConfig": told, **({"toolConfig": choice} if choice else {})}
