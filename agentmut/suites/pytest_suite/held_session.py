"""One collected pytest session, held in a separate thread, that runs single tests repeatedly."""

import os
import threading
from concurrent.futures import Future
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, NamedTuple

import pytest

from agentmut._base import CaseError, UsageError, one_line
from agentmut.suites.pytest_suite.outcome import Phase
from agentmut.suites.pytest_suite.pytest_settings import (
    COLLECTING,
    FIXTURES,
    Case,
    PytestSettings,
    not_in_time,
)
from agentmut.suites.pytest_suite.quiet_session import Quiet
from agentmut.suites.pytest_suite.run_state import RUNNING, RunState

OWN_ARGUMENTS = ("--capture=fd", "-o", "tmp_path_retention_policy=failed")
"""Last, so that they hold: what tests print is no affair of a campaign, nor are their folders worth keeping."""
CLOSING = 10.0
"""Seconds that fixtures of the session have to clean up."""
WITHOUT_TESTS = (
    "pytest ended before it had collected the tests: an argument such as --version, --help or --fixtures has it show "
    "something instead. Leave it out of suite.pytest.args and addopts"
)
_BLOCKED = ("-p", "no:deepeval")
"""A plugin that writes a folder and prints, in whatever suite; of its own suite another plugin takes care."""


_NAMES = pytest.StashKey[dict[str, Any]]()
"""The names of a doctest as they were when it was collected."""


class _Job(NamedTuple):
    case: str
    running: RunState
    done: "Future[tuple[Phase, ...]]"


class HeldSession:
    """Collects once, in the folder of the settings, and then runs the tests it is asked for, one at a time.

    Fixtures of a test, its class, its module and its package are torn down after every run, those of the session
    when it is closed. What takes `agentmut_config` is made anew for each run, whatever its scope.
    """

    def __init__(self, settings: PytestSettings) -> None:
        self._settings = settings
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._collected: Future[tuple[Case, ...]] = Future()
        self._thread: threading.Thread | None = None

    def cases(self) -> tuple[Case, ...]:
        """Return the tests, in pytest's order; the first call collects them. Raise `UsageError`."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._hold, daemon=True, name="agentmut-pytest")
            self._thread.start()
        try:
            return self._collected.result(COLLECTING)
        except TimeoutError:
            raise UsageError(not_in_time(COLLECTING)) from None

    def submit(self, case: str, running: RunState) -> "Future[tuple[Phase, ...]]":
        """Queue a test to run soon, and return its future reports."""
        self.cases()
        done: Future[tuple[Phase, ...]] = Future()
        done.set_running_or_notify_cancel()  # who gives up waiting does not end the test
        self._jobs.put(_Job(case, running, done))
        return done

    def close(self) -> None:
        """Tear down the fixtures of the session, as far as they end in time."""
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join(CLOSING)

    def _hold(self) -> None:
        try:
            os.chdir(self._settings.directory)
            serving = _TestServer(self._jobs, self._collected)
            code = int(pytest.main(_arguments(self._settings), plugins=[Quiet(), serving]))
            said = f"pytest ended with code {code} before it had collected the tests; it says why above"
            ended = said if code else WITHOUT_TESTS
        except BaseException as error:
            ended = f"pytest could not be started: {one_line(error)}"
        if not self._collected.done():
            self._collected.set_exception(UsageError(f"suite.pytest: {ended}"))


class _TestServer:
    """The plugin that runs tests on demand instead of all tests in turn."""

    def __init__(self, jobs: "SimpleQueue[_Job | None]", collected: "Future[tuple[Case, ...]]") -> None:
        self._jobs = jobs
        self._collected = collected
        self._errors: list[str] = []
        self._phases: list[Phase] = []
        self._given: list[tuple[pytest.FixtureDef[Any], Any]] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record what could not be collected."""
        if report.failed:
            self._errors.append(f"{report.nodeid}: {collection_error(report)}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> int | None:
        """Refuse `--help`: it needs the plugins that print, and these are gone."""
        if not getattr(config.option, "help", False):
            return None
        self._collected.set_exception(UsageError(f"suite.pytest: {WITHOUT_TESTS}"))
        return int(pytest.ExitCode.USAGE_ERROR)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Any:
        """Record what ends the whole collection: `sys.exit()`, `pytest.exit()`, KeyboardInterrupt."""
        try:
            return (yield)
        except BaseException as error:
            said = f"{collector.nodeid}: its import ended the collection: {one_line(error).rstrip(': ')}"
            self._collected.set_exception(UsageError(not_collected([said])))
            raise

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Serve until told to stop."""
        if self._errors:
            self._collected.set_exception(UsageError(not_collected(self._errors)))
            return True
        items = {item.nodeid: item for item in session.items}
        self._collected.set_result(tuple(map(case_of, session.items)))
        while (job := self._jobs.get()) is not None:
            with suppress(BaseException):
                self._settle(job, session, items)
        return True

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> Any:
        """Keep each phase with the exception raised in it."""
        report = yield
        self._phases.append(Phase(report, call.excinfo.value if call.excinfo else None))
        return report

    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any], request: Any) -> None:
        """Record the fixtures that give what is under test."""
        if fixturedef.argname in FIXTURES:
            self._given.append((fixturedef, request))

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Any:
        """End the fixtures that are built on the config, of any scope, after the test's own: the next config
        is another.
        """
        try:
            return (yield)
        finally:
            while self._given:
                fixture, request = self._given.pop()
                fixture.finish(request)

    def _settle(self, job: _Job, session: pytest.Session, items: dict[str, pytest.Item]) -> None:
        if job.case not in items:
            return job.done.set_exception(CaseError(f"the worker process collects no test {job.case}"))
        try:
            phases = self._run(items[job.case], job.running, session)
        except BaseException as error:  # pytest.exit, KeyboardInterrupt: the session stays as it is
            _torn_down(session)
            job.done.set_exception(_no_evidence(error))
        else:
            job.done.set_result(phases)

    def _run(self, item: pytest.Item, running: RunState, session: pytest.Session) -> tuple[Phase, ...]:
        self._phases.clear()
        forget_earlier_runs(item)
        item.config.stash[RUNNING] = running
        try:
            # the session in the place of the next test: all below it is torn down
            item.ihook.pytest_runtest_protocol(item=item, nextitem=session)
        finally:
            del item.config.stash[RUNNING]
        return tuple(self._phases)


def _arguments(settings: PytestSettings) -> list[str]:
    """Return the arguments of the settings, between those they may override and those that always hold."""
    watched = any(word.startswith("agentmut.suites.deepeval_suite") for word in settings.args)
    return [*(() if watched else _BLOCKED), *settings.arguments, *OWN_ARGUMENTS]


def case_of(item: pytest.Item) -> Case:
    """Return a collected test as a case."""
    takes = set(FIXTURES) & set(getattr(item, "fixturenames", ()))
    return Case(id=item.nodeid, takes_config=bool(takes))


def collection_error(report: pytest.CollectReport) -> str:
    """Return why a file could not be collected: the last line of pytest's message."""
    said = getattr(report.longrepr, "reprcrash", None)
    if said is not None:
        return f"{' '.join(said.message.split())} ({said.path}:{said.lineno})"
    lines = [line.strip() for line in str(report.longrepr).splitlines() if line.strip()]
    raised = [line.removeprefix("E").strip() for line in lines if line.startswith("E ")]
    return (raised or lines or ["it could not be collected"])[-1 if not raised else 0]


def not_collected(errors: list[str]) -> str:
    """Return the message for files that could not be collected."""
    return f"suite.pytest: the tests cannot be collected. {'; '.join(errors)}. Correct that, then run again."


def forget_earlier_runs(item: pytest.Item) -> None:
    """Undo what earlier runs changed on a test: its output, failed subtests, and the lost names of a doctest.

    The first call comes before the first run.
    """
    item._report_sections.clear()
    if isinstance(item, pytest.DoctestItem):
        names: dict[str, Any] = dict(item.dtest.globs)
        item.dtest.globs = item.stash.setdefault(_NAMES, names).copy()
    with suppress(ImportError):  # older than pytest 9
        from _pytest.subtests import failed_subtests_key

        item.config.stash[failed_subtests_key].clear()


def _torn_down(session: pytest.Session) -> None:
    with suppress(BaseException):
        session._setupstate.teardown_exact(session)  # type: ignore[arg-type]  # pytest passes the session there, too


def _no_evidence(error: BaseException) -> CaseError:
    """Return what ended the test without an outcome, such as `pytest.exit`: the agent did not cause it."""
    return CaseError(f"the test was broken off: {one_line(error)}")
