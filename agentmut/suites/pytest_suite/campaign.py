"""`pytest --agentmut`: run the project's campaign on the tests that pytest has collected."""

import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agentmut._base import AgentmutError, ExitCode, UsageError
from agentmut.campaign import CampaignState, Plan
from agentmut.nouns import Result
from agentmut.project import FILE_NAME, Project
from agentmut.seams import SuiteSpec
from agentmut.suites.pytest_suite.fixtures import find_project
from agentmut.suites.pytest_suite.held_session import case_of
from agentmut.suites.pytest_suite.quiet_session import REPEATING
from agentmut.suites.pytest_suite.suite import PytestSuite, scenarios_of

LOG = 10.0
"""Seconds between two lines about the progress."""

_COLOURS = {ExitCode.OK: "green", ExitCode.INCONCLUSIVE: "yellow"}


class Campaign:
    """The plugin that runs a campaign instead of the tests, and reports it in the terminal summary.

    The session ends with the exit code that `agentmut run` would have had.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._processes = _undistributed(config)
        self._result: Result | None = None
        self._code: ExitCode | None = None
        self._problem = ""
        self._where = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Collect as the worker processes do, which know no separate names of repeated tests."""
        plugins = session.config.pluginmanager
        for name in REPEATING:
            found = plugins.get_plugin(name)
            if found is not None and plugins.is_registered(found):
                plugins.unregister(found)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Measure the collected tests; return None to let pytest report a failed collection."""
        if session.testsfailed or session.config.option.collectonly:
            return None
        if not session.items:
            return True
        try:
            self._result = self._measured(session)
        except AgentmutError as error:
            self._code, self._problem = error.exit_code, str(error)
        else:
            from agentmut.cli import exit_code

            self._code = exit_code(self._result)
        return True

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the summary of the run, or why there is none, and the result in pytest's last line."""
        if self._code is not None:  # that pytest itself ran no test reads like a failure
            terminalreporter.build_summary_stats_line = self._last_line
        if self._problem:
            terminalreporter.section("agentmut: no result", red=True)
            terminalreporter.write_line(self._problem)
        if self._result is not None:
            from agentmut.report import render_summary

            terminalreporter.section("agentmut")
            # its own colours would be taken for markup nowhere: it is written as it is
            terminalreporter.write(render_summary(self._result, terminalreporter.hasmarkup, self._where))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """End with the campaign's exit code."""
        if self._code is not None:
            session.exitstatus = int(self._code)

    def _last_line(self) -> tuple[list[tuple[str, dict[str, bool]]], str]:
        """Return the last line as pytest's reporter asks for it: parts with their colours, and the line's colour."""
        code = self._code or ExitCode.OK
        colour = _COLOURS.get(code, "red")
        if self._result is None:
            said = ["no result"]
        else:
            became = Counter(row.status.value for row in self._result.mutants)
            said = [self._result.status, *(f"{count} {status}" for status, count in became.items())]
        ended = [f"exit code {int(code)}"] if code else []
        return [(text, {colour: True}) for text in (f"agentmut: {said[0]}", *said[1:], *ended)], colour

    def _measured(self, session: pytest.Session) -> Result:
        from agentmut.usecases import agent_environment, refuse_running_loop

        refuse_running_loop("pytest --agentmut")
        project = self._project(session)
        self._where = _option_of(project, session.config.invocation_params.dir)
        capture: Any = session.config.pluginmanager.get_plugin("capturemanager")
        if capture is not None:
            capture.suspend_global_capture(in_=True)
        with agent_environment(project):
            return _carried_out(project, session.config)

    def _project(self, session: pytest.Session) -> Project:
        """Return the project with the collected tests as its suite."""
        config = session.config
        project = find_project(config)
        of_file = project.imported
        settings: dict[str, Any] = {}
        if of_file is not None and of_file.kind == PytestSuite.name and isinstance(of_file.argument, dict):
            settings = {"raised": of_file.argument.get("raised", "error")}
        cases = tuple(map(case_of, session.items))
        settings |= {
            "args": list(config.invocation_params.args),
            "directory": str(config.invocation_params.dir),
            "cases": [case.model_dump() for case in cases],
        }
        spec = SuiteSpec(
            kind=PytestSuite.name,
            argument=settings,
            root=str(project.root),
            threshold=project.threshold,
        )
        changed: dict[str, Any] = {"imported": spec, "scenarios": scenarios_of(cases)}
        if self._processes:
            changed["execution"] = project.execution.model_copy(update={"concurrency": self._processes})
        return project.model_copy(update=changed)


def _option_of(project: Project, started_in: Path) -> str:
    """Return the option by which agentmut finds the project from the folder that pytest was started in."""
    from agentmut.cli import project_option

    path = project.root if project.path.name == FILE_NAME else project.path
    return project_option(path.relative_to(started_in) if path.is_relative_to(started_in) else path)


def _carried_out(project: Project, config: pytest.Config) -> Result:
    from agentmut.campaign import Selection, make_mutants, make_plan, register
    from agentmut.usecases import carry_out_campaign, open_store, session_in

    if project.mutation.proxy:
        raise UsageError(
            "mutation.proxy is for `agentmut run`: take it out of the project file to use pytest"
        )
    with open_store(project) as store:
        session = session_in(store, project)
        plan = make_plan(session, make_mutants(session, Selection()), None, time.time())
        _check_bounded(plan, project, config)
        register(store, plan, session.tests.texts)
        return carry_out_campaign(session, plan, store, progress=_Progress(config))


def _check_bounded(plan: Plan, project: Project, config: pytest.Config) -> None:
    """Raise `UsageError` where nothing bounds the campaign and nobody has agreed to that."""
    if not plan.bounded and not config.option.agentmut_yes:
        raise UsageError(
            f"{len(plan.mutants)} mutants and {len(plan.scenarios)} tests are up to {plan.worst_case_trials} runs, and "
            f"no budget is set. Set `budget:` in {project.path}, or pass --agentmut-yes."
        )


class _Progress:
    """Writes a line every few seconds, where pytest writes."""

    def __init__(self, config: pytest.Config) -> None:
        self._reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
        self._last = time.monotonic()

    def __call__(self, state: CampaignState) -> None:
        """Write how far the campaign is."""
        if self._reporter is None or time.monotonic() - self._last < LOG:
            return
        from agentmut.cli import describe

        self._last = time.monotonic()
        self._reporter.write_line(f"agentmut: {describe(state)}")


def _undistributed(config: pytest.Config) -> int:
    """Switch pytest-xdist off, and return its number of processes for the campaign."""
    wanted = getattr(config.option, "numprocesses", None)
    for name, value in {"dist": "no", "distload": False, "numprocesses": None, "tx": []}.items():
        if hasattr(config.option, name):
            setattr(config.option, name, value)
    if isinstance(wanted, str):  # auto, logical
        return os.cpu_count() or 1
    return int(wanted or 0)
