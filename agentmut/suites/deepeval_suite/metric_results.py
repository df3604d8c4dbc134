"""The results of deepeval's metrics in one run, and the checks made of them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agentmut._base import CaseError
from agentmut.nouns import Check, Usage

CHECK = "deepeval"
"""The name of the check that a test is."""
LONGEST_REASON = 600


@dataclass(frozen=True)
class MetricResult:
    """The result of a metric, or a classifier, on one test case."""

    name: str
    passed: bool
    reason: str
    error: str = ""
    """Why it could not be measured."""
    asserted: bool = True
    """Whether `assert_test` measured it; what `evaluate` finds is for the test itself to assert."""


@dataclass(frozen=True)
class MetricFailure:
    """An exception out of deepeval: from a failed judge, or from a metric's code."""

    message: str


def check_measured(noted: Iterable[Any]) -> None:
    """Raise `CaseError` if a metric could not be measured: that says nothing about the agent."""
    for one in noted:
        if isinstance(one, MetricFailure):
            raise CaseError(f"a metric of deepeval failed: {one.message[:LONGEST_REASON]}")
        if isinstance(one, MetricResult) and one.error:
            raise CaseError(f"the metric {one.name} failed: {one.error[:LONGEST_REASON]}")


def checks_of(test: Check, noted: Sequence[Any], names: Iterable[str] | None) -> tuple[Check, ...]:
    """Return the test as a check, and one check for each named metric; None names every metric that the test asserts.

    A test passes only if all the metrics do that it asserts: deepeval lets test cases pass that are marked as flaky.
    """
    measured = [one for one in noted if isinstance(one, MetricResult)]
    failed = [one for one in measured if not one.passed]
    passed = test.passed and not any(one.asserted for one in failed)
    said = "; ".join(f"{one.name}: {one.reason}" for one in failed if not passed) or test.reason
    whole = Check(evaluator=CHECK, passed=passed, reason=f"{said[:LONGEST_REASON]}{_cost(noted)}")
    every = dict.fromkeys(one.name for one in measured if one.asserted)
    return (whole, *_metrics(measured, every if names is None else names))


def _metrics(measured: Sequence[MetricResult], names: Iterable[str]) -> Iterator[Check]:
    for name in names:
        own = [one for one in measured if one.name == name]
        said = next((one for one in own if not one.passed), own[0] if own else None)
        reason = said.reason[:LONGEST_REASON] if said else "the test does not use it"
        yield Check(evaluator=name, passed=all(one.passed for one in own), reason=reason)


def _cost(noted: Iterable[Any]) -> str:
    """Return what the judge spent, which is no part of the agent's cost."""
    used = sum((one for one in noted if isinstance(one, Usage)), Usage())
    return f" (the judge used {used.total} tokens)" if used.total else ""
