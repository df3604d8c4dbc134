"""The state of a campaign, and the one function that says what to do next.

Everything here is a function of the plan and of the results recorded so far. `resume` therefore is the
same loop on the stored plan: stored results are recorded again, and the rest follows.
"""

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from agentmut.engine.arm import Arm, Lane
from agentmut.engine.baseline import ScenarioBaseline
from agentmut.engine.plan import Plan
from agentmut.engine.reach import Reached, reached
from agentmut.engine.suite import SuiteConfig
from agentmut.engine.tables import Tables
from agentmut.engine.trials import Launch, TrialResult
from agentmut.mutant import Mutant, Status
from agentmut.scenario import Scenario
from agentmut.stats.killrule import KillDesign, is_untestable, level_for
from agentmut.witness import Detector

IDENTITY_ALPHA = 0.001
DEAD_ENDPOINT = 25
"""Infrastructure failures in a row, over all mutants, after which the run is given up."""
HOPELESS_BASELINE = 5
"""Trials per scenario after which an agent that has not passed once is given up."""


class Stop(StrEnum):
    """Why a campaign ended."""

    FINISHED = "finished"
    BUDGET = "budget"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    """It cannot be carried out; `CampaignState.problem` says why."""


@dataclass(frozen=True)
class Spend:
    """What has been spent so far, in this process and before an interruption."""

    trials: int = 0
    usd: float = 0.0
    unpriced: int = 0
    """Trials that called a model without a known price."""
    tokens: int = 0
    seconds: float = 0.0
    """Time on the clock since the run was started or resumed."""
    reused: int = 0
    abandoned: int = 0


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
    spend: Spend = Spend()
    in_flight: int = 0
    problem: str = ""
    trouble: int = 0
    _ready: list[int] = field(default_factory=list)
    _order: list[str] = field(default_factory=list)
    _position: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.baselines = {name: ScenarioBaseline(self.plan.baseline) for name in self.plan.scenarios}
        self.detectors = {m.id: Detector(m, self.suite.full) for m in self.contenders}

    @property
    def controls(self) -> tuple[Mutant, ...]:
        """The mutants that check the campaign itself; they go first."""
        return (self.plan.destroyed, *self.plan.identity)

    @property
    def contenders(self) -> tuple[Mutant, ...]:
        """All mutants that are to be run, controls first."""
        return (*self.controls, *(m for m in self.plan.mutants if m.id not in self.plan.ignored))

    @property
    def baseline_complete(self) -> bool:
        """Whether every scenario has its baseline."""
        return all(baseline.complete for baseline in self.baselines.values())

    def testable(self, scenario: str) -> bool:
        """Whether the original passes often enough on a scenario for a drop to show."""
        baseline = self.baselines[scenario]
        return baseline.usable and not is_untestable(baseline.failures, baseline.trials, self.plan.rule.delta)

    def status(self, mutant: str) -> tuple[Status, str] | None:
        """A mutant's status and reason once it has one."""
        if mutant in self.decided_free:
            return self.decided_free[mutant]
        arm = self.arms.get(mutant)
        return (arm.status, arm.reason) if arm and arm.status else None

    def record(self, launch: Launch, result: TrialResult) -> None:
        """Take in a finished trial."""
        self.in_flight -= 1
        self.trouble = self.trouble + 1 if result.outcome == "infrastructure" else 0
        if launch.mutant:
            self._record_arm(launch, result)
        else:
            self.baselines[launch.scenario].record(result)
            if self.baseline_complete:
                self._begin_kill_phase()

    def launch(self) -> Launch | None:
        """Choose the next trial and count it as in flight; None when none can be launched now."""
        launch = self._launch_arm() if self.baseline_complete else self._launch_baseline()
        self.in_flight += launch is not None
        return launch

    def _record_arm(self, launch: Launch, result: TrialResult) -> None:
        arm = self.arms[launch.mutant]
        was_ready = arm.ready
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
        """Scenario by scenario in turn, so that costs and dead scenarios show early."""
        wanting = [
            (b.launched, i, name) for i, (name, b) in enumerate(self.baselines.items()) if b.wants_another
        ]
        if not wanting:
            return None
        repeat, _, name = min(wanting)
        self.baselines[name].launched += 1
        return Launch("", name, repeat, repeat)

    def _begin_kill_phase(self) -> None:
        for mutant in self.contenders:
            where = reached(mutant, self.detectors[mutant.id], self.suite, self.baselines, self.scenarios)
            testable = {name: weight for name, weight in where.scenarios.items() if self.testable(name)}
            if testable:
                self.arms[mutant.id] = self._arm(mutant, testable)
            else:
                self.decided_free[mutant.id] = _without_trial(where)
        for id, reason in self.plan.ignored.items():
            self.decided_free[id] = (Status.IGNORED, reason)
        self._order = list(self.arms)
        self._position = {mutant: position for position, mutant in enumerate(self._order)}
        self._ready = list(range(len(self._order)))
        self._check_free_controls()

    def _arm(self, mutant: Mutant, scenarios: Mapping[str, float]) -> Arm:
        rule = self.plan.rule
        alpha = rule.alpha if mutant.edits else IDENTITY_ALPHA
        design = KillDesign(level_for(len(scenarios), alpha), rule.beta, rule.delta, rule.n_max)
        lanes = [self._lane(name, weight, design) for name, weight in scenarios.items()]
        return Arm(mutant, lanes, self.plan.seed, self.plan.window)

    def _lane(self, scenario: str, affinity: float, design: KillDesign) -> Lane:
        baseline = self.baselines[scenario]
        f0, n0 = baseline.failures, baseline.trials
        return Lane(
            scenario, self.tables.get(f0, n0, design), self.tables.evidence(f0, n0, design.n_max), affinity
        )

    def _check_free_controls(self) -> None:
        destroyed = self.decided_free.get(self.plan.destroyed.id)
        if destroyed:
            self.problem = _control_failed("destroyed agent", *destroyed)

    def _check_control(self, arm: Arm) -> None:
        if arm.mutant.id == self.plan.destroyed.id:
            if arm.status not in (Status.KILLED, Status.ERROR):
                self.problem = _control_failed("destroyed agent", arm.status or Status.UNDECIDED, arm.reason)
        elif not arm.mutant.edits and arm.status is Status.KILLED:
            self.problem = _identity_killed(arm)


def _without_trial(where: Reached) -> tuple[Status, str]:
    if where.scenarios:
        names = ", ".join(sorted(where.scenarios))
        return Status.UNDECIDED, f"reached only by scenarios on which the original fails too often: {names}"
    return where.otherwise, where.reason


def _control_failed(control: str, status: Status, reason: str) -> str:
    said = f" ({reason})" if reason else ""
    return (
        f"control failed: the {control} (no prompt, no tools, no context) ended as {status}{said}. Either the "
        "mutations do not reach the agent, or the evaluators pass whatever it answers. Check that the agent is "
        "built from the config it is given, and that some evaluator fails on an agent without instructions."
    )


def _identity_killed(arm: Arm) -> str:
    lane = next(lane for lane in arm.lanes if lane.decision == "killed")
    return (
        f"control failed: an unchanged agent was called killed by scenario {lane.scenario} "
        f"({lane.failures} of {lane.trials} trials failed). Something other than the mutation changes between "
        "trials: state kept by the agent, a service that drifts, or a rate limit. Kills of this run mean nothing."
    )


def budget_reached(state: CampaignState) -> str:
    """Why no further trial may be launched under the budget; empty when one may.

    Trials in flight count at the mean cost so far.
    """
    budget, spend = state.plan.budget, state.spend
    if budget.trials is not None and spend.trials + state.in_flight >= budget.trials:
        return f"the budget of {budget.trials} trials is used up"
    mean = spend.usd / spend.trials if spend.trials else 0.0
    if budget.usd is not None and spend.usd + mean * (state.in_flight + 1) > budget.usd:
        return f"the budget of {budget.usd:g} USD is used up (spent {spend.usd:.2f})"
    if budget.minutes is not None and spend.seconds >= 60 * budget.minutes:
        return f"the budget of {budget.minutes:g} minutes is used up"
    return ""


def baseline_problem(state: CampaignState) -> str:
    """Why the baseline makes the campaign pointless; empty when it does not, or cannot be told yet."""
    baselines = state.baselines.values()
    early = all(b.finished >= min(HOPELESS_BASELINE, b.wanted) for b in baselines)
    if not early:
        return ""
    if not any(b.trials for b in baselines):
        trouble = sum((b.no_evidence for b in baselines), Counter[str]()).most_common(1)
        return f"no baseline trial could be run: {trouble[0][0] if trouble else 'no result'}"
    if not any(b.passes for b in baselines):
        trials = sum(b.trials for b in baselines)
        said = next((b.first_failure for b in baselines if b.first_failure), "")
        return f"the agent failed every baseline trial ({trials} of {trials}). First reason: {said}"
    if state.baseline_complete and not any(map(state.testable, state.baselines)):
        return (
            "no testable scenario: the original fails too often on each of them for a drop to show"
            + _rates(state)
        )
    return ""


def _rates(state: CampaignState) -> str:
    rates: Iterable[str] = (f"{name} {b.passes}/{b.trials}" for name, b in state.baselines.items())
    return f" ({', '.join(rates)} passed). Fix the agent or the evaluators first."
