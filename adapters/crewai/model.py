"""The model of a CrewAI agent: read, and copied with changes."""

import copy
from typing import Any

from agentmut.nouns import ModelConfig, is_set

SETTINGS = ("temperature", "top_p", "max_tokens", "seed", "reasoning_effort")
OTHER_LIMIT = "max_completion_tokens"
_OF_THE_NAME = {"is_o1_model": "o1", "is_gpt4_model": "gpt-4"}
"""What CrewAI's models know of their name, and set when they are made."""


def model_of(llm: Any) -> ModelConfig:
    """The name and settings of a model; empty where CrewAI or the service chooses."""
    said = {name: getattr(llm, name, None) for name in SETTINGS}
    said["max_tokens"] = getattr(llm, _limit_of(llm), None)
    told = {name: value for name, value in said.items() if is_set(value)}
    return ModelConfig(provider=getattr(llm, "provider", None), name=llm.model, **told)


def changed_model(llm: Any, changes: dict[str, Any]) -> Any:
    """A copy of a model with changed settings, which has the client of the first."""
    changed = copy.copy(llm)
    for key, value in changes.items():
        if key != "provider":
            name = {"name": "model", "max_tokens": _limit_of(llm)}.get(key, key)
            setattr(changed, name, value if is_set(value) else None)
    for flag, word in _OF_THE_NAME.items():
        if hasattr(changed, flag):
            setattr(changed, flag, word in changed.model.lower())
    return changed


def _limit_of(llm: Any) -> str:
    """The name under which the model has its limit of tokens."""
    return OTHER_LIMIT if getattr(llm, OTHER_LIMIT, None) else "max_tokens"
