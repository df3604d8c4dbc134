"""Run one test of a held session as a trial, and take over the results of deepeval's metrics."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version

from agentmut.nouns import Check
from agentmut.suites.deepeval_suite.metric_results import check_measured, checks_of
from agentmut.suites.pytest_suite.adapter import PytestAdapter
from agentmut.suites.pytest_suite.outcome import Phase
from agentmut.suites.pytest_suite.run_state import RunState


@dataclass(frozen=True)
class DeepevalAdapter(PytestAdapter):
    """An agent that is run and judged by tests with deepeval's metrics."""

    metrics: tuple[str, ...] | None = None

    def versions(self) -> Mapping[str, str]:
        """Return the versions of the pytest suite and of deepeval."""
        return {**super().versions(), "deepeval": version("deepeval")}

    def _judged(self, phases: tuple[Phase, ...], running: RunState) -> tuple[Check, ...]:
        """Return the checks. A metric that could not be measured is no evidence, whatever the test's outcome."""
        check_measured(running.noted)
        (test,) = super()._judged(phases, running)
        return checks_of(test, running.noted, self.metrics)
