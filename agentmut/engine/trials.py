"""A finished trial as the engine sees it: the outcome, the witness, and the trace for those who compare runs."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from agentmut.evaluators import judge
from agentmut.execution import Ending, Execution
from agentmut.frozen import digest_of
from agentmut.protocols import Evaluator
from agentmut.redaction import Redactor
from agentmut.scenario import Scenario
from agentmut.trace import AgentTrace, Check, Judgement, Outcome
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
    trace: AgentTrace = AgentTrace()
    """What the run did. Whoever records results keeps it no longer than they look at it: traces are large."""


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
            trace=trace,
        )

    def kept(self, scenario: str, execution: Execution, redactor: Redactor) -> Execution:
        """The execution as it may be kept: without secrets, but judged by what the agent really did."""
        clean = redactor.execution(execution)
        if clean.trace == execution.trace or execution.ending.outcome is not None:
            return clean
        checks = self._checks(scenario, execution)
        judgement = redactor.model(Judgement(by=self._judges(scenario), checks=checks))
        return clean.model_copy(update={"trace": clean.trace.model_copy(update={"judged": judgement})})

    def can_judge(self, scenario: str, execution: Execution) -> bool:
        """Whether an execution is whole, or was judged by these evaluators while it was."""
        judged = execution.trace.judged
        return judged is None or judged.by == self._judges(scenario)

    def _judges(self, scenario: str) -> str:
        """What judges: the evaluators as written, and the user's own code in them."""
        sources = (getattr(evaluator, "source", "") for evaluator in self.evaluators[scenario])
        return digest_of([judged_by(self.scenarios[scenario]), *sources])

    def _judged(self, scenario: str, execution: Execution) -> tuple[Outcome, tuple[Check, ...], str]:
        if execution.ending.outcome is not None:
            return execution.ending.outcome, (), execution.reason
        judged = execution.trace.judged
        checks = judged.checks if judged else self._checks(scenario, execution)
        failed = next((check for check in checks if not check.passed), None)
        return (Outcome.FAIL if failed else Outcome.PASS), checks, failed.reason if failed else ""

    def _checks(self, scenario: str, execution: Execution) -> tuple[Check, ...]:
        return judge(self.evaluators[scenario], self.scenarios[scenario], execution.trace)


def judged_by(scenario: Scenario) -> str:
    """Digest of a scenario's evaluators as written."""
    return digest_of([evaluator.model_dump(mode="json") for evaluator in scenario.evaluators])
