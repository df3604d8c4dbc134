"""Read from a test's phases what it says about the agent: passed, failed, or nothing."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from doctest import DocTestFailure, UnexpectedException
from typing import Literal

import pytest
from _pytest.doctest import MultipleDoctestFailures

from agentmut._base import CaseError, one_line
from agentmut.nouns import Check

CHECK = "pytest"
"""The name of the one check that a test is."""
LONGEST_REASON = 600
NotAsserted = Literal["error", "fail"]


@dataclass(frozen=True)
class Phase:
    """Setup, call or teardown of a test, as reported; a subtest is a phase of its own."""

    report: pytest.TestReport
    error: BaseException | None = None

    @property
    def expected_failure(self) -> bool:
        """Return whether the test is expected to fail."""
        return hasattr(self.report, "wasxfail")


def judged(phases: Sequence[Phase], raised: NotAsserted, of_agent: Collection[BaseException]) -> Check:
    """Return the check of a test that ended, by pytest's own verdict; `of_agent` are the errors that its agent raised.

    Raises `CaseError` where it says nothing about the agent: it was skipped, a fixture went wrong, or the test's own
    code did. Raises the agent's own error again, and with `raised` "fail" any other, for how runs end is read off it.
    """
    for phase in _phases_of(phases, "setup"):
        if not phase.report.passed:
            raise _no_evidence(phase, of_agent)
    failed = [phase for phase in _phases_of(phases, "call") if phase.report.failed]
    if failed:
        return _failed(failed, raised, of_agent)
    for phase in (*_phases_of(phases, "call"), *_phases_of(phases, "teardown")):
        if phase.report.failed or (phase.report.skipped and not phase.expected_failure):
            raise _no_evidence(phase, of_agent)
    if not _phases_of(phases, "call"):
        raise CaseError("the test did not run")
    return Check(evaluator=CHECK, passed=True, reason=_why_green(phases))


def is_assertion(error: BaseException | None) -> bool:
    """Return whether an error is a failed assertion or doctest example, or a group of only these.

    >>> is_assertion(AssertionError("no")), is_assertion(ValueError("no"))
    (True, False)
    """
    if isinstance(error, BaseExceptionGroup):
        return all(map(is_assertion, error.exceptions))
    if isinstance(error, MultipleDoctestFailures):
        return all(map(is_assertion, error.failures))
    if isinstance(error, UnexpectedException):
        return is_assertion(error.exc_info[1])
    return isinstance(error, AssertionError | pytest.fail.Exception | DocTestFailure)


def _phases_of(phases: Sequence[Phase], when: str) -> list[Phase]:
    return [phase for phase in phases if phase.report.when == when]


def _failed(failed: Sequence[Phase], raised: NotAsserted, of_agent: Collection[BaseException]) -> Check:
    """Return the check of a test whose call failed; without an exception it passed against expectation."""
    for phase in failed:
        error = phase.error
        if error is not None and _is_from(error, of_agent):
            raise error
        if error is None or is_assertion(error):
            return Check(evaluator=CHECK, passed=False, reason=_reason(phase))
    error = failed[0].error
    if error is not None and raised == "fail" and isinstance(error, Exception):
        raise error
    raise _no_evidence(failed[0], of_agent)


def _no_evidence(phase: Phase, of_agent: Collection[BaseException]) -> BaseException:
    error = phase.error
    if error is not None and _is_from(error, of_agent):
        return error
    if phase.report.skipped:
        return CaseError(f"skipped: {_reason(phase)}")
    said = CaseError(f"{phase.report.when} of the test: {_reason(phase)}")
    said.__cause__ = error  # trouble with the model service is told by what it came from
    return said


def _is_from(error: BaseException, of_agent: Collection[BaseException]) -> bool:
    """Return whether an error is the agent's, or was raised because of it without being the test's judgement."""
    return not is_assertion(error) and any(cause is known for cause in _causes(error) for known in of_agent)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error, and the errors that it was explicitly raised from."""
    cause: BaseException | None = error
    seen: set[int] = set()
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        if isinstance(cause, BaseExceptionGroup):
            yield from cause.exceptions
        cause = cause.__cause__


def _why_green(phases: Sequence[Phase]) -> str:
    expected = next((phase for phase in _phases_of(phases, "call") if phase.expected_failure), None)
    if expected is None:
        return "the test passed"
    return f"green as marked: xfail, and it {'failed' if expected.report.skipped else 'passed'}"


def _reason(phase: Phase) -> str:
    """Return the report in one line, with its place."""
    report, error = phase.report, phase.error
    longrepr = report.longrepr
    if isinstance(longrepr, tuple):  # of a skipped test
        return str(longrepr[2]).removeprefix("Skipped: ")
    shown = error is None or isinstance(error, DocTestFailure | UnexpectedException | MultipleDoctestFailures)
    said = one_line(error) if error and not shown else " ".join(str(longrepr or report.outcome).split())
    crash = getattr(longrepr, "reprcrash", None)
    place = f" ({crash.path}:{crash.lineno})" if crash is not None else ""
    return f"{said[:LONGEST_REASON]}{place}"
