"""Relations under way: which follow-up runs are wanted next, and what they lead to."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agentmut.engine.assessment.state import AssessmentPlan
from agentmut.engine.limits import Spend, price_missing
from agentmut.engine.problems import DEAD_ENDPOINT, dead_endpoint
from agentmut.engine.relating.follow_ups import TrialRef
from agentmut.engine.relating.lane import Lane
from agentmut.engine.suite import SuiteConfig
from agentmut.engine.trials import Launch, TrialResult
from agentmut.errors import RunError
from agentmut.mutant import Mutant
from agentmut.scenario import Scenario
from agentmut.trace import Outcome
from agentmut.witness import Detector


class RelationsPlan(AssessmentPlan):
    """A check of relations before its first trial."""

    kind: str = "relations"
    relations: tuple[str, ...] = ()


@dataclass
class Trouble:
    """Counts failures of the machinery in a row."""

    count: int = 0

    def after(self, result: TrialResult) -> str:
        """Why to give up after this result; empty to go on."""
        self.count = self.count + 1 if result.outcome is Outcome.INFRASTRUCTURE else 0
        return dead_endpoint(self.count, result.reason) if self.count >= DEAD_ENDPOINT else ""


@dataclass
class Relating:
    """Follow-up runs of all lanes. Trials that two lanes ask for are run once. Changed by `record` only."""

    plan: RelationsPlan
    suite: SuiteConfig
    scenarios: Mapping[str, Scenario]
    contenders: tuple[Mutant, ...]
    detectors: Mapping[str, Detector]
    lanes: Sequence[Lane]
    spend: Spend = field(default_factory=Spend)
    in_flight: int = 0
    problem: str = ""
    refused: bool = False
    """Whether the problem is one of the project file: a budget that cannot be kept."""
    _found: dict[TrialRef, TrialResult] = field(default_factory=dict)
    _wanted_by: dict[TrialRef, list[Lane]] = field(default_factory=dict)
    _queue: deque[TrialRef] = field(default_factory=deque)
    _trouble: Trouble = field(default_factory=Trouble)

    @property
    def decided(self) -> bool:
        """Whether every lane has the pairs that its verdict takes."""
        return all(lane.complete for lane in self.lanes)

    @property
    def pairs(self) -> int:
        """Pairs judged so far."""
        return sum(len(lane.held) for lane in self.lanes)

    def launch(self) -> Launch | None:
        """The next trial: of the lane with the fewest pairs so far."""
        while not self._queue:
            wanting = [(lane.launched, i) for i, lane in enumerate(self.lanes) if lane.wants_another]
            if self.problem or not wanting:
                return None
            self._begin(self.lanes[min(wanting)[1]])
        ref = self._queue.popleft()
        self.in_flight += 1
        return Launch(*ref, number=ref.repeat)

    def record(self, launch: Launch, result: TrialResult) -> None:
        """Take in a finished trial."""
        self.in_flight -= 1
        ref = TrialRef(*launch[:3])
        self._found[ref] = result
        if result.unpriced and self.plan.budget.usd is not None:
            self.problem, self.refused = self.problem or price_missing(result.unpriced), True
        self.problem = self.problem or self._trouble.after(result)
        for lane in self._wanted_by[ref]:
            self._consume(lane)

    def judge_free(self) -> None:
        """Judge the pairs that need no run; for a check that ended before its follow-up runs."""
        for lane in self.lanes:
            while lane.free and lane.wants_another and not self.problem:
                self._begin(lane)

    def _begin(self, lane: Lane) -> None:
        for ref in lane.begin():
            if ref not in self._wanted_by:
                self._wanted_by[ref] = []
                self._queue.append(ref)
            self._wanted_by[ref].append(lane)
        self._consume(lane)

    def _consume(self, lane: Lane) -> None:
        try:
            lane.consume(self._found)
        except RunError as error:  # the relation itself is broken: what has been run is kept
            self.problem = self.problem or str(error)
            lane.ended = True


@dataclass
class Errands:
    """A list of trials, each run once: the source runs of mutants."""

    plan: RelationsPlan
    suite: SuiteConfig
    scenarios: Mapping[str, Scenario]
    contenders: tuple[Mutant, ...]
    detectors: Mapping[str, Detector]
    wanted: deque[TrialRef]
    spend: Spend = field(default_factory=Spend)
    in_flight: int = 0
    problem: str = ""
    refused: bool = False
    found: dict[TrialRef, TrialResult] = field(default_factory=dict)
    _trouble: Trouble = field(default_factory=Trouble)

    @property
    def decided(self) -> bool:
        """Whether all are done."""
        return not self.wanted and not self.in_flight

    def launch(self) -> Launch | None:
        """The next of them."""
        if not self.wanted:
            return None
        self.in_flight += 1
        ref = self.wanted.popleft()
        return Launch(*ref, number=ref.repeat)

    def record(self, launch: Launch, result: TrialResult) -> None:
        """Take in a finished trial."""
        self.in_flight -= 1
        self.found[TrialRef(*launch[:3])] = result
        if result.unpriced and self.plan.budget.usd is not None:
            self.problem, self.refused = self.problem or price_missing(result.unpriced), True
        self.problem = self.problem or self._trouble.after(result)
