"""One mutant under test: where its next trial goes, and what its trials so far say."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from agentmut.engine.parts import PartsSeen
from agentmut.engine.trials import Launch, TrialResult
from agentmut.execution import Ending
from agentmut.flow import CHANGED as FLOW_CHANGED
from agentmut.frozen import digest_of
from agentmut.mutant import Edit, Mutant, Reach, Status
from agentmut.result import SUITE
from agentmut.stats.kill.allocation import Evidence, Standing, choose
from agentmut.stats.kill.rule import Decision, KillTable
from agentmut.stats.kill.suite_share import PooledEvidence, PooledStanding, log_pooled, log_threshold, spread
from agentmut.witness import Route

WITNESS_PATIENCE = 3
"""Trials that are evidence, yet without any witness, after which a mutant counts as not applied."""
TROUBLE_PATIENCE = 3
"""Trials in a row that are no evidence after which a mutant is given up."""
HOPELESS = frozenset({Ending.REFUSED, Ending.UNBUILDABLE})


@dataclass
class Lane:
    """One scenario of a mutant: its decision table and the evidence so far."""

    scenario: str
    table: KillTable
    evidence: Evidence
    affinity: float = 0.0
    trials: int = 0
    failures: int = 0
    launched: int = 0
    decision: Decision = Decision.CONTINUE
    first_failure: str = ""

    @property
    def standing(self) -> Standing:
        """What the choice of the next scenario looks at."""
        return Standing(self.evidence, self.trials, self.failures)

    def record(self, failed: bool, reason: str = "") -> None:
        """Take in one trial; a lane that has decided stays as it is."""
        if self.decision is Decision.CONTINUE:
            self.trials += 1
            self.failures += failed
            self.first_failure = self.first_failure or (reason if failed else "")
            self.decision = self.table.decide(self.trials, self.failures)


@dataclass
class SuiteEvidence:
    """All scenarios of a mutant together, where the suite as a whole has a share of alpha."""

    level: float
    by_scenario: dict[str, PooledEvidence]
    left_out: int = 0
    """Scenarios that reach the mutant, on which the original fails too often."""
    log_evidence: float = 0.0
    killed: bool = False
    """Whether the evidence has ever reached the threshold."""

    def update(self, lanes: Iterable[Lane]) -> None:
        """Look at the trials so far; to be called after each."""
        states = (PooledStanding(self.by_scenario[x.scenario], x.trials, x.failures) for x in lanes)
        self.log_evidence = log_pooled(states, self.left_out)
        self.killed = self.killed or self.log_evidence >= log_threshold(self.level)


@dataclass
class Arm:
    """A mutant's campaign. Results are consumed in launch order, whatever order they arrive in."""

    mutant: Mutant
    lanes: list[Lane]
    seed: int
    window: int = 1
    suite: SuiteEvidence | None = None
    parts: PartsSeen | None = None
    """For a second-order mutant: both parts have to arrive."""
    status: Status | None = None
    reason: str = ""
    launches: list[Launch] = field(default_factory=list)
    arrived: dict[int, TrialResult] = field(default_factory=dict)
    consumed: int = 0
    witnessed: int = 0
    route: str = ""
    lost: int = 0
    """Trials that ended together with the process that was watching them."""
    past: int = 0
    """Trials that are evidence, but did not come to the tool whose calls go wrong, or to the part of the flow."""
    cost: float | None = 0.0
    """US dollars; None once a trial's price is unknown."""
    trouble: int = 0

    @property
    def ready(self) -> bool:
        """Whether the next launch may be chosen now: the results that it may look at have been consumed."""
        return self.status is None and self.consumed == max(0, self._visible)

    @property
    def _visible(self) -> int:
        """How many results the next launch looks at; exactly these, so that timing changes nothing."""
        return len(self.launches) + 1 - self.window

    @property
    def in_flight(self) -> int:
        """Launches without a result."""
        return len(self.launches) - self.consumed - len(self.arrived)

    @property
    def killed_by(self) -> tuple[str, ...]:
        """The scenarios whose own evidence suffices for a kill, and `SUITE` if that of all together does."""
        alone = tuple(lane.scenario for lane in self.lanes if lane.decision is Decision.KILLED)
        return (*alone, SUITE) if self.suite and self.suite.killed else alone

    @property
    def evidence(self) -> int:
        """Trials so far that say something about the agent."""
        return sum(lane.trials for lane in self.lanes)

    @property
    def _unexplained(self) -> int:
        """Trials in which the change should have shown."""
        return self.evidence - self.lost - self.past

    def launch(self) -> Launch:
        """The next trial: the live scenario where a kill is most likely; ties by affinity, then at random.

        With a share for the suite it goes to those with the fewest trials while the suite's evidence leads.

        A function of the seed, the mutant and the results consumed so far.
        """
        number = len(self.launches)
        live = [lane for lane in self.lanes if lane.decision is Decision.CONTINUE]
        rng = random.Random(digest_of([self.seed, self.mutant.id, number]))
        states: Sequence[Standing | None] = [lane.standing for lane in live]
        if self.suite:
            states = spread(states, self.suite.log_evidence)
        lane = live[choose(states, [1.0] * len(live), [x.affinity for x in live], rng)]
        launch = Launch(self.mutant.id, lane.scenario, lane.launched, number)
        lane.launched += 1
        self.launches.append(launch)
        self._consume_visible()
        return launch

    def record(self, number: int, result: TrialResult) -> None:
        """Take in the result of a launch, and consume what has become consecutive."""
        self.arrived[number] = result
        self._consume_visible()

    def _consume_visible(self) -> None:
        while self.status is None and self.consumed < self._visible and self.consumed in self.arrived:
            self._consume(self.launches[self.consumed], self.arrived.pop(self.consumed))
            self.consumed += 1

    def _consume(self, launch: Launch, result: TrialResult) -> None:
        if self._arrived(launch, result) and result.witness:
            self.witnessed += 1
            self.route = result.witness.route
        self.cost = None if self.cost is None or result.usd is None else self.cost + result.usd
        self.lost += result.footprint.lost
        if result.outcome.is_evidence:
            self.trouble = 0
            lane = next(lane for lane in self.lanes if lane.scenario == launch.scenario)
            lane.record(result.outcome != "pass", result.reason)
            self.past += _went_past(self.mutant, result)
            if self.suite:
                self.suite.update(self.lanes)
        else:
            self.trouble += 1
        self._conclude(result)

    def _arrived(self, launch: Launch, result: TrialResult) -> bool:
        if self.parts is None:
            return result.witness is not None
        counts = result.outcome.is_evidence and not result.footprint.lost
        return self.parts.record(launch.scenario, result.witness, counts=counts)

    def _conclude(self, result: TrialResult) -> None:
        if result.ending in HOPELESS:
            self._end(Status.ERROR, result.reason)
        elif self.parts and self.parts.missing:
            self._end(Status.NOT_APPLIED, f"its part {self.parts.missing} did not arrive: no trial showed it")
        elif not self.parts and not self.witnessed and self._unexplained >= WITNESS_PATIENCE:
            self._end(Status.NOT_APPLIED, _unwitnessed(self.mutant, self.evidence, result))
        elif self.trouble >= TROUBLE_PATIENCE:
            reason = f"{self.trouble} trials in a row gave no evidence ({result.outcome}): {result.reason}"
            self._end(Status.UNDECIDED, reason)
        else:
            self._decide(result)

    def _decide(self, result: TrialResult) -> None:
        decisions = [lane.decision for lane in self.lanes]
        if self.killed_by and (self.witnessed or self.lost):
            self.route = self.route or Route.EFFECT
            self._end(Status.KILLED, "")
        elif Decision.CONTINUE not in decisions:
            if self.killed_by:
                self._end(Status.NOT_APPLIED, _unwitnessed(self.mutant, self.evidence, result))
            elif self.past == self.evidence:
                self._end(Status.NO_COVERAGE, _passed_by(self.mutant, self.evidence))
            elif not (self.witnessed or self.lost):
                self._end(Status.NOT_APPLIED, _unwitnessed(self.mutant, self.evidence, result))
            elif all(decision is Decision.SURVIVED for decision in decisions):
                self._end(Status.SURVIVED, "")
            else:
                self._end(Status.UNDECIDED, "the trials allowed per scenario were not enough")

    def _end(self, status: Status, reason: str) -> None:
        self.status, self.reason = status, reason


def _went_past(mutant: Mutant, result: TrialResult) -> bool:
    """Whether a trial did not come to what the mutant changes, as agents do not always do the same.

    It made too few calls of a tool for a fault of it to show; or the flow is changed, but the run did not enter the
    node, or did not decide for the way, that leads elsewhere now.
    """
    if mutant.reach is Reach.RAN:
        if result.witness is not None or FLOW_CHANGED not in result.footprint.marks:
            return False
        elsewhere = bool(mutant.subject) and mutant.subject not in result.footprint.nodes
        return elsewhere or any(_is_decision(edit) for edit in mutant.edits)
    wanted = {Reach.CALLED: 1, Reach.REPEATED: 2}.get(mutant.reach, 0)
    faulty = bool(mutant.edits) and all(edit.is_fault for edit in mutant.edits)
    return faulty and result.tools[mutant.subject] < wanted


def _is_decision(edit: Edit) -> bool:
    return edit.part == "orchestration" and edit.path[1:2] in (("branches",), ("handoffs",))


def _passed_by(mutant: Mutant, trials: int) -> str:
    if mutant.reach is Reach.RAN:
        return f"none of {trials} trials came to this part of the flow"
    often = " more than once" if mutant.reach is Reach.REPEATED else ""
    return f"none of {trials} trials called {mutant.subject}{often}, and few of the original's did"


def _unwitnessed(mutant: Mutant, trials: int, result: TrialResult) -> str:
    said = f"; the last one ended with: {result.reason}" if result.reason else ""
    if any(edit.is_fault for edit in mutant.edits):
        return (
            f"in none of {trials} trials the fault changed what {mutant.subject} returned: its results hold "
            f"nothing that this fault changes, or its calls go past agentmut{said}"
        )
    return (
        f"none of {trials} trials showed the change in what was sent to the model or read from the config. "
        f"Probable cause: the agent copied this part at import, or its factory ignores it{said}"
    )
