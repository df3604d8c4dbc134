"""One mutant under test: where its next trial goes, and what its trials so far say."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from agentmut._base import digest_of
from agentmut.campaign.decision.arrival import arrived_nowhere, passed_by, went_past
from agentmut.campaign.decision.parts import PartsSeen
from agentmut.campaign.trials import Launch, TrialResult
from agentmut.nouns import SUITE, Ending, Mutant, Status
from agentmut.stats import (
    Decision,
    Evidence,
    KillTable,
    PooledEvidence,
    PooledStanding,
    Standing,
    choose,
    log_pooled,
    log_threshold,
    spread,
)
from agentmut.trial import Delivery, Route, SuiteConfig

WITNESS_PATIENCE = 3
"""Trials that are evidence, yet without any witness, after which a mutant counts as not applied."""
PART_PATIENCE = 12
"""Further trials of a pair that is killed already, for one that shows both parts, before it is left undecided."""
TROUBLE_PATIENCE = 3
"""Trials in a row that are no evidence after which a mutant, or a scenario of it, is given up."""
OF_THE_CASE = frozenset({Ending.CASE_ERROR, Ending.SETUP_FAILED})
"""What goes wrong in a scenario of its own: it says nothing of the others."""
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
    outcomes: str = ""
    """`0` for each trial that passed and `1` for each that failed, in the order in which they were looked at."""
    errors: int = 0
    """Trials in a row in which the case itself went wrong."""
    dropped: str = ""
    """Why no further trial goes here; empty while some may."""

    @property
    def is_open(self) -> bool:
        """Whether further trials may go here."""
        return self.decision is Decision.CONTINUE and not self.dropped

    @property
    def gave_up(self) -> str:
        """Why it was left without a decision; empty where it has one, or may yet."""
        return self.dropped if self.decision is Decision.CONTINUE else ""

    @property
    def standing(self) -> Standing:
        """What the choice of the next scenario looks at."""
        return Standing(self.evidence, self.trials, self.failures)

    def record(self, failed: bool, reason: str = "") -> None:
        """Take in one trial; a lane that has decided stays as it is."""
        self.errors = 0
        if self.decision is Decision.CONTINUE:
            self.trials += 1
            self.failures += failed
            self.outcomes += "1" if failed else "0"
            self.first_failure = self.first_failure or (reason if failed else "")
            self.decision = self.table.decide(self.trials, self.failures)

    def went_wrong(self, reason: str) -> None:
        """Take in a trial in which the case itself went wrong: after some in a row, it is given up."""
        self.errors += 1
        if self.errors >= TROUBLE_PATIENCE and not self.dropped:
            self.dropped = (
                f"{self.scenario} was given up: {self.errors} trials in a row gave no evidence: {reason}"
            )


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
    agent: SuiteConfig | None = None
    """What the mutant was made from, to tell why it did not arrive."""
    status: Status | None = None
    reason: str = ""
    launches: list[Launch] = field(default_factory=list)
    arrived: dict[int, TrialResult] = field(default_factory=dict)
    consumed: int = 0
    witnessed: int = 0
    delivery: Delivery = field(default_factory=Delivery)
    route: str = ""
    lost: int = 0
    """Trials that ended together with the process that was watching them."""
    past: int = 0
    """Trials that are evidence, but did not come to the tool whose calls go wrong, or to the part of the flow."""
    cost: float | None = 0.0
    """US dollars; None once a trial's price is unknown."""
    trouble: int = 0
    beyond: int = 0
    """Trials of a pair since its scenarios were decided."""

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
        live = [lane for lane in self.lanes if lane.is_open] or self._awaiting
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

    @property
    def _awaiting(self) -> list[Lane]:
        """Where a pair whose scenarios have decided may yet show all of its parts."""
        parts = self.parts
        if parts is None:
            return []
        lanes = [lane for lane in self.lanes if not lane.dropped]
        lacking = [lane for lane in lanes if parts.awaits(lane.scenario)]
        return lacking or [lane for lane in lanes if len(parts.due[lane.scenario]) > 1]

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
            self.delivery.record(result.witness, result.footprint)
        self.cost = None if self.cost is None or result.usd is None else self.cost + result.usd
        self.lost += result.footprint.lost and result.outcome.is_evidence
        lane = next(lane for lane in self.lanes if lane.scenario == launch.scenario)
        if result.outcome.is_evidence:
            self.trouble = 0
            lane.record(result.outcome != "pass", result.reason)
            self.past += went_past(self.mutant, result, result.witness is not None)
            if self.suite:
                self.suite.update(self.lanes)
        elif result.ending in OF_THE_CASE:
            lane.went_wrong(f"({result.outcome}) {result.reason}")
        else:
            self.trouble += 1
        self._conclude(result)

    def _arrived(self, launch: Launch, result: TrialResult) -> bool:
        if self.parts is None:
            return result.witness is not None
        counts = result.outcome.is_evidence and not result.footprint.lost
        shown = result.witness.parts if result.witness else frozenset()
        past = frozenset(part.id for part in self.mutant.parts if went_past(part, result, part.id in shown))
        return self.parts.record(launch.scenario, result.witness, counts=counts, past=past)

    def _conclude(self, result: TrialResult) -> None:
        if result.ending in HOPELESS:
            self._end(Status.ERROR, result.reason)
        elif self.parts and self.parts.missing:
            self._end(Status.NOT_APPLIED, self._absent(self.parts.missing, result))
        elif not self.parts and not self.witnessed and self._unexplained >= WITNESS_PATIENCE:
            self._end(Status.NOT_APPLIED, arrived_nowhere(self.mutant, self.evidence, result, self.agent))
        elif self.trouble >= TROUBLE_PATIENCE:
            reason = f"{self.trouble} trials in a row gave no evidence ({result.outcome}): {result.reason}"
            self._end(Status.UNDECIDED, reason)
        else:
            self._decide(result)

    def _absent(self, part: str, result: TrialResult) -> str:
        return f"its part {part} did not arrive: {self._absence(part, result)}"

    def _absence(self, part: str, result: TrialResult) -> str:
        """Why a part of a pair that was due did not show, with the part's own words for it."""
        assert self.parts is not None
        (mutant,) = (one for one in self.mutant.parts if one.id == part)
        waited, passed = self.parts.waited[part], self.parts.passed[part]
        return arrived_nowhere(mutant, waited, result, self.agent) if waited else passed_by(mutant, passed)

    def _decide(self, result: TrialResult) -> None:
        gave_up = "; ".join(filter(None, (lane.gave_up for lane in self.lanes)))
        unseen = self.parts.unseen if self.parts else ""
        if self.killed_by and (self.witnessed or self.lost):
            self.route = self.route or Route.EFFECT
            self._end(Status.KILLED, "")
        elif any(lane.is_open for lane in self.lanes):
            return
        elif self.killed_by and self.parts:
            self._look_on(result)
        elif self.killed_by:
            self._end(Status.NOT_APPLIED, arrived_nowhere(self.mutant, self.evidence, result, self.agent))
        elif gave_up:
            self._end(Status.UNDECIDED, gave_up)
        elif unseen:
            waited = self.parts is not None and self.parts.waited[unseen]
            status = Status.NOT_APPLIED if waited else Status.NO_COVERAGE
            self._end(status, self._absent(unseen, result))
        elif self.past == self.evidence:
            self._end(Status.NO_COVERAGE, passed_by(self.mutant, self.evidence))
        elif not (self.witnessed or self.lost):
            self._end(Status.NOT_APPLIED, arrived_nowhere(self.mutant, self.evidence, result, self.agent))
        elif all(lane.decision is Decision.SURVIVED for lane in self.lanes):
            self._end(Status.SURVIVED, "")
        else:
            self._end(Status.UNDECIDED, "the trials allowed per scenario were not enough")

    def _look_on(self, result: TrialResult) -> None:
        """A pair is killed, perhaps by one part alone: it goes on until a trial shows both, for a while."""
        assert self.parts is not None
        self.beyond += result.outcome.is_evidence
        if self.beyond > PART_PATIENCE or not self._awaiting:  # the first of them was the one that decided
            unseen = self.parts.unseen
            why = f"its part {unseen} could show: {self._absence(unseen, result)}" if unseen else ""
            self._end(Status.UNDECIDED, f"killed before {why or 'a trial showed both of its parts'}")

    def _end(self, status: Status, reason: str) -> None:
        self.status, self.reason = status, reason
