"""Run a marked test as often as its verdict takes, and report it to pytest as one test."""

import textwrap
import unittest
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal, NoReturn

import pytest
from _pytest.unittest import TestCaseFunction

from agentmut._base import UsageError, one_line
from agentmut.assessment import FixedTrials, Sprt
from agentmut.pytest_plugin.stochastic.finding import ERROR, Finding, found
from agentmut.pytest_plugin.stochastic.marker_settings import (
    INCONCLUSIVE_INI,
    MARKER,
    StochasticSettings,
    read_settings,
)
from agentmut.pytest_plugin.stochastic.report import as_error, as_verdict, verdict_call
from agentmut.suites import RUNNING, forget_earlier_runs, is_assertion


class Ending(StrEnum):
    """How one trial ended."""

    PASSED = "passed"
    FAILED = "failed"
    """An assertion failed."""
    ERROR = "error"
    """Something else was raised, which says nothing about the agent."""
    LEFT = "left"
    """The test said that it should be skipped, or is expected to fail: it is not repeated."""


@dataclass
class Trials:
    """The trials so far. Only `record` and `void` change them."""

    settings: StochasticSettings
    passed: list[bool] = field(default_factory=list)
    """Whether each trial that is evidence passed, in order."""
    errors: int = 0
    left: bool = False
    _rule: Sprt | FixedTrials = field(init=False)

    def __post_init__(self) -> None:
        self._rule = self.settings.rule()

    @property
    def count(self) -> int:
        """Return how many trials were run."""
        return len(self.passed) + self.errors

    @property
    def ended(self) -> bool:
        """Return whether no further trial is wanted."""
        if self.left or self.errors >= self.settings.errors or len(self.passed) >= self.settings.trials:
            return True
        return bool(self.passed) and self._rule.ended(self.passed)

    def record(self, ending: Ending) -> None:
        """Add the ending of one more trial."""
        if ending is Ending.ERROR:
            self.errors += 1
        elif ending is Ending.LEFT:
            self.left = True
        else:
            self.passed.append(ending is Ending.PASSED)

    def void(self, ending: Ending) -> None:
        """Turn the last trial, which ended like this, into an error: its teardown failed."""
        if ending is not Ending.ERROR:
            self.passed.pop()
            self.errors += 1

    def finding(self) -> Finding:
        """Return the verdict with its evidence."""
        return found(self.settings, self.passed, self.errors)


NUMBER = pytest.StashKey[int]()
"""The key of an item's current trial number, from 0."""
CAUSE = 200
"""Characters of what a trial raised, in a line that says more."""
_LEFT = (pytest.skip.Exception, pytest.xfail.Exception, unittest.SkipTest)
When = Literal["setup", "call", "teardown"]


def run_marked(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run the test instead of pytest's protocol; return None if one run is wanted."""
    # a campaign repeats tests by its own rules
    if item.config.option.setuponly or RUNNING in item.config.stash:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in _MarkedTest(item, nextitem).reports():
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@dataclass(frozen=True)
class _Phase:
    call: pytest.CallInfo[Any]
    report: pytest.TestReport

    @property
    def error(self) -> BaseException | None:
        """Return the exception that ended the phase, if one did."""
        return self.call.excinfo.value if self.call.excinfo else None


@dataclass(frozen=True)
class _Trial:
    number: int
    phases: tuple[_Phase, ...]
    """Up to the one that decided."""
    ending: Ending


@dataclass
class _MarkedTest:
    """One marked test that is being run."""

    item: pytest.Item
    nextitem: pytest.Item | None
    seconds: dict[str, float] = field(default_factory=lambda: {"setup": 0.0, "call": 0.0, "teardown": 0.0})
    """Seconds of all trials, by phase."""
    first: dict[Ending, _Trial] = field(default_factory=dict)
    """The first trial with each ending."""

    def reports(self) -> Iterator[pytest.TestReport]:
        """Yield the reports of one test. The last teardown is reported last, since it may end the session."""
        settings = _settings_or_refusal(self.item)
        if isinstance(settings, StochasticSettings):
            yield from self._repeated(settings)
        else:
            yield self._refused(settings)
        session = self.item.session
        over = session.shouldfail or session.shouldstop
        yield self._completed(self._teardown(None if over else self.nextitem).report)
        if hasattr(self.item, "_request"):
            self.item._request = False
            self.item.funcargs = None  # type: ignore[attr-defined]  # of functions, which have a `_request`

    def _repeated(self, settings: StochasticSettings) -> Iterator[pytest.TestReport]:
        trials, properties = Trials(settings), list(self.item.user_properties)
        forget_earlier_runs(self.item)
        if isinstance(self.item, TestCaseFunction):
            self.item.addSubTest = _fail_the_trial  # type: ignore[method-assign,assignment]  # for this one item
        while True:
            trial = self._trial(trials.count, settings)
            trials.record(trial.ending)
            if trials.ended:
                break
            cleaned = self._teardown(self.item.parent)
            if cleaned.error is not None:
                trials.void(trial.ending)
                self._note(_Trial(trial.number, (*trial.phases[:1], cleaned), Ending.ERROR))
            _reset(self.item)
            self.item.user_properties[:] = properties
        if trials.left:
            yield from (self._completed(phase.report) for phase in trial.phases)
        else:
            yield from self._verdict(trials, trial)

    def _refused(self, refusal: "_Refusal") -> pytest.TestReport:
        plugins = self.item.config.pluginmanager
        plugins.register(refusal)
        try:
            return self._setup().report
        finally:
            plugins.unregister(refusal)

    def _trial(self, number: int, settings: StochasticSettings) -> _Trial:
        self.item.stash[NUMBER] = number
        phases = [self._setup()]
        if phases[0].error is None:
            phases.append(self._phase("call", lambda: self.item.ihook.pytest_runtest_call(item=self.item)))
        return self._note(_Trial(number, tuple(phases), _ending(phases[-1], settings)))

    def _verdict(self, trials: Trials, last: _Trial) -> Iterator[pytest.TestReport]:
        finding = self._with_cause(trials.finding())
        self.item.user_properties.extend(finding.properties())
        if finding.verdict == ERROR:
            cause = self.first[Ending.ERROR]
            report = as_error(cause.phases[-1].report, finding, cause.number)
            if report.when == "call":
                yield self._completed(cause.phases[0].report)
            yield self._completed(report)
            self._show(cause, report)
            return
        yield self._completed(last.phases[0].report)
        failed = self.first.get(Ending.FAILED)
        call = verdict_call(finding, trials.settings.inconclusive, failed is not None)
        forget_earlier_runs(self.item)
        made = self.item.ihook.pytest_runtest_makereport(item=self.item, call=call)
        shown = (failed.phases[-1].report, failed.number) if failed else None
        report = as_verdict(self.item, made, call, finding, shown)
        yield self._completed(report)
        if report.failed and failed:
            self._show(failed, report)

    def _with_cause(self, finding: Finding) -> Finding:
        error = self.first[Ending.ERROR].phases[-1].error if finding.verdict == ERROR else None
        return replace(finding, cause=textwrap.shorten(one_line(error), CAUSE)) if error else finding

    def _show(self, trial: _Trial, report: pytest.TestReport) -> None:
        """Hand the failed trial to plugins that interact, such as `--pdb`."""
        self.item.ihook.pytest_exception_interact(node=self.item, call=trial.phases[-1].call, report=report)

    def _note(self, trial: _Trial) -> _Trial:
        self.first.setdefault(trial.ending, trial)
        return trial

    def _completed(self, report: pytest.TestReport) -> pytest.TestReport:
        """Return the report with the time of all trials and the finding."""
        report.duration = self.seconds[report.when or "call"]
        report.user_properties = list(self.item.user_properties)
        return report

    def _setup(self) -> _Phase:
        return self._phase("setup", lambda: self.item.ihook.pytest_runtest_setup(item=self.item))

    def _teardown(self, nextitem: Any) -> _Phase:
        """Tear down. With the parent as the next item, only this test's own fixtures are torn down."""
        hook = self.item.ihook.pytest_runtest_teardown
        return self._phase("teardown", lambda: hook(item=self.item, nextitem=nextitem))

    def _phase(self, when: When, run: Callable[[], object]) -> _Phase:
        ends: tuple[type[BaseException], ...] = (pytest.exit.Exception,)
        if not self.item.config.getoption("usepdb", False):
            ends += (KeyboardInterrupt,)
        call = pytest.CallInfo.from_call(run, when=when, reraise=ends)
        report: pytest.TestReport = self.item.ihook.pytest_runtest_makereport(item=self.item, call=call)
        self.seconds[when] += call.duration
        return _Phase(call, report)


def settings_of(item: pytest.Item) -> StochasticSettings:
    """Return the settings from the markers of a test, class and module; the nearest wins. Raise `UsageError`."""
    markers = list(item.iter_markers(MARKER))
    given = {name: value for marker in reversed(markers) for name, value in marker.kwargs.items()}
    positional = tuple(value for marker in markers for value in marker.args)
    if "subtests" in getattr(item, "fixturenames", ()):
        raise UsageError(
            f"the marker {MARKER}: pytest reports each subtest at once, so a test with `subtests` cannot be "
            f"repeated. Assert without them, or mark a test of each."
        )
    cap = item.config.option.agentmut_trials
    return read_settings(positional, given, item.config.getini(INCONCLUSIVE_INI), cap)


def _ending(decided: _Phase, settings: StochasticSettings) -> Ending:
    error = decided.error
    if isinstance(error, _LEFT):
        return Ending.LEFT
    if decided.report.when == "setup":
        return Ending.ERROR
    if error is None:
        return Ending.PASSED
    failed = is_assertion(error) or settings.raised == "fail"
    return Ending.FAILED if failed else Ending.ERROR


def _fail_the_trial(test_case: object, test: object, error: Any) -> None:
    """Fail the trial. Pytest's own function reports each `subTest` at once and lets the test pass."""
    if error is not None:
        raise error.value if isinstance(error, pytest.ExceptionInfo) else error[1]


def _reset(item: Any) -> None:
    """Forget what pytest keeps on a test that has run: its fixtures, instance, output."""
    forget_earlier_runs(item)
    if hasattr(item, "_initrequest"):
        item._initrequest()
    if getattr(item, "_instance", None) is not None:
        del item._instance
        item._obj = None


@dataclass(frozen=True, eq=False)
class _Refusal:
    """A plugin that fails one test before its setup, without showing agentmut's code."""

    message: str

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> NoReturn:
        """Fail the test with the message."""
        pytest.fail(self.message, pytrace=False)


def _settings_or_refusal(item: pytest.Item) -> StochasticSettings | _Refusal:
    try:
        return settings_of(item)
    except UsageError as error:
        return _Refusal(str(error))
