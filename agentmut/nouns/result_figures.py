"""Figures of a result with their intervals: the scores, and the outcome of a CI job."""

from agentmut._base import Frozen


class Bounds(Frozen):
    """A confidence interval."""

    estimate: float | None = None
    """None where there is nothing to estimate from, and in results of earlier versions."""
    low: float
    high: float
    level: float
    n: int | None = None
    """Observations behind it; None in results of earlier versions."""
    method: str


class Score(Frozen):
    """The share killed among killed, survived and no coverage, with its bounds; null if no mutant counts.

    For `preserve` mutants it is the share not killed. `low` and `high` hold at `level`: the lower end speaks
    of mutants with any real drop, the upper end of those with a drop of at least delta.
    """

    value: float | None
    low: float | None
    high: float | None
    level: float = 0.95
    killed: int = 0
    survived: int = 0
    no_coverage: int = 0
    undecided: int = 0
    untestable: int = 0
    """Mutants that only scenarios reach on which the original fails too often; they widen the bounds."""
    equivalent: int = 0
    not_applied: int = 0
    ignored: int = 0
    error: int = 0
    not_drawn: int = 0
    """Mutants outside of the random sample: the value and the bounds speak of them, too."""
    certain: int = 0
    """Kills of this grade: all certain kills of the run are real, with confidence 0.95."""
    strong: int = 0
    """Kills whose p-value is at most 0.01, beside the certain ones."""
    moderate: int = 0
    """Kills at the rule's own level. In results of earlier versions no kill has a grade."""
    false_kills: int | None = None
    """Kills that may all be false: what the lower end takes off. None in results of earlier versions."""
    resolution: float | None = None
    """The upper end speaks of drops of at least this; None in results of earlier versions, and where all is of one
    drop, that of the rule."""
    missed: int | None = None
    """Survivors that may all have dropped by delta: what the upper end adds. None in results of earlier versions."""


def nothing_decided(score: Score) -> str:
    """Return in a few words why a score has no value.

    >>> nothing_decided(Score(value=None, low=0, high=1, undecided=2, not_drawn=10))
    'none of 12 decided'
    >>> nothing_decided(Score(value=None, low=0, high=1, untestable=3))
    '3 untestable'
    >>> nothing_decided(Score(value=None, low=None, high=None))
    'n/a'
    """
    left = score.undecided + score.not_drawn
    if score.untestable and not left:
        return f"{score.untestable} untestable"
    return f"none of {left + score.untestable} decided" if left else "n/a"


class VisibleChanges(Frozen):
    """Harmful first-order mutants, by whether their behaviour visibly differs from the original's.

    A killed mutant differs. Of a survivor a test of its runs tells; a mutant that no scenario reaches is not counted.
    """

    noticed: int = 0
    """Killed."""
    unnoticed: int = 0
    """Survivors whose runs differ in a way that no evaluator looks at."""
    unknown: int = 0
    """Survivors without an answer of the test."""

    @property
    def share(self) -> float | None:
        """Return the noticed share of the visibly changed mutants, in [0, 1]; None if none changed."""
        changed = self.noticed + self.unnoticed
        return self.noticed / changed if changed else None


class CiRed(Frozen):
    """The chance that a CI job is red: one that runs each scenario `runs` times, and is red if some scenario's
    observed rate is under its threshold.

    Trials of a mutant are stopped early, so its bounds describe and promise no coverage.
    """

    runs: int
    value: float | None
    """Null where some scenario has no trial to tell from, or too few after a kill."""
    low: float
    high: float
    level: float = 0.95


class CiJob(Frozen):
    """The runs of a mutant after its kill, on a scenario that killed it: a CI job in small, which no kill has chosen.

    It ends when the largest job of `suite.ci_runs` is red or green there.
    """

    scenario: str
    passes: int
    trials: int
    complete: bool
    """False where a budget, an interruption or trouble of the service ended the run first."""


class CiNoticed(Frozen):
    """How often a CI job would have noticed the degrading mutants of one status."""

    mutants: int
    """The mutants with a chance of red."""
    left_out: int = 0
    """The mutants without one: too few runs could be made after their kills."""
    let_through: int
    """The mutants that a CI job is more likely to pass than not."""
    mean_red: float | None
    """Their mean chance of red; null without mutants."""


class CiRun(Frozen):
    """The outcome of a CI job that runs each scenario `runs` times."""

    runs: int
    left_out: int = 0
    """Scenarios without a trial of the original that is evidence, such as a test that is always skipped."""
    false_alarm: CiRed
    """The chance that it is red on the unchanged agent."""
    killed: CiNoticed
    survived: CiNoticed
