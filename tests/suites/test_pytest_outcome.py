"""What the phases of a test say of the agent."""

from typing import Literal

import pytest

from agentmut._base.errors import CaseError
from agentmut.suites.pytest_suite.outcome import Phase, is_assertion, judged

OUTCOMES = Literal["passed", "failed", "skipped"]
WHEN = Literal["setup", "call", "teardown"]


def phase(when: WHEN, outcome: OUTCOMES = "passed", error: BaseException | None = None) -> Phase:
    longrepr = None if outcome == "passed" else repr(error)
    return Phase(pytest.TestReport("t.py::test", ("t.py", 1, "test"), {}, outcome, longrepr, when), error)


def test_another_exception_is_no_evidence_unless_the_project_says_that_it_is_a_failure() -> None:
    error = KeyError("total")
    phases = [phase("setup"), phase("call", "failed", error), phase("teardown")]
    with pytest.raises(CaseError, match="call of the test: KeyError: 'total'") as raised:
        judged(phases, "error", ())
    assert raised.value.__cause__ is error  # trouble of a model service is told by it
    with pytest.raises(KeyError):
        judged(phases, "fail", ())


def test_an_exit_is_never_a_failure() -> None:
    with pytest.raises(CaseError):
        judged([phase("setup"), phase("call", "failed", SystemExit(1))], "fail", ())


def test_an_error_of_the_agent_is_its_own_wherever_it_was_run() -> None:
    own = ValueError("the agent cannot")
    wrapped = RuntimeError("the test's helper says")
    wrapped.__cause__ = own
    for phases in (
        [phase("setup", "failed", own)],
        [phase("setup"), phase("call", "failed", own)],
        [phase("setup"), phase("call"), phase("teardown", "failed", own)],
    ):
        with pytest.raises(ValueError, match="the agent cannot"):
            judged(phases, "error", [own])
    with pytest.raises(RuntimeError, match="helper"):
        judged([phase("setup"), phase("call", "failed", wrapped)], "error", [own])


def test_a_failed_assertion_stays_a_failure_whatever_the_teardown_does() -> None:
    phases = [
        phase("setup"),
        phase("call", "failed", AssertionError("no")),
        phase("teardown", "failed", OSError()),
    ]
    assert not judged(phases, "error", ()).passed


def test_groups_of_failed_assertions_are_one() -> None:
    assert is_assertion(ExceptionGroup("g", [AssertionError("a"), AssertionError("b")]))
    assert not is_assertion(ExceptionGroup("g", [AssertionError("a"), OSError("b")]))


def test_a_test_that_was_not_called_says_nothing() -> None:
    with pytest.raises(CaseError, match="did not run"):
        judged([phase("setup"), phase("teardown")], "error", ())
