"""The evidence on one mutant and one scenario, as a value that each trial replaces."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from agentmut.stats import (
    Decision,
    Evidence,
    KillTable,
    LiveScenario,
    PooledEvidence,
    PooledStanding,
    TrialCounts,
    kills_per_trial,
    log_pooled,
    log_threshold,
    replayed,
)

TROUBLE_PATIENCE = 3
"""Trials in a row that are no evidence after which a mutant, or a scenario of it, is given up."""


@dataclass(frozen=True)
class Lane:
    """One scenario of a mutant: its decision table and the evidence so far."""

    scenario: str
    table: KillTable
    evidence: Evidence
    affinity: float = 0.0
    trials: int = 0
    failures: int = 0
    decision: Decision = Decision.CONTINUE
    first_failure: str = ""
    outcomes: str = ""
    """`0` for each trial that passed and `1` for each that failed, in the order of their launches.

    Trials after the decision are among them: a finer round reads them.
    """
    errors: int = 0
    """Trials in a row in which the scenario's own code or setup went wrong."""
    dropped: str = ""
    """Why no further trial goes here; empty while some may."""

    @property
    def is_open(self) -> bool:
        """Return whether further trials may go here."""
        return self.decision is Decision.CONTINUE and not self.dropped

    @property
    def is_untestable(self) -> bool:
        """Return whether the original fails the scenario too often for a drop by the round's delta to show."""
        return self.decision is Decision.UNTESTABLE

    @property
    def leaves_open(self) -> bool:
        """Return whether no further trials can rule out the round's drop, since too many have failed already."""
        if self.decision is Decision.CONTINUE:
            return self.failures > self.table.most_survived
        return self.decision is Decision.UNDECIDED

    @cached_property
    def prospect(self) -> float:
        """Return about how many kills the next trial on this scenario brings; 0 if no further trial is due."""
        if not self.is_open:
            return 0.0
        seen = TrialCounts(self.table.f0, self.table.n0, self.trials, self.failures)
        log_evidence = self.evidence.log_ratio[self.trials][self.failures]
        return kills_per_trial(seen, log_evidence, self.table.design.alpha)

    @property
    def gave_up(self) -> str:
        """Return why the lane ended without a decision; an empty text if it has a decision or may still get one."""
        return self.dropped if self.decision in (Decision.CONTINUE, Decision.UNDECIDED) else ""

    @cached_property
    def standing(self) -> LiveScenario:
        """Return what the choice of the next scenario looks at."""
        return LiveScenario(self.evidence, self.trials, self.failures)

    def with_trial(self, failed: bool, reason: str = "") -> Self:
        """Return the lane with one more trial; a lane that has decided keeps the trial only for a finer round."""
        kept = replace(self, errors=0, outcomes=self.outcomes + ("1" if failed else "0"))
        if self.decision is not Decision.CONTINUE:
            return kept
        trials, failures = self.trials + 1, self.failures + failed
        return replace(
            kept,
            trials=trials,
            failures=failures,
            first_failure=self.first_failure or (reason if failed else ""),
            decision=self.table.decide(trials, failures),
        )

    def judged_by(self, table: KillTable, evidence: Evidence) -> Self:
        """Judge all trials so far by another table, from the first on, as a finer round does.

        A scenario whose kill did not hold stays closed.
        """
        if self.decision is Decision.UNDECIDED and self.dropped:
            return replace(self, table=table, evidence=evidence)
        decision, trials, failures = replayed(table, self.outcomes)
        return replace(
            self, table=table, evidence=evidence, decision=decision, trials=trials, failures=failures
        )

    def with_error(self, reason: str) -> Self:
        """Add a trial in which the case itself went wrong: after some in a row, the scenario is given up."""
        errors, dropped = self.errors + 1, self.dropped
        if errors >= TROUBLE_PATIENCE and not dropped:
            dropped = f"{self.scenario} was given up: {errors} trials in a row gave no evidence: {reason}"
        return replace(self, errors=errors, dropped=dropped)

    def unconfirmed(self, reason: str) -> Self:
        """Withdraw a kill that the original beside it did not confirm: the scenario takes no further trial."""
        return replace(self, decision=Decision.UNDECIDED, dropped=reason)


@dataclass(frozen=True)
class SuiteEvidence:
    """All scenarios of a mutant together, where the suite as a whole has a share of alpha."""

    level: float
    """The suite's share of alpha in this round."""
    by_scenario: Mapping[str, PooledEvidence]
    left_out: int = 0
    """Scenarios that reach the mutant, on which the original fails too often."""
    log_evidence: float = 0.0
    """The natural logarithm of the evidence of a drop, over all scenarios."""
    killed: bool = False
    """Whether the evidence has ever reached the threshold."""

    def after(self, lanes: Iterable[Lane]) -> Self:
        """Look at the trials so far; to be called after each."""
        # other scenarios wait for a finer round
        lanes_of_round = (lane for lane in lanes if lane.scenario in self.by_scenario)
        states = (PooledStanding(self.by_scenario[x.scenario], x.trials, x.failures) for x in lanes_of_round)
        evidence = log_pooled(states, self.left_out)
        killed = self.killed or evidence >= log_threshold(self.level)
        return replace(self, log_evidence=evidence, killed=killed)
