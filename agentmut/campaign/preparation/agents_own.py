"""The places of parts that no file of the project names: the module that the agent was read from."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from agentmut.nouns import AgentConfig, Sources, is_set
from agentmut.project import Project


def with_agents_own(project: Project, config: AgentConfig) -> Sources:
    """Return the project's sources, with the agent's module for the parts that only the built agent has."""
    module = _module(project)
    if module is None:
        return project.sources
    flow = project.agent.factory is not None  # else it is the adapter's own loop
    own = dict.fromkeys(_unsaid(project.config, config, flow), module)
    return project.sources.model_copy(update={"recorded": {**own, **project.sources.recorded}})


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
