"""A finished trial as the engine sees it: the outcome and the witness, not the whole trace."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from agentmut.evaluators import judge
from agentmut.execution import Ending, Execution
from agentmut.protocols import Evaluator
from agentmut.scenario import Scenario
from agentmut.trace import Check, Outcome
from agentmut.wire.footprint import Footprint
from agentmut.witness import Detector, Witness


class Launch(NamedTuple):
    """A trial to run: the `repeat`-th of this mutant (None: the original) on this scenario."""

    mutant: str
    """Mutant id; empty for the original."""
    scenario: str
    repeat: int
    number: int
    """Position among the launches of its mutant."""


class TrialResult(NamedTuple):
    """What the engine learns from a trial."""

    outcome: Outcome
    ending: Ending
    reason: str
    checks: tuple[Check, ...]
    witness: Witness | None
    footprint: Footprint
    tools: Counter[str]
    """How often each tool was called."""
    tokens: int
    usd: float | None
    """Cost; None when the price of a model that was called is unknown."""
    unpriced: frozenset[str]
    """Names of the models without a known price."""
    seconds: float
    abandoned: bool


class Suite(NamedTuple):
    """The tests under measurement: what judges a trial."""

    scenarios: Mapping[str, Scenario]
    evaluators: Mapping[str, tuple[Evaluator, ...]]

    def result(self, scenario: str, execution: Execution, detector: Detector | None) -> TrialResult:
        """Judge an execution. Blind to the mutant but for the witness."""
        outcome, checks, reason = self._judged(scenario, execution)
        trace = execution.trace
        return TrialResult(
            outcome=outcome,
            ending=execution.ending,
            reason=reason,
            checks=checks,
            witness=detector.witness(execution.footprint) if detector else None,
            footprint=execution.footprint,
            tools=Counter(trace.tools_called),
            tokens=trace.usage.total,
            usd=trace.usd,
            unpriced=trace.unpriced_models,
            seconds=trace.seconds,
            abandoned=execution.abandoned,
        )

    def _judged(self, scenario: str, execution: Execution) -> tuple[Outcome, tuple[Check, ...], str]:
        if execution.ending.outcome is not None:
            return execution.ending.outcome, (), execution.reason
        checks = judge(self.evaluators[scenario], self.scenarios[scenario], execution.trace)
        failed = next((check for check in checks if not check.passed), None)
        return (Outcome.FAIL if failed else Outcome.PASS), checks, failed.reason if failed else ""
