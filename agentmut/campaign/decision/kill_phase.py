"""The second phase of a campaign: every mutant has an arm, or its status without a trial."""

import heapq
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from agentmut.campaign.decision.arm import Arm
from agentmut.campaign.decision.baseline import ScenarioBaseline
from agentmut.campaign.decision.conclusions import WITNESS_PATIENCE, Conclusion
from agentmut.campaign.decision.lane import Lane, SuiteEvidence
from agentmut.campaign.decision.pairs import PartsSeen
from agentmut.campaign.decision.reach import Reached
from agentmut.campaign.preparation.plan import Plan
from agentmut.campaign.preparation.tables import Tables
from agentmut.campaign.trials import Launch, TrialResult
from agentmut.nouns import Mutant, Status
from agentmut.stats import LEAST_BASELINE, KillDesign, level_for
from agentmut.trial import SuiteConfig

IDENTITY_ALPHA = 0.001


class KillPhase:
    """The arms of all mutants, and which trial comes next: the first arm in the plan's order that is ready."""

    def __init__(self, arms: Mapping[str, Arm] | None = None, order: Iterable[str] = ()) -> None:
        self.arms = dict(arms or {})
        place = {mutant: position for position, mutant in enumerate(order)}
        self._order = sorted(self.arms, key=lambda mutant: place.get(mutant, -1))  # controls first
        self._position = {mutant: position for position, mutant in enumerate(self._order)}
        self._ready = list(range(len(self._order)))
        self.launched = 0

    @property
    def ended(self) -> bool:
        """Whether every arm has its status."""
        return all(arm.status for arm in self.arms.values())

    def record(self, launch: Launch, result: TrialResult) -> Arm:
        """Take in a trial. Return the arm that it belongs to."""
        arm = self.arms[launch.arm]
        was_ready = arm.ready
        arm.record(launch.number, result)
        if arm.ready and not was_ready:
            heapq.heappush(self._ready, self._position[launch.arm])
        return arm

    def launch(self) -> Launch | None:
        """Choose the next trial; None when none can be launched now."""
        while self._ready:
            arm = self.arms[self._order[self._ready[0]]]
            if not arm.ready:
                heapq.heappop(self._ready)
                continue
            launch = arm.launch()
            self.launched += 1
            if not arm.ready:
                heapq.heappop(self._ready)
            return launch
        return None


class Measured(NamedTuple):
    """What is known of the original when the kill phase begins."""

    plan: Plan
    suite: SuiteConfig
    tables: Tables
    baselines: Mapping[str, ScenarioBaseline]


def arm_of(mutant: Mutant, where: Reached, testable: Mapping[str, float], known: Measured) -> Arm:
    """Make the arm of a mutant that `testable` scenarios reach, each with its affinity.

    The mutant's error rate is split over all scenarios that reach it, less the share of the suite as a whole. The
    number of testable ones is no divisor: their baselines are the lucky ones, and more false kills than alpha follow.
    """
    rule = known.plan.rule
    alpha = rule.alpha if mutant.edits else IDENTITY_ALPHA
    pooled = [name for name in testable if known.baselines[name].trials >= LEAST_BASELINE]
    together = rule.suite_share if len(pooled) > 1 else 0.0
    level = level_for(len(where.scenarios), alpha * (1 - together))
    design = KillDesign(level, rule.beta, rule.delta, rule.n_max)
    left_out = len(where.scenarios) - len(testable)
    return Arm(
        mutant,
        [_lane(name, weight, design, known) for name, weight in testable.items()],
        known.plan.seed,
        known.plan.window,
        _suite_evidence(testable, alpha * together, left_out, known) if together else None,
        PartsSeen(where.parts, WITNESS_PATIENCE) if where.parts else None,
        known.suite,
        confirms=rule.beside > 0,
        first=known.plan.first_of_mutants,
        first_of_original=known.plan.first,
    )


def _suite_evidence(scenarios: Iterable[str], level: float, left_out: int, known: Measured) -> SuiteEvidence:
    baselines = {name: known.baselines[name] for name in scenarios}
    n_max = known.plan.rule.n_max
    pooled = {name: known.tables.pooled(b.failures, b.trials, n_max) for name, b in baselines.items()}
    return SuiteEvidence(level, pooled, left_out)


def _lane(scenario: str, affinity: float, design: KillDesign, known: Measured) -> Lane:
    baseline = known.baselines[scenario]
    f0, n0 = baseline.failures, baseline.trials
    evidence = known.tables.evidence(f0, n0, design.n_max)
    return Lane(scenario, known.tables.get(f0, n0, design), evidence, affinity)


def without_trial(where: Reached) -> Conclusion:
    """Give the status of a mutant that no testable scenario reaches."""
    if where.scenarios:
        names = ", ".join(sorted(where.scenarios))
        reason = f"reached only by scenarios on which the original fails too often: {names}"
        return Conclusion(Status.UNDECIDED, reason)
    return Conclusion(where.otherwise, where.reason)
