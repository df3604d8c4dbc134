"""The values of the pytest plugin's fixtures: what is under test in a campaign, else the unchanged project."""

from pathlib import Path
from typing import NoReturn

import pytest

from agentmut._base import AgentmutError
from agentmut.nouns import AgentConfig
from agentmut.project import FILE_NAME, Project, load_project
from agentmut.seams import Adapter, AgentSpec
from agentmut.suites.pytest_suite.agent import AgentUnderTest
from agentmut.suites.pytest_suite.run_state import RUNNING


def config_under_test(config: pytest.Config) -> AgentConfig:
    """Return the agent's config: the mutant's in a campaign, else the project's."""
    running = config.stash.get(RUNNING, None)
    if running is not None:
        from agentmut.adapters import recording_view

        return recording_view(running.config, running.reads)
    try:
        project = find_project(config)
        adapter = agent_in_process(project.agent, project.config)
    except AgentmutError as error:
        _refuse(str(error))
    return project.config if adapter is None else adapter.get_config()


def agent_under_test(config: pytest.Config) -> AgentUnderTest:
    """Return the project's agent, built from the config under test."""
    running = config.stash.get(RUNNING, None)
    if running is not None and running.agent is not None:
        return AgentUnderTest(running.agent, running)
    try:
        project = find_project(config)
        adapter = agent_in_process(project.agent, project.config)
    except AgentmutError as error:
        _refuse(str(error))
    if adapter is None:
        _refuse(
            f"agentmut_agent: {project.path} names no agent.adapter that could build one. Add it, or take the "
            "fixture agentmut_config and build the agent from it"
        )
    return AgentUnderTest(adapter)


def find_project(config: pytest.Config) -> Project:
    """Return the project of `--agentmut-project`, or the nearest at or above pytest's rootdir. Raise `ProjectError`."""
    return load_project(project_file(config))


def project_file(config: pytest.Config) -> Path:
    """Return the project's file, or where it was looked for."""
    given = config.getoption("agentmut_project", None)
    if given:
        return Path(config.invocation_params.dir, given)
    places = (config.invocation_params.dir, config.rootpath, *config.rootpath.parents)
    found = (place / FILE_NAME for place in places if (place / FILE_NAME).is_file())
    return next(found, config.rootpath)


def agent_in_process(spec: AgentSpec, config: AgentConfig) -> Adapter | None:
    """Return the adapter that the project names, if any, to build the agent in this process. Raise `UsageError`."""
    from agentmut._base import UsageError
    from agentmut.seams import RunsOutside
    from agentmut.suites.answering_agent import own_adapter

    made = own_adapter(spec, config, "pytest")
    if isinstance(made, RunsOutside):
        raise UsageError(
            f"agent.adapter: tests of pytest run their agent in their own process, which {spec.adapter} does not. "
            "Leave agent.adapter out: mutants reach the tests' model requests, or the fixture agentmut_config"
        )
    return made


def _refuse(text: str) -> NoReturn:
    """Fail the test without a traceback, which would only show agentmut's code."""
    pytest.fail(text, pytrace=False)
