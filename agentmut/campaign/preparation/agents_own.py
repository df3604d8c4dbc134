"""The places of parts that no file of the project names: lines of the user's files, or the agent's module."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from agentmut.nouns import AgentConfig, Sources, is_set
from agentmut.project import Project, prompt_parts_of


def with_agents_own(project: Project, config: AgentConfig) -> Sources:
    """Return the project's sources, completed for the parts that only the built agent has.

    A prompt of the built agent stands on the lines of the user's files that hold it. For other parts the place is the
    agent's module.
    """
    sources = _with_prompt(project, config)
    module = _module(project)
    if module is None:
        return sources
    flow = project.agent.factory is not None  # else it is the adapter's own loop
    own = dict.fromkeys(_unsaid(project.config, config, flow), module)
    return sources.model_copy(update={"recorded": {**own, **sources.recorded}})


def _with_prompt(project: Project, config: AgentConfig) -> Sources:
    sources = project.sources
    if project.config.prompt or not config.prompt or sources.prompt_parts:
        return sources
    return sources.model_copy(update={"prompt_parts": prompt_parts_of(config.prompt, project.root)})


def _module(project: Project) -> str | None:
    """Return the file of the function that builds or is the agent, if the file belongs to the project."""
    spec = project.agent
    named = (spec.factory or spec.run or spec.functions or "").partition(":")[0]
    inside = PurePosixPath(*named.split("."))
    found = (inside.with_suffix(".py"), inside / "__init__.py") if named.strip(".") else ()
    return next((str(file) for file in found if (project.root / file).is_file()), None)


def _unsaid(stated: AgentConfig, config: AgentConfig, flow: bool) -> Iterator[str]:
    if not stated.prompt and config.prompt:
        yield "prompt"
    if not stated.tools and config.tools:
        yield "tools"
    for name, value in config.model:
        if is_set(value) and not is_set(getattr(stated.model, name)):
            yield f"model/{name}"
    if flow:
        yield from (
            f"orchestration/{name}" for name in config.orchestration.keys() - stated.orchestration.keys()
        )
