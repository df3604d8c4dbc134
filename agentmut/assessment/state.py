"""The unchanged agent on every scenario: the trials that its verdicts need, and the verdicts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self

from pydantic import Field

from agentmut.assessment.evaluator_findings import CheckCounts
from agentmut.campaign import (
    SPARE,
    Account,
    FreshTrials,
    Launch,
    RunPlan,
    TrialResult,
    Watch,
    cannot_run,
    no_evidence,
    unbegun,
)
from agentmut.nouns import Mutant, Outcome, Scenario, SetAside
from agentmut.stats import Judgement, Verdict
from agentmut.trial import Detector, SuiteConfig


class StoppingRule(Protocol):
    """When the trials of one scenario are enough, and which verdict they give."""

    @property
    def most(self) -> int:
        """Return the number of trials that are evidence after which no more are run."""
        ...

    @property
    def sequential(self) -> bool:
        """Return whether the rule may end before `most` trials, so that it has to see each result in order."""
        ...

    def ended(self, passed: Sequence[bool]) -> bool:
        """Return whether the outcomes so far, in launch order, decide. Called after each outcome."""
        ...

    def judgement(self, passed: Sequence[bool]) -> Judgement:
        """Return the verdict of outcomes in launch order."""
        ...


class AssessmentPlan(RunPlan):
    """An assessment before its first trial."""

    settings: dict[str, str | float | int] = Field(default_factory=dict)
    """The rules' parameters, for the record."""


@dataclass
class AssessedScenario:
    """One scenario under assessment. Results are consumed in launch order, in whatever order they arrive."""

    rule: StoppingRule
    first: int = 0
    window: int = 1
    launched: int = 0
    consumed: int = 0
    ended: bool = False
    passed: list[bool] = field(default_factory=list)
    """Trials that are evidence, up to the one that decided."""
    seconds: list[float] = field(default_factory=list)
    """How long each trial in `passed` took, as far as that is known."""
    setup_seconds: float = 0.0
    """What the setup of the trials in `passed` took together."""
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    """Every trial up to the one that decided, those that are no evidence included."""
    first_failure: str = ""
    no_evidence: Counter[str] = field(default_factory=Counter)
    """Reasons of trials that are no evidence."""
    never_began: Counter[str] = field(default_factory=Counter)
    """Trials in `passed` that raised before they did anything, by the type of the exception."""
    fresh: FreshTrials = field(default_factory=FreshTrials)
    """What the trials that were run now show of an agent that cannot run."""
    checked: CheckCounts = field(default_factory=CheckCounts)
    """What single evaluators found in `passed`."""
    arrived: dict[int, TrialResult] = field(default_factory=dict)

    @property
    def wants_another(self) -> bool:
        """Return whether a further trial may be launched now."""
        in_flight = self.launched - self.consumed
        room = self.window if self.rule.sequential else self.rule.most
        within = len(self.passed) + in_flight < self.rule.most and self.launched < self._limit
        return not self.ended and in_flight < room and within

    @property
    def complete(self) -> bool:
        """Return whether no trial is under way and none will be launched."""
        return self.ended or (self.launched == self.consumed and not self.wants_another)

    @property
    def wanted(self) -> int:
        """Return the largest number of trials that the scenario needs."""
        return self.rule.most

    @property
    def finished(self) -> int:
        """Return the number of trials looked at."""
        return self.consumed

    @property
    def trials(self) -> int:
        """Return the number of trials that are evidence."""
        return len(self.passed)

    @property
    def _limit(self) -> int:
        """Return the largest number of launches: some trials may turn out to be no evidence."""
        return self.rule.most + max(3, round(SPARE * self.rule.most))

    def judgement(self) -> Judgement:
        """Return the verdict.

        A fixed number of trials that was cut short is not judged: that would be one more look.
        """
        found = self.rule.judgement(self.passed)
        if self.complete or self.rule.sequential:
            return found
        reason = f"cut short after {len(self.passed)} of {self.rule.most} trials: the fixed method judges all or none"
        missing = self.rule.most - len(self.passed)
        return found._replace(verdict=Verdict.INCONCLUSIVE, reason=reason, p_fail=1.0, needed=missing)

    def record(self, number: int, result: TrialResult) -> None:
        """Record the result of a launch, and consume every result that has become consecutive."""
        self.arrived[number] = result
        while not self.ended and self.consumed in self.arrived:
            self._consume(self.arrived.pop(self.consumed))
            self.consumed += 1

    def _consume(self, result: TrialResult) -> None:
        self.outcomes[result.outcome] += 1
        self.fresh.take_in(result)
        if not result.outcome.is_evidence:
            self.no_evidence[f"{result.ending}: {result.reason}"] += 1
            return
        if result.never_began:
            self.never_began[result.never_began] += 1
        self.passed.append(result.outcome is Outcome.PASS)
        self.setup_seconds += result.trace.setup_seconds
        if result.seconds or not result.trace.foreign:  # not all recordings have times
            self.seconds.append(result.seconds)
        self.checked.take_in(result.checks)
        if not self.passed[-1]:
            self.first_failure = self.first_failure or result.reason
        self.ended = len(self.passed) >= self.rule.most or self.rule.ended(self.passed)


@dataclass
class Assessment(Account):
    """An assessment under way. Changed by `record` only."""

    plan: AssessmentPlan
    suite: SuiteConfig
    scenarios: Mapping[str, Scenario]
    rules: Mapping[str, StoppingRule]
    lanes: dict[str, AssessedScenario] = field(init=False)
    watch: Watch = field(init=False)
    """Tells outages of the model service from failures of the agent."""
    set_aside: tuple[SetAside, ...] = ()
    """Trials that outages have spoiled, and that were run again."""
    _began: bool = False
    """Whether some trial that was run now is evidence of what the agent does once it runs."""
    _ran: bool = False
    """Whether some trial of the store is."""

    def __post_init__(self) -> None:
        self.lanes = {
            name: AssessedScenario(self.rules[name], self.plan.first.get(name, 0), self.plan.window)
            for name in self.plan.scenarios
        }
        self.watch = Watch(self._harmed)

    def begin_again(self) -> Self:
        """Forget all trials and return this same object, so that its holders see the new trials."""
        self.__init__(self.plan, self.suite, self.scenarios, self.rules)  # type: ignore[misc]  # one place sets every field
        return self

    def _harmed(self) -> bool:
        """Return whether trouble has cost an answered scenario trials that its verdict needs."""
        return any(lane.complete and not lane.ended and lane.trials for lane in self.lanes.values())

    @property
    def contenders(self) -> tuple[Mutant, ...]:
        """Empty: an assessment mutates nothing."""
        return ()

    @property
    def detectors(self) -> Mapping[str, Detector]:
        """Empty: an assessment mutates nothing."""
        return {}

    @property
    def unbegun(self) -> bool:
        """Return whether every fresh trial raised an error before it did anything."""
        return unbegun(self.lanes.values())

    @property
    def decided(self) -> bool:
        """Return whether every scenario has the trials that its verdict needs."""
        return all(lane.complete for lane in self.lanes.values())

    def launch(self) -> Launch | None:
        """Return the next trial of the scenario with the fewest so far."""
        wanting = [
            (lane.launched, position, name)
            for position, (name, lane) in enumerate(self.lanes.items())
            if lane.wants_another
        ]
        if not wanting:
            return None
        number, _, name = min(wanting)
        lane = self.lanes[name]
        lane.launched += 1
        self.in_flight += 1
        return Launch("", name, lane.first + number, number)

    def record(self, launch: Launch, result: TrialResult) -> None:
        """Take in a finished trial."""
        self.watch.record(launch, result)
        self.note(result, self.plan.budget)
        self.lanes[launch.scenario].record(launch.number, result)
        self._note_beginning(result)
        if self._may_be_unable(result):
            said = cannot_run(self.lanes.values())
            self.unable = self.unable or bool(said)
            self.problem = self.problem or said or (no_evidence(self.lanes.values()) if self.decided else "")

    def _note_beginning(self, result: TrialResult) -> None:
        began = result.outcome.is_evidence and not result.never_began
        self._began = self._began or (began and not result.stored)
        self._ran = self._ran or (began and result.stored)

    def _may_be_unable(self, result: TrialResult) -> bool:
        """Return whether the result may complete the evidence, which saves a look at all scenarios for each trial."""
        return not self._began and (not (self._ran and result.stored) or self.decided)

    def judgements(self) -> dict[str, Judgement]:
        """Return the verdict on each scenario, from the trials so far."""
        return {name: lane.judgement() for name, lane in self.lanes.items()}
