"""The second phase of a campaign: every mutant has an arm, or has its status without a trial."""

import heapq
import math
from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import NamedTuple

from agentmut.campaign.decision.arm import Arm
from agentmut.campaign.decision.baseline import ScenarioBaseline
from agentmut.campaign.decision.conclusions import WITNESS_PATIENCE, Conclusion
from agentmut.campaign.decision.lane import Lane, SuiteEvidence
from agentmut.campaign.decision.pairs import PartsSeen
from agentmut.campaign.decision.reach import ReachingScenarios
from agentmut.campaign.decision.round_tables import InRound
from agentmut.campaign.decision.unfinished import Unfinished
from agentmut.campaign.preparation.plan import Plan
from agentmut.campaign.preparation.tables import Tables
from agentmut.campaign.trials import Launch, TrialResult
from agentmut.nouns import Mutant, Status
from agentmut.stats import LEAST_BASELINE, KillDesign, design_in, level_for
from agentmut.trial import SuiteConfig

IDENTITY_ALPHA = 0.001


class KillPhase:
    """The arms of all mutants, and the choice of the next trial: controls first, then the most likely kill."""

    def __init__(
        self,
        arms: Mapping[str, Arm] | None = None,
        order: Iterable[str] = (),
        launched: int = 0,
        confirming: int = 0,
    ) -> None:
        self.arms = dict(arms or {})
        self._unanswered = Unfinished(self.arms.values(), attrgetter("is_answered"))
        place = {mutant: position for position, mutant in enumerate(order)}
        first = [mutant for mutant in self.arms if mutant not in place]
        last = sorted((mutant for mutant in self.arms if mutant in place), key=place.__getitem__)
        self._position = {mutant: position for position, mutant in enumerate((*first, *last))}
        self._controls = frozenset(first)
        self._queue: list[tuple[float, int, int, str]] = []
        self._stamp: dict[str, int] = {}
        for mutant in self.arms:
            self._enqueue(mutant)
        self.launched = launched
        self.confirming = confirming
        """Launches of the original that are to confirm a kill; `launched` counts them too."""
        self.confirming_before = confirming
        """Confirming launches before these arms entered. The later number depends on the order in which trials end."""

    @property
    def ended(self) -> bool:
        """Return whether every arm has its status."""
        return all(arm.status for arm in self.arms.values())

    @property
    def answered(self) -> bool:
        """Return whether no arm needs a trial in this round and no trial is under way."""
        return self._unanswered.is_empty()

    @property
    def lacks_decisions(self) -> bool:
        """Return whether trouble of services has left some mutant without a decision."""
        return any(arm.status is Status.UNDECIDED and arm.tally.trouble for arm in self.arms.values())

    def record(self, launch: Launch, result: TrialResult) -> Arm:
        """Record a trial. Return the arm of its mutant."""
        arm = self.arms[launch.arm]
        arm.record(launch.number, result)
        self._enqueue(launch.arm)
        return arm

    def launch(self) -> Launch | None:
        """Choose the next trial; None when none can be launched now."""
        while self._queue:
            _, _, stamp, mutant = heapq.heappop(self._queue)
            arm = self.arms[mutant]
            if stamp == self._stamp[mutant] and arm.ready:
                launch = arm.launch()
                self.launched += 1
                self.confirming += bool(launch.beside)
                self._enqueue(mutant)
                return launch
        return None

    def _enqueue(self, mutant: str) -> None:
        """Queue an arm by what its next trial promises; its earlier place in the queue becomes void."""
        stamp = self._stamp[mutant] = self._stamp.get(mutant, 0) + 1
        arm = self.arms[mutant]
        if arm.ready:
            promise = math.inf if mutant in self._controls else arm.prospect
            heapq.heappush(self._queue, (-promise, self._position[mutant], stamp, mutant))


class BaselineFigures(NamedTuple):
    """The measurements of the original when a round begins."""

    plan: Plan
    suite: SuiteConfig
    tables: Tables
    baselines: Mapping[str, ScenarioBaseline]
    round: int = 0
    """Position among the plan's rounds."""


def arm_of(mutant: Mutant, where: ReachingScenarios, known: BaselineFigures) -> Arm:
    """Make the arm of a mutant that has entered no round yet."""
    return Arm(
        mutant,
        [],
        known.plan.seed,
        known.plan.window,
        parts=PartsSeen(where.parts, WITNESS_PATIENCE) if where.parts else None,
        agent=known.suite,
        confirms=known.plan.rule.beside > 0,
        first=known.plan.first_of_mutants,
        first_of_original=known.plan.first,
        clearing=where.clearing,
    )


def in_round(arm: Arm, where: ReachingScenarios, known: BaselineFigures) -> InRound:
    """Return what an arm goes on with in the round: the trials so far, judged by the round's tables.

    The mutant's error rate is split over all scenarios that reach it, less the share of the suite as a whole. The
    number of testable ones is no divisor: their baselines are the lucky ones, and more false kills than alpha follow.
    """
    rule, rounds = known.plan.rule, known.plan.ladder
    here = rounds[known.round]
    baselines = known.baselines
    usable = {name: weight for name, weight in where.scenarios.items() if baselines[name].usable}
    scenarios = [name for name in usable if baselines[name].shows(here.delta)]
    pooled = [name for name in scenarios if baselines[name].counts[1] >= LEAST_BASELINE]
    together = rule.suite_share if len(pooled) > 1 else 0.0
    design = design_of(arm.mutant, where, known, together)
    before = {lane.scenario: lane for lane in arm.lanes}
    lanes = [_lane(before.get(name), name, weight, design, known) for name, weight in usable.items()]
    share = _alpha(arm.mutant, known) * together * here.weight
    suite = (
        _suite_evidence(scenarios, share, len(where.scenarios) - len(scenarios), known) if together else None
    )
    finest = rounds[-1].delta
    hopeful = frozenset(name for name in usable if baselines[name].shows(finest))
    return InRound(lanes, suite, here.delta, here.weight, known.round == len(rounds) - 1, hopeful)


def design_of(
    mutant: Mutant, where: ReachingScenarios, known: BaselineFigures, together: float = 0.0
) -> KillDesign:
    """Return the design of each scenario of a mutant in the round; `together` is the suite's part of alpha."""
    rule = known.plan.rule
    level = level_for(len(where.scenarios), _alpha(mutant, known) * (1 - together))
    design = KillDesign(level, rule.beta, rule.delta, rule.n_max)
    return design_in(known.plan.ladder[known.round], design)


def _alpha(mutant: Mutant, known: BaselineFigures) -> float:
    return known.plan.rule.alpha if mutant.edits else IDENTITY_ALPHA


def _suite_evidence(
    scenarios: Iterable[str], level: float, left_out: int, known: BaselineFigures
) -> SuiteEvidence:
    baselines = {name: known.baselines[name] for name in scenarios}
    n_max = known.plan.rule.n_max
    pooled = {name: known.tables.pooled(*b.counts, n_max) for name, b in baselines.items()}
    return SuiteEvidence(level, pooled, left_out)


def _lane(
    before: Lane | None, scenario: str, affinity: float, design: KillDesign, known: BaselineFigures
) -> Lane:
    baseline = known.baselines[scenario]
    f0, n0 = baseline.counts
    table, evidence = known.tables.get(f0, n0, design), known.tables.evidence(f0, n0, design.n_max)
    return (before or Lane(scenario, table, evidence, affinity)).judged_by(table, evidence)


def without_trial(where: ReachingScenarios) -> Conclusion:
    """Give the status of a mutant that no scenario with a baseline reaches."""
    if where.scenarios:
        names = ", ".join(sorted(where.scenarios))
        return Conclusion(Status.UNTESTABLE, f"reached only by scenarios without a usable baseline: {names}")
    return Conclusion(where.otherwise, where.reason)
