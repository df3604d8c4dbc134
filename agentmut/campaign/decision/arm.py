"""The state of one mutant under test: its trials so far, its status, and the scenario of its next trial."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agentmut._base import digest_of
from agentmut.campaign.decision.arrival import went_past
from agentmut.campaign.decision.conclusions import (
    Conclusion,
    Situation,
    conclusion,
    ended,
    killed_by,
    untestable,
)
from agentmut.campaign.decision.confirming import Confirmation, confirmation_of, repeat_beside
from agentmut.campaign.decision.lane import TROUBLE_PATIENCE, Lane, SuiteEvidence
from agentmut.campaign.decision.lanes import Lanes
from agentmut.campaign.decision.launch_order import InOrder
from agentmut.campaign.decision.pairs import PartsSeen, awaiting, looks_on, pair_conclusion, shows_all
from agentmut.campaign.decision.reach import Clearing
from agentmut.campaign.decision.round_tables import InRound, RoundTables
from agentmut.campaign.decision.tally import Tally
from agentmut.campaign.trials import Launch, TrialResult
from agentmut.nouns import SUITE, AgentTrace, Ending, Mutant, Status
from agentmut.stats import Decision, KillTests, LiveScenario, choose, choose_scored, ruled_out, spread
from agentmut.trial import Delivery, Route, SuiteConfig

OF_THE_CASE = frozenset({Ending.CASE_ERROR, Ending.SETUP_FAILED})
"""Endings that belong to one scenario: they say nothing about other scenarios."""
FUTILE = 0.004
"""Kills a trial below which a round leaves a mutant undecided that can no longer rule out the round's drop."""
FINER_DECIDES = frozenset({Status.SURVIVED, Status.UNDECIDED, Status.UNTESTABLE})
"""What a finer round may change."""


@dataclass
class Arm:
    """The trials of one mutant. Results are consumed in launch order, in whatever order they arrive."""

    mutant: Mutant
    lanes: Sequence[Lane]
    seed: int
    window: int = 1
    suite: SuiteEvidence | None = None
    parts: PartsSeen | None = None
    """For a second-order mutant: both parts have to arrive."""
    agent: SuiteConfig | None = None
    confirms: bool = False
    """Whether a kill is final only once trials of the original beside it confirm it."""
    waiting: Confirmation | None = None
    """The kill that is to be confirmed."""
    confirmed: Confirmation | None = None
    """What confirmed the kill."""
    refuted: tuple[Confirmation, ...] = ()
    """Kills that did not hold."""
    first: Mapping[str, int] = field(default_factory=dict)
    """Scenario -> the repeat with which its trials begin, unless it is 0."""
    first_of_original: Mapping[str, int] = field(default_factory=dict)
    """Scenario -> the repeat with which the original's trials begin, unless it is 0."""
    clearing: Clearing | None = None
    """How its scenarios were chosen of those that reach it; None where it is tried on all."""
    ended: Conclusion | None = None
    rests: Conclusion | None = None
    """What its trials say for this round; a finer one goes on from there."""
    delta: float = 0.0
    """The drop that the present round rules out; 0 for a campaign without rounds."""
    weight: float = 1.0
    """The present round's share of alpha."""
    is_last: bool = True
    """Whether no finer round follows."""
    hopeful: frozenset[str] = frozenset()
    """Scenarios on which the drop of the finest round could show."""
    cleared: Mapping[str, float] = field(default_factory=dict)
    """Scenario -> the least drop that it has ruled out."""
    left_open: frozenset[str] = frozenset()
    """Scenarios that could not rule out the drop of a round: a kill there did not hold, or too many trials failed. They
    rule out no smaller drop later. The score's upper end relies on that: a round that left such a mutant early has not
    given its tables all the trials by which they kill."""
    leaves_open: bool = False
    """Whether an earlier round was left early, since a scenario could not rule out its drop any more. A smaller drop is
    not ruled out then either: further trials are for kills."""
    tested: tuple[RoundTables, ...] = ()
    """The tables of every round so far; those of later rounds too where the mutant is killed already."""
    died_in: int = -1
    """The position in `tested` of the round that killed it; -1 while it lives."""
    proof: tuple[tuple[int, int, int], KillTests] | None = None
    """The tables that could have killed it as they were last asked for: with the rounds, the death and the trials."""
    tally: Tally = field(default_factory=Tally)
    delivery: Delivery = field(default_factory=Delivery)
    route: str = ""
    trials: InOrder = field(init=False)
    _last: TrialResult | None = None
    """The last trial, without its trace."""

    def __post_init__(self) -> None:
        self.trials = InOrder(self.window)

    @property
    def status(self) -> Status | None:
        """Return the mutant's status; None while it has none."""
        return self.ended.status if self.ended else None

    @property
    def reason(self) -> str:
        """Return why the mutant has its status; an empty text where the status explains itself."""
        return self.ended.reason if self.ended else ""

    @property
    def ready(self) -> bool:
        """Return whether the next launch may be chosen now."""
        return not self.is_answered and self.trials.ready

    @property
    def is_answered(self) -> bool:
        """Return whether this round needs no further trial of the mutant."""
        return bool(self.ended or self.rests)

    @property
    def ruled_out(self) -> float | None:
        """Return the least drop that every scenario able to show it has ruled out; None without such a scenario."""
        return ruled_out(self.cleared.get(name) for name in self.hopeful)

    @property
    def standing(self) -> Conclusion | None:
        """Return the conclusion so far: a mutant that survived a coarse round is a survivor at that round's drop."""
        if self.ended and self.ended.status is not Status.UNDECIDED:
            return self.ended
        if self.ruled_out is not None:
            return Conclusion(Status.SURVIVED, self.reason)
        return self.ended

    @property
    def prospect(self) -> float:
        """Return about how many kills the next trial brings; a kill that waits for confirmation comes first."""
        return 1.0 if self.waiting else self._counted.prospect

    @property
    def _counted(self) -> Lanes:
        """Return the mutant's scenarios with the counts over all of them, each computed once."""
        self.lanes = lanes = Lanes.from_lanes(self.lanes)
        return lanes

    @property
    def killed_by(self) -> tuple[str, ...]:
        """Name the scenarios whose own evidence suffices for a kill, and `SUITE` if that of all together does."""
        return killed_by(self._counted, self.suite)

    @property
    def chosen_by_kill(self) -> tuple[str, ...]:
        """Name the scenarios whose trials the kill has chosen: all where the suite as a whole killed the mutant."""
        by_suite = self.confirmed.by_suite if self.confirmed else self.killed_by == (SUITE,)
        return tuple(lane.scenario for lane in self.lanes) if by_suite else self._counted.killers

    @property
    def evidence(self) -> int:
        """Count the trials so far that are evidence about the agent."""
        return self._counted.evidence

    def lane_on(self, scenario: str) -> Lane | None:
        """Return the mutant's lane on a scenario; None where the scenario does not reach the mutant."""
        return self._counted.named(scenario)

    def enter(self, now: InRound) -> None:
        """Begin a round: judge the trials so far by the tables of the round, and continue where they do not decide."""
        self.lanes, self.suite, self.delta, self.weight, self.is_last, self.hopeful = now
        if any(refuted.by_suite for refuted in self.refuted):
            self.suite = None
        self.rests = None
        self.add_tables(now)
        if not self._counted.is_open or self.killed_by or self._is_futile:
            self._conclude()

    def add_tables(self, now: InRound) -> None:
        """Add the tables of a round to the mutant's family, even if the mutant is dead before the round begins."""
        self.tested = (
            *self.tested,
            RoundTables({lane.scenario: lane.table for lane in now.lanes}, now.weight),
        )

    @property
    def confirmations(self) -> tuple[Confirmation, ...]:
        """Return the confirmations of the mutant's kills; the last one may still be waiting."""
        return (*self.refuted, *filter(None, (self.waiting, self.confirmed)))

    def launch(self) -> Launch:
        """Choose the next trial: the open scenario where a kill is most likely; ties by affinity, then at random.

        With a share for the suite it goes to those with the fewest trials while the suite's evidence leads.
        A function of the seed, the mutant and the results consumed so far.
        """
        launch = self._confirming_launch(self.waiting) if self.waiting else self._chosen_launch()
        self.trials.add(launch)
        self._consume()
        return launch

    def _confirming_launch(self, waiting: Confirmation) -> Launch:
        scenario, original = waiting.next()
        number, id = len(self.trials.launches), self.mutant.id
        if original:
            return Launch("", scenario, self.original_beside(scenario), number, beside=id)
        return self._launch_of_mutant(scenario, number)

    def _chosen_launch(self) -> Launch:
        number = len(self.trials.launches)
        rng = random.Random(digest_of([self.seed, self.mutant.id, number]))
        lanes = self._counted
        if lanes.is_open and not self.suite:
            lane = lanes[choose_scored(lanes.scores, lanes.affinities, rng)]
        else:
            lane = self._chosen_of(lanes, rng)
        return self._launch_of_mutant(lane.scenario, number)

    def _chosen_of(self, lanes: Lanes, rng: random.Random) -> Lane:
        """Choose where the suite has a share, or where a pair that is decided goes on."""
        live = [lane for lane in lanes if lane.is_open]
        if not live and self.parts:
            live = awaiting(self.parts, lanes)
        states: Sequence[LiveScenario | None] = [lane.standing for lane in live]
        if self.suite:
            states = spread(states, self.suite.log_evidence)
        return live[choose(states, [1.0] * len(live), [x.affinity for x in live], rng)]

    def _launch_of_mutant(self, scenario: str, number: int) -> Launch:
        repeat = self.first.get(scenario, 0) + self.trials.by_scenario[scenario]
        return Launch(self.mutant.id, scenario, repeat, number)

    def original_beside(self, scenario: str) -> int:
        """Return the repeat of the original's next trial on a scenario that is to confirm a kill."""
        number = self.trials.beside[scenario]
        return self.first_of_original.get(scenario, 0) + repeat_beside(self.mutant.id, number)

    def record(self, number: int, result: TrialResult) -> None:
        """Record the result of a launch, and consume every result that has become consecutive."""
        self.trials.arrive(number, result)
        self._consume()

    def _consume(self) -> None:
        if self.ended is None:
            for launch, result in self.trials.consume():
                self._look_at(launch, result)
                if self.ended is not None:
                    return

    def _look_at(self, launch: Launch, result: TrialResult) -> None:
        if launch.beside:
            self._look_beside(launch, result)
        else:
            self._look_at_own(launch, result)

    def _look_beside(self, launch: Launch, result: TrialResult) -> None:
        """Record a trial of the original; ignore it if its kill was settled while the trial was under way."""
        if self.waiting and self.waiting.waits_for(launch.scenario):
            failed = result.outcome != "pass" if result.outcome.is_evidence else None
            self.waiting = self.waiting.with_original(launch.scenario, failed=failed)
            self._settle()

    def _look_at_own(self, launch: Launch, result: TrialResult) -> None:
        witnessed = self._shows_change(launch, result)
        if witnessed and result.witness:
            self.route = result.witness.route
            self.delivery.record(result.witness, result.footprint)
        self._add(launch.scenario, result, witnessed=witnessed)
        self._last = result._replace(trace=AgentTrace())
        if self.waiting is None:
            self._count_looking_on(result)
            self._conclude()
            return
        if result.outcome.is_evidence and self.waiting.waits_for(launch.scenario):
            self.waiting = self.waiting.with_mutant(launch.scenario, failed=result.outcome != "pass")
        self._settle()

    def _count_looking_on(self, result: TrialResult) -> None:
        if self.parts and looks_on(self._situation(result)):
            self.tally = replace(self.tally, looked_on=self.tally.looked_on + result.outcome.is_evidence)

    def _situation(self, result: TrialResult) -> Situation:
        return Situation(self.mutant, self._counted, self.suite, self.tally, result, self.agent)

    def _conclude(self) -> None:
        """Update the status from the trials so far."""
        concluded = self._conclusion()
        if concluded and concluded.status is Status.KILLED and self.confirms:
            self.waiting = confirmation_of(self.lanes, self.suite, self.weight, self.refuted)
        elif concluded:
            self._answer(concluded)

    def _conclusion(self) -> Conclusion | None:
        if self._last is None:
            return untestable(self.lanes)
        now = self._situation(self._last)
        if self.parts:
            return pair_conclusion(now, self.parts)
        concluded = conclusion(now)
        return ended(now) if concluded is None and self._is_futile else concluded

    @property
    def _is_futile(self) -> bool:
        """Return whether further trials would neither rule out the round's drop nor are likely to kill.

        A scenario that cannot rule out the drop any more leaves it open, whatever the other scenarios show.
        """
        if self.suite or self._counted.prospect >= FUTILE:
            return False
        return not self.hopeful.isdisjoint({*self.left_open, *self._leaving_open})

    @property
    def _leaving_open(self) -> Iterable[str]:
        return (lane.scenario for lane in self.lanes if lane.leaves_open)

    def _answer(self, concluded: Conclusion) -> None:
        """Record the answer of this round; a finer round may change it."""
        self.left_open = self.left_open.union(self._leaving_open)
        survived = {lane.scenario for lane in self.lanes if lane.decision is Decision.SURVIVED}
        self.cleared = {**self.cleared, **dict.fromkeys(survived - self.left_open, self.delta)}
        if not self.is_last and concluded.status in FINER_DECIDES and not self._is_given_up:
            self.rests = concluded
        else:
            self._end(concluded)

    @property
    def _is_given_up(self) -> bool:
        """Return whether trials have stopped because of trouble, which a finer round would meet again."""
        dropped = any(lane.dropped and lane.decision is Decision.CONTINUE for lane in self.lanes)
        return dropped or self.tally.trouble >= TROUBLE_PATIENCE

    def pause(self) -> None:
        """Wait for the next round when this round can run no further trial of the mutant."""
        if not self.is_last and not self.is_answered:
            self.rests = Conclusion(Status.UNDECIDED, "no further trial could be run")

    def _end(self, concluded: Conclusion) -> None:
        self.ended = concluded
        if self.status is Status.KILLED:
            self.route = self.route or Route.EFFECT
            self.died_in = len(self.tested) - 1

    def _settle(self) -> None:
        """Confirm the kill, or withdraw it, once the trials beside it decide."""
        waiting = self.waiting
        assert waiting is not None
        if self.tally.trouble >= TROUBLE_PATIENCE:
            self._take_back(waiting)
            self._conclude()
        elif waiting.confirmed:
            self.waiting, self.confirmed = None, waiting
            self._end(Conclusion(Status.KILLED))
        elif waiting.given_up:
            self._take_back(waiting)
            self._conclude()

    def accept(self) -> None:
        """Make the waiting kill final on the evidence of the baseline, where no further trial can be run."""
        if self.waiting:
            self.waiting = None
            self._end(Conclusion(Status.KILLED))

    def _take_back(self, waiting: Confirmation) -> None:
        self.waiting, self.refuted = None, (*self.refuted, waiting)
        if waiting.by_suite:
            self.suite = None
            return
        refuted = [name for name, _ in waiting.by_scenario]
        self.lanes = self._counted.changed(refuted, lambda lane: lane.unconfirmed(waiting.reason))

    def _shows_change(self, launch: Launch, result: TrialResult) -> bool:
        if self.parts:
            return shows_all(self.parts, self.mutant, launch.scenario, result) and result.witness is not None
        return result.witness is not None

    def _add(self, scenario: str, result: TrialResult, *, witnessed: bool) -> None:
        evidence, of_the_case = result.outcome.is_evidence, result.ending in OF_THE_CASE
        past = evidence and went_past(self.mutant, result, result.witness is not None)
        self.tally = self.tally.with_trial(
            result, witnessed=witnessed, past=past, of_the_case=of_the_case and not evidence
        )
        if evidence:
            failed = result.outcome != "pass"
            self.lanes = self._counted.changed(
                [scenario], lambda lane: lane.with_trial(failed, result.reason)
            )
            self.suite = self.suite and self.suite.after(self.lanes)
        elif of_the_case:
            reason = f"({result.outcome}) {result.reason}"
            self.lanes = self._counted.changed([scenario], lambda lane: lane.with_error(reason))
