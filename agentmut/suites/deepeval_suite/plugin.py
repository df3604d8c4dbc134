"""The pytest plugin of the held session that keeps deepeval offline and quiet and records its metrics.

deepeval reports nothing to anybody and writes nothing. What its metrics ask of models is their own affair: those
requests are neither changed nor counted as the agent's.
"""

import asyncio
import functools
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from agentmut._base import one_line
from agentmut.recording import Trial, aside
from agentmut.suites.deepeval_suite.metric_results import MetricFailure, MetricResult
from agentmut.suites.judge_requests import judge_of, judge_steps
from agentmut.suites.pytest_suite.run_state import RUNNING, RunState

OFF = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_FILE_SYSTEM": "READ_ONLY",
    "DEEPEVAL_UPDATE_WARNING_OPT_IN": "0",
    "ENABLE_DEEPEVAL_CACHE": "0",
    "IGNORE_DEEPEVAL_ERRORS": "0",
    "SKIP_DEEPEVAL_MISSING_PARAMS": "0",
    "ERROR_REPORTING": "0",
    "CONFIDENT_API_KEY": "",  # as it is, and not from a file
    "CONFIDENT_TRACING_ENABLED": "0",
    "CONFIDENT_OPEN_BROWSER": "0",
    "DEEPEVAL_PROGRESS_BAR": "0",
}
_EVALUATE = "deepeval.evaluate.evaluate"
_TRACED = "_assert_test_from_current_trace"
_EXECUTING = ("execute_test_cases", "a_execute_test_cases", _TRACED)
"""The functions by which `assert_test` and `evaluate` measure metrics; looked up in their module at each call."""
_ASSERTS = "_is_assert_test"
"""The argument by which `assert_test` is told from `evaluate`, which raises for no score."""
_MARK = "_agentmut_wrapped"


def silence(environment: Any) -> None:
    """Set the variables that keep deepeval quiet. Call it before deepeval is imported, which reads them once."""
    environment.update(OFF)
    environment.pop("DEEPEVAL_TELEMETRY_ENABLED", None)
    environment.pop("DEEPEVAL", None)  # set by `deepeval test run`, which stores results


silence(os.environ)


class _JudgeRequests:
    """Whether metrics are being measured; requests during that time belong to a separate trial."""

    def __init__(self, running: RunState) -> None:
        self.running = running
        self.trial: Trial | None = None
        self._depth = 0
        self._aside: Any = None

    @contextmanager
    def judging(self) -> Iterator[None]:
        """Measure in this context. Metrics may measure inside each other, and at the same time."""
        if self._depth == 0:
            self._aside = aside(judge_of(self.running.trial))
            self.trial = self._aside.__enter__()
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0:
                self._aside.__exit__(None, None, None)
                self._settle()

    def _settle(self) -> None:
        """Record what the metrics spent."""
        steps = list(judge_steps(self.trial.recorder)) if self.trial else []
        self.running.noted += [step.usage for step in steps]
        self.running.trial.recorder.judging += steps


class _CurrentRun:
    """The run under way."""

    judge: _JudgeRequests | None = None


def pytest_configure(config: pytest.Config) -> None:
    """Give each session its own state."""
    config.stash[_CURRENT_RUN] = _CurrentRun()


_CURRENT_RUN = pytest.StashKey[_CurrentRun]()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    """Record deepeval's metrics while a test runs, if deepeval was imported."""
    running, current = item.config.stash.get(RUNNING, None), item.config.stash[_CURRENT_RUN]
    current.judge = _JudgeRequests(running) if running is not None else None
    listen(current)
    try:
        return (yield)
    finally:
        current.judge = None


def listen(current: _CurrentRun) -> None:
    """Wrap the functions by which deepeval measures metrics, unless they are wrapped."""
    module = sys.modules.get(_EVALUATE)
    if module is None:
        return
    for name in _EXECUTING:
        if hasattr(module, name):
            _replace(module, name, functools.partial(_executing, current))
    import deepeval.metrics.base_metric as bases

    for base in ("BaseMetric", "BaseConversationalMetric", "BaseArenaMetric"):
        for kind in _descendants(getattr(bases, base, None)):
            for name in ("measure", "a_measure"):
                if name in vars(kind):
                    _replace(kind, name, functools.partial(_measuring, current))


def _descendants(kind: Any) -> Iterator[type]:
    for below in kind.__subclasses__() if kind is not None else ():
        yield below
        yield from _descendants(below)


def _replace(owner: Any, name: str, wrapper: Callable[[Any], Any]) -> None:
    original = vars(owner)[name]
    if not hasattr(original, _MARK) and callable(original):
        wrapped = functools.wraps(original)(wrapper(original))
        setattr(wrapped, _MARK, True)
        setattr(owner, name, wrapped)


def _executing(current: _CurrentRun, original: Any) -> Any:
    """Wrap a function that measures the metrics of test cases: record its results and exceptions."""
    asserts = original.__name__ == _TRACED
    return _wrapped(
        current, original, lambda given: functools.partial(_note, bool(given.get(_ASSERTS, asserts)))
    )


def _measuring(current: _CurrentRun, original: Any) -> Any:
    """Wrap a metric's own method, for tests that call it themselves."""
    return _wrapped(current, original, lambda given: lambda running, result: None)


def _wrapped(
    current: _CurrentRun,
    original: Any,
    note_of: Callable[[Mapping[str, Any]], Callable[[RunState, Any], None]],
) -> Any:
    """Wrap the function so that its requests are a judge's; `note_of` its keyword arguments selects what to record."""

    @contextmanager
    def judging(arguments: Mapping[str, Any]) -> Iterator[Callable[[Any], Any]]:
        judge = current.judge
        if judge is None:
            yield lambda result: result
            return
        try:
            with judge.judging():
                yield functools.partial(_noting, judge.running, note_of(arguments))
        except Exception as error:
            judge.running.noted.append(MetricFailure(one_line(error)))
            raise

    if asyncio.iscoroutinefunction(original):

        async def later(*args: Any, **kwargs: Any) -> Any:
            with judging(kwargs) as done:
                return done(await original(*args, **kwargs))

        return later

    def at_once(*args: Any, **kwargs: Any) -> Any:
        with judging(kwargs) as done:
            return done(original(*args, **kwargs))

    return at_once


def _noting(running: RunState, note: Callable[[RunState, Any], None], result: Any) -> Any:
    note(running, result)
    return result


def _note(asserted: bool, running: RunState, result: Any) -> None:
    """Record deepeval's test results, metric by metric."""
    for one in result if isinstance(result, list) else [result]:
        for metric in getattr(one, "metrics_data", None) or ():
            running.noted.append(_measured(metric, asserted))
        for label in getattr(one, "classifications", None) or ():
            if label.success is not None:
                said = {
                    "name": label.name,
                    "passed": bool(label.success),
                    "reason": str(label.reason or label.label),
                    "asserted": asserted,
                }
                running.noted.append(MetricResult(**_with_error(said, label.error)))


def _measured(metric: Any, asserted: bool) -> MetricResult:
    reason = f"score {metric.score}, threshold {metric.threshold}" + (
        f": {metric.reason}" if metric.reason else ""
    )
    # None: it has no threshold, so nothing fails by it
    passed = metric.success is None or bool(metric.success)
    said = {"name": str(metric.name), "passed": passed, "reason": reason, "asserted": asserted}
    return MetricResult(**_with_error(said, metric.error))


def _with_error(note: Mapping[str, Any], error: Any) -> dict[str, Any]:
    return {**note, "error": str(error) if error else ""}
