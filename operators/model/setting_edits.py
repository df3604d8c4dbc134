"""Edits of one setting of the model, and what services take."""

from typing import Any

from agentmut.nouns import AgentConfig, Candidate, Edit, ModelConfig
from agentmut.seams import Example


def model_example(before: ModelConfig, after: ModelConfig) -> Example:
    """Return an example of a config with nothing but a model."""
    return Example(AgentConfig(model=before), AgentConfig(model=after))


def changed(config: AgentConfig, key: str, after: Any, description: str) -> Candidate:
    """Return a candidate that sets, changes or (with None) unsets one setting."""
    before = config.model.model_dump(mode="json")[key]
    edit = Edit(pointer=f"/model/{key}", before=before, after=after)
    return Candidate(edits=(edit,), description=description, anchor=f"model.{key}")


def may_set(config: AgentConfig) -> bool:
    """Return whether a sampling setting that is unset may be given a value.

    Not where the project file says nothing of its model, and not for one that reasons: services refuse
    temperature, top_p and stop sequences there.
    """
    return bool(config.model.name) and config.model.reasoning_effort is None


def is_claude(config: AgentConfig) -> bool:
    """Return whether a model is Anthropic's: temperature up to 1, and no blank stop sequences."""
    return config.model.provider == "anthropic" or "claude" in config.model.name.lower()
