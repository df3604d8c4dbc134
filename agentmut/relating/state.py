"""The state of a check of relations: the next follow-up runs, and the verdicts."""

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from agentmut._base import RunError
from agentmut.assessment import Assessment, AssessmentPlan
from agentmut.campaign import Account, Launch, TrialList, TrialResult, Watch
from agentmut.nouns import Mutant, Scenario
from agentmut.relating.follow_ups import TrialRef
from agentmut.relating.lane import Lane
from agentmut.relating.lane_queue import LaneQueue
from agentmut.trial import Detector, SuiteConfig

STORED_KIND = "relations --stored"
SURVIVORS_KIND = "relations --survivors"


class RelationsPlan(AssessmentPlan):
    """A check of relations before its first trial."""

    kind: str = "relations"
    """What follows `agentmut`: each kind has a latest run of its own, which `agentmut clean` keeps."""
    relations: tuple[str, ...] = ()


@dataclass
class Relating(Account):
    """Follow-up runs of all lanes. Trials that two lanes ask for are run once. Changed by `record` only."""

    plan: RelationsPlan
    suite: SuiteConfig
    scenarios: Mapping[str, Scenario]
    contenders: tuple[Mutant, ...]
    detectors: Mapping[str, Detector]
    lanes: Sequence[Lane]
    reworded: Collection[str] = ()
    """Scenarios whose turns are not those of the source runs."""
    watch: Watch = field(default_factory=lambda: Watch(lambda: False))
    """Tells outages of the model service from failures of the agent; pairs that trouble cost are no verdict."""
    _starts: Counter[tuple[bool, bool]] = field(default_factory=Counter)
    """Runs by whether they were taken from the store, and whether they did more than raise at once."""
    _found: dict[TrialRef, TrialResult] = field(default_factory=dict)
    """Results that a lane waits for, or will ask for: traces are large."""
    _uses: Counter[TrialRef] = field(init=False)
    """Pairs that a trial is part of and that are not judged yet."""
    _wanted_by: dict[TrialRef, list[int]] = field(default_factory=dict)
    """Positions of the lanes that wait for a trial."""
    _order: LaneQueue = field(init=False)
    _queue: deque[TrialRef] = field(default_factory=deque)

    def __post_init__(self) -> None:
        pairs = (pair for lane in self.lanes if not lane.complete for pair in lane.planned)
        self._uses = Counter(ref for pair in pairs for ref in pair.trials)
        self._order = LaneQueue(self.lanes)
        self.watch.doubtful = self._failed_last

    def _failed_last(self) -> tuple[Launch, ...]:
        """Return the runs that failed in a row and so ended a lane with FAIL; other lanes may share them."""
        refs = dict.fromkeys(ref for lane in self.lanes for ref in lane.failed_last())
        return tuple(Launch(*ref, number=ref.repeat) for ref in refs)

    @property
    def decided(self) -> bool:
        """Return whether every lane has the pairs that its verdict needs."""
        return self._order.all_complete

    @property
    def unbegun(self) -> bool:
        """Return whether every run, or every fresh run, raised an error before it did anything."""
        ran_now, ran_before = self._starts[False, True], self._starts[True, True]
        raised_now, raised_before = self._starts[False, False], self._starts[True, False]
        return not ran_now and (raised_now > 0 or (raised_before > 0 and not ran_before))

    @property
    def pairs(self) -> int:
        """Return the number of pairs judged so far."""
        return sum(len(lane.held) for lane in self.lanes)

    def launch(self) -> Launch | None:
        """Return the next trial: of the lane with the fewest pairs so far."""
        while not self._queue:
            at = None if self.problem else self._order.first()
            if at is None:
                return None
            self._begin(at)
        ref = self._queue.popleft()
        self.in_flight += 1
        return Launch(*ref, number=ref.repeat)

    def record(self, launch: Launch, result: TrialResult) -> None:
        """Take in a finished trial."""
        self.watch.record(launch, result)
        self.note(result, self.plan.budget)
        self._starts[result.stored, not result.never_began] += 1
        ref = TrialRef(*launch[:3])
        if self._uses[ref]:
            self._found[ref] = self._seen_again(ref, result)
        for at in self._wanted_by[ref]:
            self._consume(at)

    def _seen_again(self, ref: TrialRef, result: TrialResult) -> TrialResult:
        """Return the result with a witness that does not take what was asked for what was changed."""
        if result.witness is None or ref.scenario not in self.reworded:
            return result
        detector = self.detectors[ref.mutant].of_other_turns()
        return result._replace(witness=detector.witness(result.footprint))

    def judge_free(self) -> None:
        """Judge the pairs that need no run, for a check that ended before its follow-up runs."""
        for at, lane in enumerate(self.lanes):
            while lane.free and lane.wants_another and not self.problem:
                self._begin(at)

    def _begin(self, at: int) -> None:
        for ref in self.lanes[at].begin():
            if ref not in self._wanted_by:
                self._wanted_by[ref] = []
                self._queue.append(ref)
            self._wanted_by[ref].append(at)
        self._consume(at)

    def _consume(self, at: int) -> None:
        if not self.lanes[at].ended:
            self._judge(self.lanes[at])
        self._order.changed(at)

    def _judge(self, lane: Lane) -> None:
        judged = lane.consumed
        try:
            lane.consume(self._found)
        except RunError as error:  # the relation itself is broken: what has been run is kept
            self.problem = self.problem or str(error)
            lane.ended = True
        for pair in lane.planned[judged : None if lane.ended else lane.consumed]:
            self._drop(pair.trials)

    def _drop(self, trials: Iterable[TrialRef]) -> None:
        """Drop runs that no pair needs any longer."""
        for ref in trials:
            self._uses[ref] -= 1
            if not self._uses[ref]:
                self._found.pop(ref, None)


@dataclass
class SourceTrials(TrialList):
    """The source runs of mutants."""

    found: dict[TrialRef, TrialResult] = field(default_factory=dict)
    watch: Watch = field(default_factory=lambda: Watch(lambda: False))
    """Tells outages of the model service from failures of mutants."""

    def record(self, launch: Launch, result: TrialResult) -> None:
        """Take in a finished trial."""
        self.watch.record(launch, result)
        super().record(launch, result)
        self.found[TrialRef(*launch[:3])] = result


def first_and_anew(first: Relating, make: Callable[[], Relating]) -> Callable[[], Relating]:
    """Return a function that gives the follow-up work: first the present one, then new copies."""
    at_hand = [first]
    return lambda: at_hand.pop() if at_hand else make()


Progress = Callable[[Assessment | Relating | SourceTrials], None]
"""Told of the work after each trial."""
