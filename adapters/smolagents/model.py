"""Models of smolagents: their names, and the settings that they send, read and changed."""

import copy
from collections.abc import Mapping
from typing import Any

from smolagents import (
    InferenceClientModel,
    LiteLLMModel,
    LiteLLMRouterModel,
    Model,
    MultiStepAgent,
    OpenAIModel,
)
from smolagents.models import REMOVE_PARAMETER

from agentmut.adapters._shared.framework import dropped
from agentmut.nouns import ModelConfig

_LIKE_OPENAI = (OpenAIModel, InferenceClientModel, LiteLLMModel, LiteLLMRouterModel)
"""Whose requests have the settings under OpenAI's names."""
_SAME = ("temperature", "top_p", "seed", "reasoning_effort", "tool_choice")
_LIMITS = ("max_completion_tokens", "max_tokens")


def has_settings(model: Model) -> bool:
    """Return whether the model is known to send its settings unchanged."""
    return isinstance(model, _LIKE_OPENAI)


def model_of(agent: MultiStepAgent) -> ModelConfig:
    """Return the model's name and settings; empty where smolagents or the service decides."""
    model = agent.model
    said = {name: _set_value(model, name) for name in _SAME} if has_settings(model) else {}
    return ModelConfig(
        provider="openai" if isinstance(model, OpenAIModel) else None,
        name=str(getattr(model, "model_id", "") or ""),
        max_tokens=_set_value(model, _limit(model)) if has_settings(model) else None,
        **said,
    )


def changed_model(model: Model, changes: Mapping[str, Any]) -> Model:
    """Return a copy with other settings and the same client."""
    settings = {name: value for name, value in changes.items() if name not in ("name", "provider")}
    found = copy.copy(model)
    if changes.get("name"):
        found.model_id = changes["name"]
    found.kwargs = dict(model.kwargs)
    for name, value in settings.items():
        key = _limit(model) if name == "max_tokens" else name
        found.kwargs[key] = REMOVE_PARAMETER if dropped(value) else value
    return found


def _limit(model: Model) -> str:
    return next((name for name in _LIMITS if name in model.kwargs), _LIMITS[-1])


def _set_value(model: Model, name: str) -> Any:
    value = model.kwargs.get(name)
    return None if value is REMOVE_PARAMETER else value
