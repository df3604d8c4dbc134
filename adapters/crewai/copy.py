"""A copy of a CrewAI crew that is what the crew is: `Crew.copy` by itself loses some of it."""

from typing import Any

from crewai import Agent, Crew, Task

_OF_CREWS = ("planning_llm", "function_calling_llm", "chat_llm")
_OF_AGENTS = ("mcps", "apps", "function_calling_llm", "planning_config")
"""What is left out, or becomes a model of another class when it is dumped: copies have the same ones."""


def copy_of(crew: Crew) -> Crew:
    """The copy; nothing of the crew itself is touched. Raises what `Crew.copy` does."""
    models = {name: getattr(crew, name) for name in _OF_CREWS if getattr(crew, name, None) is not None}
    bare = crew.model_copy(update=dict.fromkeys(models))
    copied: Crew = bare.copy()
    _give(copied, models)
    for agent, other in zip(_agents(crew), _agents(copied), strict=True):
        _give(other, {name: getattr(agent, name) for name in _OF_AGENTS if hasattr(agent, name)})
    others = {id(task): other for task, other in zip(crew.tasks, copied.tasks, strict=True)}
    for task in crew.tasks:
        if isinstance(task.context, list):  # `copy` tells tasks apart by their texts
            others[id(task)].context = [_other(one, others) for one in task.context]
    return copied


def _agents(crew: Crew) -> list[Agent]:
    return [*crew.agents, *filter(None, [crew.manager_agent])]


def _other(task: Task, others: dict[int, Task]) -> Task:
    return others.get(id(task), task)


def _give(copied: Any, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(copied, name, value)
