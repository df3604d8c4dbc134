"""What a session takes from a suite of another tool: its scenarios, its rule for verdicts, and its adapter."""

from collections.abc import Callable

from agentmut._base import PluginError, UsageError
from agentmut.project import Project
from agentmut.seams import (
    Adapter,
    Catalogue,
    Group,
    Importer,
    SetsRule,
    SuiteRule,
    SuiteSpec,
    missing_attributes,
)
from agentmut.trial import routed


def imported_suite(project: Project) -> Importer | None:
    """The suite of another tool that the project measures. Raises `UsageError`."""
    spec = project.imported
    if spec is None:
        return None
    make: Callable[[SuiteSpec], Importer] = Catalogue.of(Group.IMPORTERS).load(spec.kind).create
    return make(spec.model_copy(update={"config": project.config}))


def agents_adapter(project: Project, importer: Importer | None) -> Adapter:
    """What runs the agent: the adapter of the suite where it has one, else that of the project. Raises `UsageError`."""
    if importer is not None and (own := importer.adapter(project.agent, project.config)) is not None:
        return routed(own, project.agent)
    if importer is not None and project.agent.adapter == importer.name:
        raise UsageError(f"agent.adapter is missing: a suite of {importer.name} needs an agent that runs it")
    make: Callable[..., Adapter] = Catalogue.of(Group.ADAPTERS).load(project.agent.adapter).create
    made = make(project.agent, project.config)
    if faults := "; ".join(missing_attributes(made)):
        raise PluginError(f"adapter {project.agent.adapter!r}: {faults}. Set it when the adapter is made.")
    return routed(made, project.agent)


def with_suite(project: Project, importer: Importer | None) -> Project:
    """The project with the scenarios of the suite that it measures, and what that says of verdicts."""
    if importer is not None and not project.scenarios:  # a worker process is told them
        project = project.model_copy(update={"scenarios": importer.scenarios()})
    return ruled(project, importer.rule) if isinstance(importer, SetsRule) else project


def ruled(project: Project, rule: SuiteRule) -> Project:
    """The project with what its suite says of verdicts, where the project file says nothing."""
    places = {
        "trials": ("test", "trials"),
        "correction": ("test", "correction"),
        "alpha": ("statistics", "alpha"),
        "timeout": ("execution", "timeout"),
    }
    for name, (section, key) in places.items():
        value, settings = getattr(rule, name), getattr(project, section)
        if value is None or key in settings.model_fields_set:
            continue
        changed = type(settings).model_validate(settings.model_dump(exclude_unset=True) | {key: value})
        project = project.model_copy(update={section: changed})
    return project
