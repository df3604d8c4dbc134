"""Models of the OpenAI Agents SDK and their settings, as a config has them."""

import copy
from dataclasses import replace
from typing import Any

from agents import Agent, ModelSettings
from agents.models import get_default_model
from openai.types.shared import Reasoning

from agentmut._base import AdapterError
from agentmut.adapters._shared.change import Change
from agentmut.nouns import ModelConfig

_SAME = ("temperature", "top_p", "max_tokens", "tool_choice")


def model_of(agent: Agent[Any]) -> ModelConfig:
    """Name and settings. The name is empty for a model object that tells none."""
    settings = agent.model_settings
    said = {name: getattr(settings, name) for name in _SAME}
    if not isinstance(said["tool_choice"], str | None):
        said["tool_choice"] = None
    effort = settings.reasoning.effort if settings.reasoning else None
    return ModelConfig(provider="openai", name=_name(agent.model), reasoning_effort=effort, **said)


def changed_model(agent: Agent[Any], change: Change) -> dict[str, Any]:
    """What becomes of an agent's model and settings. Raises `AdapterError` for a model that has no name to change."""
    settings = dict(change.model)
    settings.pop("provider", None)
    changes: dict[str, Any] = {}
    if name := settings.pop("name", None):
        changes["model"] = _renamed(agent.model, name)
    if settings:
        changes["model_settings"] = _with_settings(agent.model_settings, settings)
    elif changes:
        changes["model_settings"] = agent.model_settings  # else the SDK takes those of the new model
    return changes


def _with_settings(before: ModelSettings, settings: dict[str, Any]) -> ModelSettings:
    changes = {name: value for name, value in settings.items() if name in _SAME}
    if "reasoning_effort" in settings:
        effort = settings["reasoning_effort"]
        changes["reasoning"] = Reasoning(effort=effort) if effort else None
    return replace(before, **changes)


def _name(model: Any) -> str:
    if model is None:
        return get_default_model()
    name = model if isinstance(model, str) else getattr(model, "model", "")
    return name if isinstance(name, str) else ""


def _renamed(model: Any, name: str) -> Any:
    """Return the model under another name; a model with its own client keeps the client."""
    if model is None or isinstance(model, str):
        return name
    if not _name(model):
        raise AdapterError(
            f"the model of the agent, a {type(model).__name__}, has no attribute `model` with its name, so that "
            f"it cannot become {name}"
        )
    renamed = copy.copy(model)
    renamed.model = name
    return renamed
