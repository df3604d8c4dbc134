"""The parts of a session that come from another tool's suite: scenarios, the rule for verdicts, and the adapter."""

from collections.abc import Callable, Mapping
from typing import Literal

from agentmut._base import PluginError, UsageError
from agentmut.nouns import AgentConfig, Scenario
from agentmut.project import Project
from agentmut.seams import (
    Adapter,
    AgentSpec,
    Catalogue,
    ChoosesRoute,
    Group,
    Importer,
    RunsOutside,
    SetsRule,
    SuiteRule,
    SuiteSpec,
    attribute_faults,
    capability_faults,
    from_plugin,
    run_plugin,
)
from agentmut.trial import on_model, routed


def imported_suite(project: Project) -> Importer | None:
    """Return the suite of another tool that the project measures. Raises `UsageError`."""
    spec = project.imported
    if spec is None:
        return None
    make: Callable[[SuiteSpec], Importer] = Catalogue.from_group(Group.IMPORTERS).load(spec.kind).create
    what = f"importer {spec.kind!r}: create()"
    made: Importer = run_plugin(what, lambda: make(spec.model_copy(update={"config": project.config})))
    if made is None:
        raise PluginError(f"{what} returned None; expected an importer. Fix the plugin.")
    return made


def agents_adapter(project: Project, importer: Importer | None) -> Adapter:
    """Return the adapter that runs the agent: the suite's where it has one, else the project's.

    Raises `UsageError`.
    """
    if importer is not None and (own := _suites_adapter(project, importer)) is not None:
        return _on_model(_sound(own, project.agent), project)
    if importer is not None and project.agent.adapter == importer.name:
        raise UsageError(f"agent.adapter is missing: a suite of {importer.name} needs an agent that runs it")
    make: Callable[..., Adapter] = Catalogue.from_group(Group.ADAPTERS).load(project.agent.adapter).create
    what = f"adapter {project.agent.adapter!r}: create()"
    made = _sound(from_plugin(what, Adapter, lambda: make(project.agent, project.config)), project.agent)
    return _on_model(made, project)


def _on_model(made: Adapter, project: Project) -> Adapter:
    return on_model(made, project.model) if project.model else made


def _suites_adapter(project: Project, importer: Importer) -> Adapter | None:
    what = f"importer {importer.name!r}: adapter()"
    own = run_plugin(what, lambda: importer.adapter(project.agent, project.config))
    return None if own is None else from_plugin(what, Adapter, lambda: own)


def _sound(made: Adapter, spec: AgentSpec) -> Adapter:
    """Return the adapter for its route. Raise `PluginError` if the adapter does not keep what it declares."""
    what = f"adapter {spec.adapter!r}"
    if faults := "; ".join((*capability_faults(type(made), Group.ADAPTERS), *attribute_faults(made))):
        raise PluginError(f"{what}: {faults}. Fix {type(made).__module__}.")
    from_plugin(f"{what}: get_config()", AgentConfig, made.get_config)
    from_plugin(f"{what}: versions()", Mapping, made.versions)
    if isinstance(made, RunsOutside):
        from_plugin(f"{what}: carries", frozenset[str], lambda: made.carries)
    if isinstance(made, ChoosesRoute):
        from_plugin(f"{what}: default_route", Literal["rebuild", "wire"], lambda: made.default_route)
    return routed(made, spec)


def with_suite(project: Project, importer: Importer | None) -> Project:
    """Return the project with the scenarios of its suite and the suite's rule for verdicts."""
    if importer is not None and not project.scenarios:  # a worker process is told them
        what = f"importer {importer.name!r}: scenarios()"
        found = from_plugin(what, tuple[Scenario, ...], importer.scenarios)
        project = project.model_copy(update={"scenarios": found})
    if not isinstance(importer, SetsRule):
        return project
    return ruled(project, from_plugin(f"importer {importer.name!r}: rule", SuiteRule, lambda: importer.rule))


def ruled(project: Project, rule: SuiteRule) -> Project:
    """Return the project with its suite's rule for verdicts, where the project file has no rule."""
    places = {
        "method": ("test", "method"),
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
