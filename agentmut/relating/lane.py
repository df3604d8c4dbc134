"""One relation on one scenario: its pairs, in the order of their source runs, up to the deciding pair."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from agentmut.assessment import StoppingRule
from agentmut.campaign import TrialResult
from agentmut.nouns import SAME_AGAIN, AgentTrace, Check, Ending, Expectation, FollowUp, Pair, Scenario
from agentmut.relating.follow_ups import MASKED, Agent, PlannedPair, TrialRef
from agentmut.relating.material import Ran, SourceMaterial
from agentmut.relating.relation_calls import asked_check
from agentmut.seams import ChosenRelation
from agentmut.stats import Verdict
from agentmut.store import Counts

SAYS_NOTHING = "the relation does not apply to the pair"
UNCALIBRATED = (
    "the relation does not apply to the pair: a third of the unchanged agent's runs shows what is stable, and with "
    "fewer than 15 runs that is too little"
)
NOT_DELIVERED = "the change did not reach the agent"
NOT_STORED = "no follow-up run is stored"
FAILED = "the agent gave an answer before the change, and none after it: {reason}"
FAILED_ANYWAY = "the agent failed after the change, and this relation does not judge failures: {reason}"

IN_A_ROW = 2
"""So many runs that failed one after the other, and ended a verdict, may be an outage that went on after it."""
BY_CHANCE = 0.05
"""The share of orders in which as many failures may stand last: then the runs are not run again."""


class Subject(NamedTuple):
    """A relation on a scenario, for an agent."""

    chosen: ChosenRelation
    scenario: Scenario
    agent: Agent
    material: SourceMaterial

    def judged(self, source: Ran, follow_up: FollowUp, traces: tuple[AgentTrace, ...]) -> Check | None:
        """Return the relation's check of a pair. Raise `RunError` that names relation and scenario."""
        scenario = self.scenario.as_run(source.trace)
        pair = Pair(scenario, self.agent.config, source.trace, follow_up, traces, self.material.comparison)
        return asked_check(self.chosen, pair, f"scenario {self.scenario.name}, run {source.repeat}")

    def identity(self, again: int = 1) -> Counts:
        """Return how often a run and `again` further runs of the same agent violate the relation.

        A follow-up of several runs has as many chances to go wrong, so the control has as many runs.

        These runs may be sources of the relation's own pairs too. Where the change changes nothing, two pairs that
        start from the same run violate the relation together: their covariance is the variance of the chance of a
        violation given that run, and so never negative. That makes the difference of the two rates smaller than with
        runs of their own, and a false FAIL no more likely than the level says. For a run that ends a pair of the
        identity it holds where the relation judges both sides alike; such runs are the last sources. The simulation
        in tests/relations/engine/test_level_of_relations.py has both kinds of relation.
        """
        checks = [self._control(first, others) for first, others in self.material.controls(again)]
        said = [check for check in checks if check is not None]
        return Counts(violations=sum(not check.passed for check in said), pairs=len(said))

    def _control(self, first: Ran, others: Sequence[Ran]) -> Check | None:
        """Judge each further run alone; a run that differs or fails is a violation."""
        if first.masked or any(run.masked for run in others):
            return None
        if failed := next((run for run in others if not run.answered), None):
            return _failed(failed.reason)
        said = (self.judged(first, SAME_AGAIN, (run.trace,)) for run in others)
        checks = [check for check in said if check is not None]
        return min(checks, key=lambda check: check.passed, default=None)


class ViolatingPair(NamedTuple):
    """A pair that violates the relation."""

    planned: PlannedPair
    traces: tuple[AgentTrace, ...]
    check: Check


@dataclass
class Lane:
    """A relation on a scenario under way. Changed by `begin` and `consume` only."""

    subject: Subject
    planned: Sequence[PlannedPair]
    silent: Counter[str]
    """Why source runs gave no pair, or pairs no judgement."""
    rule: StoppingRule | None = None
    """None where nothing can be compared: no pair is run then."""
    window: int = 1
    to_the_end: bool = False
    """Whether every pair is run although fewer decide: the counts are those of a fixed sample then."""
    launched: int = 0
    consumed: int = 0
    ended: bool = False
    held: list[bool] = field(default_factory=list)
    no_evidence: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    """Pairs of them whose follow-up run failed, where that says nothing of the relation."""
    example: ViolatingPair | None = None
    _row: list[PlannedPair] = field(default_factory=list)
    """The last pairs, as far as their follow-up runs failed."""
    _fell: int = 0
    """Pairs whose follow-up runs failed."""

    @property
    def free(self) -> bool:
        """Return whether the lane needs only the source runs."""
        return not any(planned.trials for planned in self.planned)

    @property
    def again(self) -> int:
        """Return the number of runs of a follow-up; the largest number, if they differ."""
        return max((len(planned.trials) for planned in self.planned), default=0)

    @property
    def most(self) -> int:
        """Return the largest number of pairs."""
        return 0 if self.rule is None else min(self.rule.most, len(self.planned))

    @property
    def wants_another(self) -> bool:
        """Return whether a further pair may be begun now."""
        in_flight = self.launched - self.consumed
        room = self.most if self.to_the_end else self.window
        within = len(self.held) + in_flight < self.most and self.launched < len(self.planned)
        return not self.ended and in_flight < room and within

    @property
    def complete(self) -> bool:
        """Return whether no pair is under way and none will begin."""
        return self.ended or (self.launched == self.consumed and not self.wants_another)

    @property
    def violations(self) -> int:
        """Return the number of pairs in which the relation does not hold."""
        return len(self.held) - sum(self.held)

    def begin(self) -> tuple[TrialRef, ...]:
        """Begin the next pair and return its trials."""
        self.launched += 1
        return self.planned[self.launched - 1].trials

    def consume(self, found: Mapping[TrialRef, TrialResult]) -> None:
        """Judge the pairs whose runs are complete, in order, up to the deciding pair."""
        while not self.ended and self.consumed < self.launched:
            planned = self.planned[self.consumed]
            if any(trial not in found for trial in planned.trials):
                return
            self._judge(planned, [found[trial] for trial in planned.trials])
            self.consumed += 1

    def _judge(self, planned: PlannedPair, results: Sequence[TrialResult]) -> None:
        if missing := next((said for result in results if (said := _no_evidence(result))), ""):
            self.no_evidence[missing] += 1
            return
        traces = tuple(result.trace for result in results)
        if lacking := self._lacking(planned, results):
            self.silent[lacking] += 1
            return
        failed = next((result for result in results if result.ending is not Ending.ANSWERED), None)
        if failed and self.subject.chosen.relation.expectation is not Expectation.INVARIANT:
            # no identity says how often the agent fails by itself, and a failure is neither better nor worse
            self.no_evidence[FAILED_ANYWAY.format(reason=_ended(failed))] += 1
            self.failed += 1
            return
        check = (
            _failed(_ended(failed))
            if failed
            else self.subject.judged(planned.source, planned.follow_up, traces)
        )
        if check is None:
            few = not self.free and self.subject.material.comparison.is_uncalibrated
            self.silent[UNCALIBRATED if few else SAYS_NOTHING] += 1
            return
        self.held.append(check.passed)
        self._row = [*self._row, planned] if failed else []
        self._fell += bool(failed)
        if not check.passed and self.example is None:
            self.example = ViolatingPair(planned, traces, check)
        assert self.rule is not None
        full = len(self.held) >= self.most
        self.ended = full or (not self.to_the_end and self.rule.ended(self.held))

    def failed_last(self) -> tuple[TrialRef, ...]:
        """Return the runs that failed one after the other until they made the verdict FAIL, after calm ones.

        Empty where chance spreads as many failures so in more than `BY_CHANCE` of all orders. The verdict ends with the
        failures that suffice for it, so no later run tells an outage from a relation that breaks the agent.
        """
        row, pairs = len(self._row), len(self.held)
        if row < IN_A_ROW or self.rule is None or self.to_the_end:
            return ()
        orders = math.comb(pairs - row, self._fell - row) / math.comb(pairs, self._fell)
        if orders > BY_CHANCE or self.rule.judgement(self.held).verdict is not Verdict.FAIL:
            return ()
        return tuple(trial for planned in self._row for trial in planned.trials)

    def _lacking(self, planned: PlannedPair, results: Sequence[TrialResult]) -> str:
        """Return why the runs are no follow-up; empty if they are one."""
        mutated = self.subject.agent.mutant is not None
        edited = [mutated or bool(run.edits) for run in planned.follow_up.runs]
        if any(has and result.witness is None for has, result in zip(edited, results, strict=True)):
            return NOT_DELIVERED
        return MASKED if any(result.trace.judged is not None for result in results) else ""


def _no_evidence(result: TrialResult) -> str:
    if result.outcome.is_evidence:
        return ""
    return result.reason if result.reason == NOT_STORED else _ended(result)


def _ended(result: TrialResult) -> str:
    return f"{result.ending}: {result.reason}".rstrip(": ")


def _failed(reason: str) -> Check:
    return Check(
        evaluator="agent", passed=False, reason=FAILED.format(reason=reason.rstrip(": ") or "no reason")
    )
