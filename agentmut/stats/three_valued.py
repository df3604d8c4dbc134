"""Three-valued verdicts: evidence for, evidence against, or not enough of either."""

from enum import StrEnum
from typing import NamedTuple

from agentmut.stats.intervals.proportion import Interval


class Verdict(StrEnum):
    """What trials say about a requirement."""

    PASS = "PASS"
    """Evidence that the requirement is met."""
    FAIL = "FAIL"
    """Evidence that it is not."""
    INCONCLUSIVE = "INCONCLUSIVE"
    """Not enough evidence either way."""


class Judgement(NamedTuple):
    """A verdict on one scenario with what it rests on; the same shape whatever method gave it.

    At level alpha the verdict is FAIL exactly if `p_fail` <= alpha, so that a suite can be judged with adjusted
    p-values; PASS is decided by the method, at its own level.

    >>> from agentmut.stats.intervals.proportion import wilson
    >>> print(Judgement(Verdict.INCONCLUSIVE, "4 of 5 passed", 0.4, wilson(4, 5), 5, 60, "wilson"))
    INCONCLUSIVE: 4 of 5 passed; interval 0.800 [0.376, 0.964] (95% wilson, n=5); p_fail 0.4; about 60 further trials
    """

    verdict: Verdict
    reason: str
    """One sentence with the numbers that decided."""
    p_fail: float
    """p-value of the test whose rejection is FAIL, in [0, 1]."""
    interval: Interval
    """The interval of the pass rate, or of the difference of two: to read, not to decide by."""
    n: int
    """Trials that the verdict rests on, without those of a stored baseline."""
    needed: int | None
    """Further trials after which a verdict is likely if the observed rates are the true ones: for orientation, or
    as the size of a new test. A method with a fixed number of trials keeps its level for one look only; a
    sequential one may go on. None where the verdict is reached, and where no number of trials would do."""
    method: str

    def __str__(self) -> str:
        more = "" if self.needed is None else f"; about {self.needed} further trial{'s' * (self.needed != 1)}"
        return f"{self.verdict}: {self.reason}; interval {self.interval}; p_fail {self.p_fail:.3g}{more}"
