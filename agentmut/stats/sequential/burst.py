"""A burst of failures in one window of trials, over many lanes that each have a failure rate of their own.

A lane is one agent (the original or a mutant) on one scenario. Within a lane trials are taken as exchangeable, so given
how many of its trials failed, the failures that fall into a window are hypergeometric, whatever the lane's rate is: a
lane that always fails tells nothing, nor does one that lies in the window as a whole. The sum over lanes is exact, by
convolution. A mutant's lane ends when its failures suffice for a kill, so its last trials fail more often than the
first ones: mutants alone are no evidence, but the original, or signs of trouble of the service, have to agree.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from agentmut.stats.tests.stratified import Share, tail

LEVEL = 1e-6
"""The chance, for one window, of being called a burst where nothing has changed."""
EACH = 1e-3
"""The level of each of two kinds of evidence that have to agree; as if independent, their product is `LEVEL`."""
SIZES = (8, 16, 32, 64)
"""Trials in the windows that are looked at."""
SEVERAL = 2
"""So many mutants have to fail in a window that is more than a mutant's own end."""


class EndedTrial(NamedTuple):
    """A trial, in the order in which trials ended."""

    mutant: str
    """Empty for the original."""
    scenario: str
    failed: bool | None
    """None where it is no evidence."""
    sign: bool = False
    """Whether the service showed trouble in it: a request that failed, an unusually slow or an empty answer."""

    @property
    def lane(self) -> "Lane":
        """Return the mutant on its scenario."""
        return self.mutant, self.scenario


Lane = tuple[str, str]
Counts = Counter[tuple[Lane, bool]]
"""By lane: the trials that have what is counted, and those that have not."""


@dataclass
class Totals:
    """What is known of every lane: its trials, wherever they stand."""

    failures: Counts = field(default_factory=Counter)
    signs: Counts = field(default_factory=Counter)

    def add(self, seen: EndedTrial) -> None:
        """Count one more trial."""
        self.signs[seen.lane, seen.sign] += 1
        if seen.failed is not None:
            self.failures[seen.lane, seen.failed] += 1


class Excess(NamedTuple):
    """How surprising a window is; each a one-sided p-value, 1 where nothing can be said."""

    original: float
    """The p-value of the original's failures."""
    mutants: float
    """The p-value of the mutants' failures."""
    signs: float
    """The p-value of the signs of trouble, over all lanes."""
    together: float
    """The p-value of failures falling on the trials with a sign, within the window's own lanes."""
    failing: int
    """How many mutants failed in the window."""

    @property
    def is_burst(self) -> bool:
        """Return whether failures of the original, alone or with those of mutants, or with signs of trouble, are a
        burst.
        """
        if self.original <= LEVEL:
            return True
        several = self.failing >= SEVERAL
        failures = min(self.mutants, self.original)
        if several and self.original <= EACH and self.mutants <= EACH:
            return True
        return several and self.signs <= EACH and min(failures, self.together) <= EACH


def burst_at_end(last: Collection[EndedTrial], count: int, totals: Totals) -> int:
    """Return how many of the last trials are a burst: those of the widest window that is one; 0 where none is.

    `last` are the last of `count` trials, as many as the widest window has or all of them. `totals` counts all trials
    of their lanes. A window of some size is looked at whenever half its size has come, so each trial is in few windows.
    """
    sizes = [size for size in SIZES if count >= size and count % (size // 2) == 0]
    seen = tuple(last) if sizes else ()
    return max((size for size in sizes if _is_burst(seen[-size:], totals)), default=0)


def _is_burst(window: Sequence[EndedTrial], totals: Totals) -> bool:
    """Return whether the window is a burst; one without a failure never is, so nothing is counted in it."""
    return any(trial.failed for trial in window) and excess(window, totals).is_burst


def excess(window: Sequence[EndedTrial], totals: Totals) -> Excess:
    """Compare a window with the other trials of its lanes; `totals` counts both."""
    judged = [trial for trial in window if trial.failed is not None]
    failures = Counter((trial.lane, bool(trial.failed)) for trial in judged)
    signs = Counter((trial.lane, trial.sign) for trial in window)
    signed = Counter((trial.lane, bool(trial.failed)) for trial in judged if trial.sign)
    lanes = list(dict.fromkeys(trial.lane for trial in window))
    original, mutants = [x for x in lanes if not x[0]], [x for x in lanes if x[0]]
    return Excess(
        tail(_shares(original, failures, totals.failures)),
        tail(_shares(mutants, failures, totals.failures)),
        tail(_shares(lanes, signs, totals.signs)),
        tail(_shares(lanes, signed, failures)),
        len({trial.mutant for trial in judged if trial.failed and trial.mutant}),
    )


def _shares(lanes: Iterable[Lane], inside: Counts, in_all: Counts) -> list[Share]:
    return [
        Share(
            in_all[lane, True] + in_all[lane, False],
            in_all[lane, True],
            inside[lane, True] + inside[lane, False],
            inside[lane, True],
        )
        for lane in lanes
    ]
