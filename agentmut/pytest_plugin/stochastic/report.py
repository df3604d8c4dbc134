"""Turn the verdict into pytest's report of the test."""

from dataclasses import replace
from typing import Any

import pytest

from agentmut.pytest_plugin.stochastic.finding import Finding
from agentmut.pytest_plugin.stochastic.marker_settings import Inconclusive
from agentmut.stats import Verdict

SECTION = "agentmut"


def verdict_call(finding: Finding, inconclusive: Inconclusive, some_failed: bool) -> pytest.CallInfo[None]:
    """Return the call of a test that ends as the verdict says, for hooks that report it (xfail among them)."""

    def end() -> None:
        if finding.verdict == Verdict.FAIL:
            raise AssertionError(str(finding))
        if finding.verdict == Verdict.PASS or inconclusive == "pass":
            return
        if inconclusive == "skip":
            pytest.skip(str(finding))
        if some_failed:
            raise AssertionError(str(finding))
        pytest.fail(str(finding), pytrace=False)

    return pytest.CallInfo.from_call(end, when="call")


def as_verdict(
    item: pytest.Item,
    report: pytest.TestReport,
    call: pytest.CallInfo[None],
    finding: Finding,
    failed: tuple[pytest.TestReport, int] | None,
) -> pytest.TestReport:
    """Return the report of a call that ended as the verdict says.

    Where that is not a good one it shows the traceback and the output of the first failed trial, which `failed` is.
    """
    if call.excinfo is None:
        return report
    line = (item.location[1] or 0) + 1
    if isinstance(call.excinfo.value, pytest.skip.Exception):
        report.longrepr = (str(item.path), line, f"Skipped: {finding}")
        return report
    if failed is None:
        report.longrepr = _with_verdict(report.longrepr, finding, str(item.path), line)
        return report
    first, number = failed
    report.sections = list(first.sections)
    message = f"Trial {number} was the first that failed, as shown above."
    report.longrepr = _with_section(_with_verdict(first.longrepr, finding), finding, message)
    return report


def as_error(report: pytest.TestReport, finding: Finding, number: int) -> pytest.TestReport:
    """Return the report of the first trial without evidence, for the whole test."""
    message = f"Trial {number} was the first that raised an error, as shown above."
    report.outcome = "failed"  # whatever is expected of the test, this was not it
    vars(report).pop("wasxfail", None)
    report.longrepr = _with_section(_with_verdict(report.longrepr, finding), finding, message)
    if report.when == "teardown":
        report.when = "call"
    return report


def _with_verdict(longrepr: Any, finding: Finding, path: str = "", line: int = 0) -> Any:
    """Put the verdict in place of the exception's message, where pytest's short summary and JUnit look."""
    if getattr(longrepr, "reprcrash", None) is None or not hasattr(longrepr, "chain"):
        return longrepr
    crash = replace(longrepr.reprcrash, message=f"agentmut {finding}")
    if path:
        crash = replace(crash, path=path, lineno=line)
    traceback, _, description = longrepr.chain[-1]
    headed = type(longrepr)([*longrepr.chain[:-1], (traceback, crash, description)])
    headed.sections.extend(longrepr.sections)
    return headed


def _with_section(longrepr: Any, finding: Finding, message: str) -> Any:
    text = f"{finding}\n{message}"
    if not hasattr(longrepr, "addsection"):
        return f"{longrepr}\n{text}"
    longrepr.addsection(SECTION, text)
    return longrepr
