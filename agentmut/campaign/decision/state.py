"""The state of a campaign, and the one function that says what to do next.

Everything here is a function of the plan and of the results recorded so far. `resume` therefore is the
same loop on the stored plan: stored results are recorded again, and the rest follows.
"""

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from agentmut.campaign.decision.arm import Arm
from agentmut.campaign.decision.baseline import ScenarioBaseline
from agentmut.campaign.decision.conclusions import WITNESS_PATIENCE
from agentmut.campaign.decision.lane import Lane, SuiteEvidence
from agentmut.campaign.decision.pairs import PartsSeen
from agentmut.campaign.decision.problems import (
    DEAD_ENDPOINT,
    cannot_run,
    dead_endpoint,
    destroyed_problem,
    early_problem,
    identity_problem,
    unbegun,
    untestable_problem,
)
from agentmut.campaign.decision.reach import Reached, reached
from agentmut.campaign.limits import Spend, baseline_within, price_missing
from agentmut.campaign.preparation.plan import Plan
from agentmut.campaign.preparation.tables import Tables
from agentmut.campaign.trials import Launch, TrialResult
from agentmut.nouns import Mutant, Scenario, Status
from agentmut.stats import LEAST_BASELINE, KillDesign, is_untestable, level_for
from agentmut.trial import Detector, SuiteConfig

IDENTITY_ALPHA = 0.001


@dataclass
class CampaignState:
    """Plan, suite and results. Changed by `record` only."""

    plan: Plan
    suite: SuiteConfig
    scenarios: Mapping[str, Scenario]
    tables: Tables
    baselines: dict[str, ScenarioBaseline] = field(init=False)
    detectors: dict[str, Detector] = field(init=False)
    arms: dict[str, Arm] = field(default_factory=dict)
    decided_free: dict[str, tuple[Status, str]] = field(default_factory=dict)
    """Mutants decided without a trial: no coverage, never carried, ignored."""
    spend: Spend = field(default_factory=Spend)
    in_flight: int = 0
    problem: str = ""
    """Why the campaign cannot be carried out."""
    refused: bool = False
    """Whether the problem is one of the project file: a budget that cannot be kept."""
    unable: bool = False
    """Whether the problem is that the agent cannot run."""
    forgot: bool = False
    """Whether trials of it that never began are not reused."""
    _mutant_began: bool = False
    """Whether some trial of a mutant did more than raise at once."""
    baseline_complete: bool = False
    """Whether every scenario has its baseline."""
    _trouble: list[str] = field(default_factory=list)
    """The mutants whose trials ended in infrastructure trouble since the last one that did not."""
    _first: dict[str, TrialResult] = field(default_factory=dict)
    _ready: list[int] = field(default_factory=list)
    _order: list[str] = field(default_factory=list)
    _position: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.baselines = {name: ScenarioBaseline(self.plan.baseline) for name in self.plan.scenarios}
        self._sized = self.plan.baseline_limit is None
        self.detectors = {m.id: Detector(m, self.suite.full) for m in self.contenders}

    @property
    def controls(self) -> tuple[Mutant, ...]:
        """The mutants that check the campaign itself; they go first. What is empty cannot be destroyed."""
        destroyed = (self.plan.destroyed,) if self.plan.destroyed.edits else ()
        return (*destroyed, *self.plan.identity)

    @property
    def contenders(self) -> tuple[Mutant, ...]:
        """All mutants that are to be run, controls first."""
        return (*self.controls, *(m for m in self.plan.mutants if m.id not in self.plan.ignored))

    def testable(self, scenario: str) -> bool:
        """Whether the original passes often enough on a scenario for a drop to show."""
        baseline = self.baselines[scenario]
        return baseline.usable and not is_untestable(baseline.failures, baseline.trials, self.plan.rule.delta)

    @property
    def unbegun(self) -> bool:
        """Whether every trial of the original that was run now raised before it did anything."""
        return unbegun(self.baselines.values())

    @property
    def decided(self) -> bool:
        """Whether every mutant has its status."""
        return self.baseline_complete and all(self.status(mutant.id) for mutant in self.contenders)

    def status(self, mutant: str) -> tuple[Status, str] | None:
        """A mutant's status and reason once it has one."""
        if mutant in self.decided_free:
            return self.decided_free[mutant]
        arm = self.arms.get(mutant)
        return (arm.status, arm.reason) if arm and arm.status else None

    def record(self, launch: Launch, result: TrialResult) -> None:
        """Take in a finished trial."""
        self.in_flight -= 1
        if result.unpriced and self.plan.budget.usd is not None:
            self._refuse(price_missing(result.unpriced, result.trace.unreported_models))
        if launch.mutant:
            self._record_arm(launch, result)
        else:
            self._record_baseline(launch, result)
        self._note_trouble(launch, result)

    def launch(self) -> Launch | None:
        """Choose the next trial and count it as in flight; None when none can be launched now."""
        launch = self._launch_arm() if self.baseline_complete else self._launch_baseline()
        self.in_flight += launch is not None
        return launch

    def _note_trouble(self, launch: Launch, result: TrialResult) -> None:
        if result.outcome not in ("infrastructure", "not_judged"):
            self._trouble = []
            return
        self._trouble.append(launch.mutant)
        given_up = len(set(self._trouble)) > 1 and self._all_ended()
        if given_up or len(self._trouble) >= DEAD_ENDPOINT:
            self.problem = self.problem or dead_endpoint(len(self._trouble), result)

    def _all_ended(self) -> bool:
        return self.baseline_complete and all(arm.status for arm in self.arms.values())

    def _record_baseline(self, launch: Launch, result: TrialResult) -> None:
        baseline = self.baselines[launch.scenario]
        baseline.record(result)
        if launch.number == 0:
            self._first[launch.scenario] = result
            self._size_baseline()
        self.baseline_complete = baseline.complete and all(b.complete for b in self.baselines.values())
        fresh = bool(result.never_began) and not result.stored
        telling = fresh or not baseline.passes or self.baseline_complete
        if telling and not self.problem:  # looking at all of them would cost time each trial
            self.unable = bool(cannot_run(self.baselines.values()))
            self.problem = early_problem(self.baselines.values())
        if self.baseline_complete and not self.problem:
            self._begin_kill_phase()

    def _size_baseline(self) -> None:
        """Once every scenario's first trial is there, cut the baseline to what the budget allows."""
        limit = self.plan.baseline_limit
        if limit is None or len(self._first) < len(self.baselines):
            return
        cut = baseline_within(limit, list(self._first.values()), self.plan.baseline)
        if cut.refusal:
            self._refuse(cut.refusal)
        for baseline in self.baselines.values():
            baseline.wanted = cut.trials
        self._sized = True

    def _refuse(self, problem: str) -> None:
        if not self.problem:
            self.problem, self.refused = problem, True

    def _record_arm(self, launch: Launch, result: TrialResult) -> None:
        arm = self.arms[launch.mutant]
        was_ready = arm.ready
        self._mutant_began = self._mutant_began or (result.outcome.is_evidence and not result.never_began)
        arm.record(launch.number, result)
        if arm.ready and not was_ready:
            heapq.heappush(self._ready, self._position[launch.mutant])
        if arm.status:
            self._check_control(arm)

    def _launch_arm(self) -> Launch | None:
        while self._ready:
            arm = self.arms[self._order[self._ready[0]]]
            if not arm.ready:
                heapq.heappop(self._ready)
                continue
            launch = arm.launch()
            if not arm.ready:
                heapq.heappop(self._ready)
            return launch
        return None

    def _launch_baseline(self) -> Launch | None:
        """Scenario by scenario in turn, so that costs and dead scenarios show early.

        Until the size of the baseline is known, only each scenario's first trial.
        """
        wanting = [
            (b.launched, i, name)
            for i, (name, b) in enumerate(self.baselines.items())
            if b.wants_another and (self._sized or not b.launched)
        ]
        if not wanting:
            return None
        repeat, _, name = min(wanting)
        self.baselines[name].launched += 1
        return Launch("", name, self.plan.first.get(name, 0) + repeat, repeat)

    def _begin_kill_phase(self) -> None:
        if not any(map(self.testable, self.baselines)):
            self.problem = untestable_problem(self.baselines)
            return
        for mutant in self.contenders:
            where = reached(mutant, self.detectors[mutant.id], self.suite, self.baselines, self.scenarios)
            testable = {name: weight for name, weight in where.scenarios.items() if self.testable(name)}
            if testable:
                arm = self._arm(mutant, testable, len(where.scenarios) - len(testable))
                arm.parts = PartsSeen(where.parts, WITNESS_PATIENCE) if where.parts else None
                self.arms[mutant.id] = arm
            else:
                self.decided_free[mutant.id] = _without_trial(where)
        sent = tuple(seen for b in self.baselines.values() for seen in b.footprints.values())
        self.detectors = {id: detector.informed(sent) for id, detector in self.detectors.items()}
        for id, reason in self.plan.ignored.items():
            self.decided_free[id] = (Status.IGNORED, reason)
        place = {mutant: position for position, mutant in enumerate(self.plan.order)}
        self._order = sorted(self.arms, key=lambda mutant: place.get(mutant, -1))  # controls first
        self._position = {mutant: position for position, mutant in enumerate(self._order)}
        self._ready = list(range(len(self._order)))
        self._check_free_controls()

    def _arm(self, mutant: Mutant, scenarios: Mapping[str, float], left_out: int) -> Arm:
        rule = self.plan.rule
        alpha = rule.alpha if mutant.edits else IDENTITY_ALPHA
        pooled = [name for name in scenarios if self.baselines[name].trials >= LEAST_BASELINE]
        together = rule.suite_share if len(pooled) > 1 else 0.0
        level = level_for(len(scenarios), alpha * (1 - together))
        design = KillDesign(level, rule.beta, rule.delta, rule.n_max)
        lanes = [self._lane(name, weight, design) for name, weight in scenarios.items()]
        suite = self._suite_evidence(scenarios, alpha * together, left_out) if together else None
        return Arm(mutant, lanes, self.plan.seed, self.plan.window, suite, agent=self.suite)

    def _suite_evidence(self, scenarios: Iterable[str], level: float, left_out: int) -> SuiteEvidence:
        baselines = {name: self.baselines[name] for name in scenarios}
        n_max = self.plan.rule.n_max
        pooled = {name: self.tables.pooled(b.failures, b.trials, n_max) for name, b in baselines.items()}
        return SuiteEvidence(level, pooled, left_out)

    def _lane(self, scenario: str, affinity: float, design: KillDesign) -> Lane:
        baseline = self.baselines[scenario]
        f0, n0 = baseline.failures, baseline.trials
        return Lane(
            scenario, self.tables.get(f0, n0, design), self.tables.evidence(f0, n0, design.n_max), affinity
        )

    def _check_free_controls(self) -> None:
        decided = self.decided_free.get(self.plan.destroyed.id)
        if decided:
            self.problem = destroyed_problem(*decided)

    def _check_control(self, arm: Arm) -> None:
        if arm.status is None or self.problem:
            return
        if arm.mutant.id == self.plan.destroyed.id:
            self.problem = destroyed_problem(arm.status, arm.reason)
        elif arm.mutant in self.plan.identity and arm.status is Status.KILLED:
            self.problem = identity_problem(arm)
        self.unable = (
            bool(self.problem) and not self._mutant_began
        )  # the baseline was stored, and the key has gone


def _without_trial(where: Reached) -> tuple[Status, str]:
    if where.scenarios:
        names = ", ".join(sorted(where.scenarios))
        return Status.UNDECIDED, f"reached only by scenarios on which the original fails too often: {names}"
    return where.otherwise, where.reason
