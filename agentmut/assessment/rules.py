"""The stopping rules of an assessment: fixed or sequential, against a threshold or against a stored baseline."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from agentmut.assessment.state import StoppingRule
from agentmut.stats import (
    Decision,
    Judgement,
    KillTable,
    SprtDesign,
    TwoSampleTest,
    WarmSprt,
    chance_of_fail,
    false_kill,
    fixed_verdict,
    judge_stopped,
    regression_verdict,
    sprt_verdict,
    warm_verdict,
)


class BaselineCounts(NamedTuple):
    """Passes in the trials of a stored baseline."""

    passes: int
    trials: int


class FixedTrials(NamedTuple):
    """So many trials, then the exact interval against the threshold (Eq. 4)."""

    threshold: float
    most: int
    alpha: float
    sequential: bool = False

    def ended(self, passed: Sequence[bool]) -> bool:
        """Never before the last trial."""
        return len(passed) >= self.most

    def judgement(self, passed: Sequence[bool]) -> Judgement:
        """Return FAIL below the threshold, PASS at or above it, by Clopper-Pearson intervals."""
        return fixed_verdict(sum(passed), len(passed), self.threshold, self.alpha)


class Sprt(NamedTuple):
    """Wald's test, with boundaries that keep its error rates at any number of trials."""

    design: SprtDesign
    most: int
    sequential: bool = True

    def ended(self, passed: Sequence[bool]) -> bool:
        """Return whether a boundary is reached."""
        return self.design.decide(len(passed), passed.count(False)) is not None  # no fewer trials had decided

    def judgement(self, passed: Sequence[bool]) -> Judgement:
        """FAIL below the threshold, PASS above threshold - margin."""
        return sprt_verdict(self.design, passed)


class WarmStart(NamedTuple):
    """Wald's test with alternatives that earlier trials make likely."""

    test: WarmSprt
    most: int
    sequential: bool = True

    def ended(self, passed: Sequence[bool]) -> bool:
        """Return whether a boundary is reached."""
        return self.test.crossed(len(passed), passed.count(False)) is not None  # no fewer trials had decided

    def judgement(self, passed: Sequence[bool]) -> Judgement:
        """FAIL below the threshold, PASS above threshold - margin."""
        return warm_verdict(self.test, passed)


class ComparisonRule(StoppingRule, Protocol):
    """A rule that compares with a stored baseline."""

    @property
    def lowest(self) -> float:
        """Return the lowest true pass rate of the baseline that is left open."""
        ...

    def chance_of_fail(self, rate: float) -> float:
        """Return the exact chance of FAIL, given the baseline, at a true pass rate of today's agent."""
        ...


class FixedComparison(NamedTuple):
    """So many trials, then a test against the baseline (Eq. 5 as corrected)."""

    baseline: BaselineCounts
    most: int
    alpha: float
    beta: float
    delta: float
    test: TwoSampleTest
    lowest: float
    """The lowest true rate of the baseline that is left open: FAIL must hold against it, too."""
    share: float
    """The part of alpha at which a FAIL stands whatever the other scenarios show."""
    sequential: bool = False

    def ended(self, passed: Sequence[bool]) -> bool:
        """Never before the last trial."""
        return len(passed) >= self.most

    def judgement(self, passed: Sequence[bool]) -> Judgement:
        """FAIL if the rate has dropped, PASS if a drop by delta is ruled out."""
        counts = (*self.baseline, sum(passed), len(passed))
        return regression_verdict(
            *counts, alpha=self.alpha, beta=self.beta, delta=self.delta, test=self.test, lowest=self.lowest
        )

    def chance_of_fail(self, rate: float) -> float:
        """Return the exact chance of FAIL at the scenario's own share of alpha; with Holm's correction it is no
        smaller.
        """
        level = self.alpha * self.share
        return chance_of_fail(
            *self.baseline, self.most, rate, alpha=level, test=self.test, lowest=self.lowest
        )


class SequentialComparison(NamedTuple):
    """The kill rule, with the agent of today in the place of a mutant."""

    table: KillTable
    level: float | None = None
    """The chance of a false FAIL that is promised, where the table is made at a lower one."""
    lowest: float = 0.0
    """The lowest true rate of the baseline at which that holds."""

    @property
    def most(self) -> int:
        """Return n_max; 0 if the baseline leaves no room for a drop."""
        return 0 if self.table.untestable else self.table.design.n_max

    @property
    def sequential(self) -> bool:
        """Return True, since the rule may end at any trial."""
        return True

    def ended(self, passed: Sequence[bool]) -> bool:
        """Return whether the table decides."""
        n = len(passed)
        return self.table.decide(n, n - sum(passed)) is not Decision.CONTINUE

    def judgement(self, passed: Sequence[bool]) -> Judgement:
        """KILLED is FAIL, SURVIVED is PASS."""
        return judge_stopped(self.table, self.table.verdict(not outcome for outcome in passed), self.level)

    def chance_of_fail(self, rate: float) -> float:
        """Return the exact chance of a kill."""
        return false_kill(self.table, rate)
