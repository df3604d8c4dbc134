"""A CI job that a killed mutant has really run, after its kill, on the scenario that killed it.

The trials of a kill stopped because they had failed often enough. No function of them tells without bias how often the
scenario turns a job red. Runs after the kill are not chosen by it. They end as soon as the colour of the largest job is
known, and every smaller job is read off the same runs: its colour is averaged over all orders of passes and failures
that end in the same place (Rao and Blackwell). For one run this is the estimate of Girshick, Mosteller and Savage (Ann.
Math. Statist. 17 (1946) 13-23). The estimate has no bias for any job up to the largest, whatever the rate.
"""

import math
from functools import lru_cache
from typing import NamedTuple, Self


class AfterKill(NamedTuple):
    """The runs after a kill so far, of a job that needs `needed` passes in `runs` runs."""

    needed: int
    runs: int
    passes: int = 0
    failures: int = 0

    @property
    def trials(self) -> int:
        """Return how many runs were made."""
        return self.passes + self.failures

    @property
    def due(self) -> int:
        """Return how many further runs the job needs whatever they show; 0 once its colour is known.

        >>> AfterKill(9, 10).due, AfterKill(9, 10, 3, 1).due, AfterKill(9, 10, 3, 2).due, AfterKill(9, 10, 9, 1).due
        (2, 1, 0, 0)
        """
        return max(0, min(self.needed - self.passes, self.runs - self.needed + 1 - self.failures))

    def after(self, *, failed: bool) -> Self:
        """Return the job with one run more."""
        return self._replace(passes=self.passes + (not failed), failures=self.failures + failed)

    def green(self, needed: int, runs: int) -> float | None:
        """Return the estimated chance that at least `needed` of `runs` runs pass, in [0, 1].

        None where these runs do not tell it: the job has not its colour yet, or is smaller than the one asked for.

        >>> AfterKill(9, 10, 0, 2).green(1, 1), AfterKill(9, 10, 9, 1).green(1, 1), AfterKill(9, 10, 9, 1).green(9, 10)
        (0.0, 0.8888888888888888, 1.0)
        """
        if self.due:
            return None
        if runs < self.trials:
            return _drawn(self.trials - 1, self.failures - self._ended_red, needed, runs)
        if self.failures > runs - needed:
            return 0.0
        return 1.0 if self.passes >= needed else None

    @property
    def _ended_red(self) -> bool:
        """Return whether the last run failed: then the job is red."""
        return self.failures > self.runs - self.needed


@lru_cache(maxsize=4096)
def _drawn(trials: int, failures: int, needed: int, runs: int) -> float:
    """Return the share of draws of `runs` from the trials, each once at most, that hold at least `needed` passes."""
    most = min(failures, runs - needed)
    ways = sum(math.comb(failures, i) * math.comb(trials - failures, runs - i) for i in range(most + 1))
    return ways / math.comb(trials, runs)
