"""Faithful copies of a CrewAI crew and its models; `Crew.copy` by itself loses parts."""

import copy
from typing import Any

from crewai import Agent, Crew

from agentmut.nouns import ModelConfig, is_set

_OF_CREWS = ("planning_llm", "function_calling_llm", "chat_llm")
_OF_AGENTS = ("mcps", "apps", "function_calling_llm", "planning_config")
"""What is left out, or becomes a model of another class when it is dumped: copies have the same ones."""


def copy_of(crew: Crew) -> Crew:
    """Return the copy; nothing of the crew itself is touched. Raises what `Crew.copy` does."""
    models = {name: getattr(crew, name) for name in _OF_CREWS if getattr(crew, name, None) is not None}
    bare = crew.model_copy(update=dict.fromkeys(models))
    copied: Crew = bare.copy()
    _give(copied, models)
    for agent, other in zip(_agents(crew), _agents(copied), strict=True):
        _give(other, {name: getattr(agent, name) for name in _OF_AGENTS if hasattr(agent, name)})
    others = {id(task): other for task, other in zip(crew.tasks, copied.tasks, strict=True)}
    for task in crew.tasks:
        if isinstance(task.context, list):  # `copy` tells tasks apart by their texts
            others[id(task)].context = [others.get(id(one), one) for one in task.context]
    return copied


def _agents(crew: Crew) -> list[Agent]:
    return [*crew.agents, *filter(None, [crew.manager_agent])]


def _give(copied: Any, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(copied, name, value)


SETTINGS = ("temperature", "top_p", "max_tokens", "seed", "reasoning_effort")
OTHER_LIMIT = "max_completion_tokens"
_OF_THE_NAME = {"is_o1_model": "o1", "is_gpt4_model": "gpt-4"}
"""What CrewAI's models know of their name, and set when they are made."""


def model_of(llm: Any) -> ModelConfig:
    """Return the name and settings of a model; empty where CrewAI or the service chooses."""
    said = {name: getattr(llm, name, None) for name in SETTINGS}
    said["max_tokens"] = getattr(llm, _limit_of(llm), None)
    told = {name: value for name, value in said.items() if is_set(value)}
    return ModelConfig(provider=getattr(llm, "provider", None), name=llm.model, **told)


def changed_model(llm: Any, changes: dict[str, Any]) -> Any:
    """Return a copy of a model with changed settings, which has the client of the first."""
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
    """Return the model's name for its token limit."""
    return OTHER_LIMIT if getattr(llm, OTHER_LIMIT, None) else "max_tokens"
