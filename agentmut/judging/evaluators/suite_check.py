"""Checks that another tool's suite made of its run, taken over as evaluators."""

from typing import ClassVar

from pydantic import JsonValue

from agentmut.nouns import AgentTrace, Check, Scenario
from agentmut.seams import GivesChecks


class SuiteCheck:
    """Takes over one check of `AgentTrace.checks`, by its name. Importers write it; users need not."""

    id: ClassVar[str] = "suite"

    def __init__(self, argument: JsonValue) -> None:
        if not isinstance(argument, str) or not argument:
            raise ValueError(f"expects the name of a check, got {argument!r}")
        self._name = argument

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Return the check as the suite reported it. All checks of one name must pass; none at all fails."""
        checks = [check for check in trace.checks if check.evaluator == self._name]
        failed = next((check for check in checks if not check.passed), None)
        if failed is not None:
            return failed
        return checks[0] if checks else Check(evaluator=self._name, passed=False, reason=_missing(self._name))


class SuiteChecks(SuiteCheck, GivesChecks):
    """Takes over all checks of `AgentTrace.checks`. The argument names the check that every judged run has."""

    id: ClassVar[str] = "suite_checks"

    def every_check(self, scenario: Scenario, trace: AgentTrace) -> tuple[Check, ...]:
        """Return the checks as the suite reported them, under their own names."""
        others = (check for check in trace.checks if check.evaluator != self._name)
        return (self.evaluate(scenario, trace), *others)


def _missing(name: str) -> str:
    return f"the suite reported no check {name!r}: it ended before"
