"""One relation on one scenario: its pairs, in the order of their source runs, up to the one that decides."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from agentmut.engine.assessment.state import StoppingRule
from agentmut.engine.relating.follow_ups import MASKED, Agent, Planned, TrialRef
from agentmut.engine.relating.material import Material, Ran
from agentmut.engine.trials import TrialResult
from agentmut.errors import AgentmutError, RunError
from agentmut.execution import Ending
from agentmut.plain import one_line
from agentmut.relation import SAME_AGAIN, FollowUp, Pair
from agentmut.relation_catalogue import ChosenRelation
from agentmut.relation_report import Counts
from agentmut.scenario import Scenario
from agentmut.trace import AgentTrace, Check

SAYS_NOTHING = "the relation says nothing of the pair"
NOT_DELIVERED = "the change did not reach the agent"
NOT_STORED = "its follow-up run is not in the store"
FAILED = "the agent gave an answer before the change, and none after it: {reason}"


class Subject(NamedTuple):
    """A relation on a scenario, for an agent."""

    chosen: ChosenRelation
    scenario: Scenario
    agent: Agent
    material: Material

    def judged(self, source: Ran, follow_up: FollowUp, traces: tuple[AgentTrace, ...]) -> Check | None:
        """What the relation says of a pair. Raises `RunError` naming relation and scenario."""
        pair = Pair(
            self.scenario, self.agent.config, source.trace, follow_up, traces, self.material.comparison
        )
        try:
            return self.chosen.relation.holds(pair)
        except AgentmutError:  # it says itself what is wrong, as a model judge that is out of reach does
            raise
        except Exception as error:  # a relation may be anybody's code
            raise RunError(
                f"relation {self.chosen.label} on scenario {self.scenario.name}, run {source.repeat}: holds raised "
                f"{one_line(error)}. Correct the relation"
            ) from error

    def identity(self) -> Counts:
        """How often two runs of the same agent are no pair of the relation.

        These runs may be sources of the relation's own pairs too. Where the change changes nothing, two pairs that
        start from the same run violate the relation together: their covariance is the variance of the chance of a
        violation given that run, and so never negative. That makes the difference of the two rates smaller than with
        runs of their own, and a false FAIL no more likely than the level says. For a run that ends a pair of the
        identity it holds where the relation judges both sides alike; such runs are the last sources. The simulation
        in tests/relations/engine/test_level_of_relations.py has both kinds of relation.
        """
        checks = [self._control(first, second) for first, second in self.material.controls]
        said = [check for check in checks if check is not None]
        return Counts(violations=sum(not check.passed for check in said), pairs=len(said))

    def _control(self, first: Ran, second: Ran) -> Check | None:
        if first.masked or second.masked:
            return None
        if not second.answered:
            return _failed(second.reason)
        return self.judged(first, SAME_AGAIN, (second.trace,))


class Shown(NamedTuple):
    """A pair that violates the relation."""

    planned: Planned
    traces: tuple[AgentTrace, ...]
    check: Check


@dataclass
class Lane:
    """A relation on a scenario under way. Changed by `begin` and `consume` only."""

    subject: Subject
    planned: Sequence[Planned]
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
    example: Shown | None = None

    @property
    def free(self) -> bool:
        """Whether it needs no run of the agent besides the sources."""
        return not any(planned.trials for planned in self.planned)

    @property
    def most(self) -> int:
        """Pairs at most."""
        return 0 if self.rule is None else min(self.rule.most, len(self.planned))

    @property
    def wants_another(self) -> bool:
        """Whether a further pair may be begun now."""
        in_flight = self.launched - self.consumed
        room = self.most if self.to_the_end else self.window
        within = len(self.held) + in_flight < self.most and self.launched < len(self.planned)
        return not self.ended and in_flight < room and within

    @property
    def complete(self) -> bool:
        """No further pair will be begun, and none is awaited."""
        return self.ended or (self.launched == self.consumed and not self.wants_another)

    @property
    def violations(self) -> int:
        """Pairs in which the relation does not hold."""
        return len(self.held) - sum(self.held)

    def begin(self) -> tuple[TrialRef, ...]:
        """Begin the next pair; its trials."""
        self.launched += 1
        return self.planned[self.launched - 1].trials

    def consume(self, found: Mapping[TrialRef, TrialResult]) -> None:
        """Judge the pairs whose runs are all there, in order, up to the one that decides."""
        while not self.ended and self.consumed < self.launched:
            planned = self.planned[self.consumed]
            if any(trial not in found for trial in planned.trials):
                return
            self._judge(planned, [found[trial] for trial in planned.trials])
            self.consumed += 1

    def _judge(self, planned: Planned, results: Sequence[TrialResult]) -> None:
        if missing := next((said for result in results if (said := _no_evidence(result))), ""):
            self.no_evidence[missing] += 1
            return
        traces = tuple(result.trace for result in results)
        if lacking := self._lacking(planned, results):
            self.silent[lacking] += 1
            return
        failed = next((result for result in results if result.ending is not Ending.ANSWERED), None)
        check = (
            _failed(f"{failed.ending}: {failed.reason}")
            if failed
            else self.subject.judged(planned.source, planned.follow_up, traces)
        )
        if check is None:
            self.silent[SAYS_NOTHING] += 1
            return
        self.held.append(check.passed)
        if not check.passed and self.example is None:
            self.example = Shown(planned, traces, check)
        assert self.rule is not None
        full = len(self.held) >= self.most
        self.ended = full or (not self.to_the_end and self.rule.ended(self.held))

    def _lacking(self, planned: Planned, results: Sequence[TrialResult]) -> str:
        """Why the runs are no follow-up; empty where they are one."""
        mutated = self.subject.agent.mutant is not None
        edited = [mutated or bool(run.edits) for run in planned.follow_up.runs]
        if any(has and result.witness is None for has, result in zip(edited, results, strict=True)):
            return NOT_DELIVERED
        return MASKED if any(result.trace.judged is not None for result in results) else ""


def _no_evidence(result: TrialResult) -> str:
    if result.outcome.is_evidence:
        return ""
    return result.reason if result.reason == NOT_STORED else f"{result.ending}: {result.reason}".rstrip(": ")


def _failed(reason: str) -> Check:
    return Check(
        evaluator="agent", passed=False, reason=FAILED.format(reason=reason.rstrip(": ") or "no reason")
    )
