"""What the fixtures of the pytest plugin give: in a campaign what is under test, else the project as it is."""

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
    """The agent's config: that of the mutant in a campaign, else the project's."""
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
    """The project's agent, built from the config under test."""
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
    """The project of `--agentmut-project`, or the nearest one at or above pytest's rootdir. Raises `ProjectError`."""
    return load_project(project_file(config))


def project_file(config: pytest.Config) -> Path:
    """The project's file, or where it was looked for."""
    given = config.getoption("agentmut_project", None)
    if given:
        return Path(config.invocation_params.dir, given)
    places = (config.invocation_params.dir, config.rootpath, *config.rootpath.parents)
    found = (place / FILE_NAME for place in places if (place / FILE_NAME).is_file())
    return next(found, config.rootpath)


def agent_in_process(spec: AgentSpec, config: AgentConfig) -> Adapter | None:
    """The adapter that the project names, if it does: it builds the agent in this process. Raises `UsageError`."""
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


def _refuse(said: str) -> NoReturn:
    """Without a traceback, which would show agentmut's own code only."""
    pytest.fail(said, pytrace=False)
