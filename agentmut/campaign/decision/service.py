"""The state of the service while mutants run, as the original's trials show it to the end of a campaign."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from agentmut._base import digest_of
from agentmut.campaign.decision.baseline import ScenarioBaseline
from agentmut.campaign.decision.confirming import is_sentinel
from agentmut.campaign.trials import Launch, TrialResult
from agentmut.stats import find_shift

SIGNIFICANT = 0.05
"""The largest p-value at which a drift is named."""


class Later(NamedTuple):
    """A trial of the original after the baseline that is evidence."""

    scenario: str
    failed: bool
    finished: float
    """Seconds since the epoch; 0 where no clock told."""


class Drift(NamedTuple):
    """A drift that the original's trials show; times in seconds since the epoch."""

    p: float
    change: float
    """How the pass rate changes; negative for a fall."""
    since: float
    until: float
    earliest: int
    """Later trials before it, at least."""


@dataclass
class Service:
    """The original's trials after the baseline, in the order of their arrival."""

    later: list[Later] = field(default_factory=list)
    """Sentinels, trials that confirm kills, and those by which the baseline grows. Trials of identity mutants are left
    out: how many there are depends on how they end, so that their failures are too many."""
    first: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Failures and trials by scenario, of the baseline with which mutants began."""
    sentinels: int = 0
    confirming: int = 0
    baseline_until: float = 0.0
    """When the last baseline trial was finished."""

    def begin(self, baselines: Mapping[str, ScenarioBaseline]) -> None:
        """Keep the baseline that later trials are compared with."""
        self.first = {name: (b.failures, b.trials) for name, b in baselines.items() if b.trials}

    def record(self, launch: Launch, result: TrialResult) -> None:
        """Take in a trial of the original after the baseline."""
        self.sentinels += is_sentinel(launch.repeat)
        self.confirming += bool(launch.beside)
        if result.outcome.is_evidence:
            self.later.append(Later(launch.scenario, result.outcome != "pass", result.finished))

    def drift(self, seed: int) -> Drift | None:
        """Return the drift that all scenarios together show; None if they show none."""
        import numpy as np

        later = [(each.scenario, each.failed) for each in self.later if each.scenario in self.first]
        rng = np.random.default_rng(int(digest_of([seed, "drift"])[:8], 16))
        shift = find_shift(self.first, later, rng)
        if shift is None or shift.p > SIGNIFICANT:
            return None
        times = [self.baseline_until, *(each.finished for each in self.later)]
        since, until = sorted((times[shift.earliest], times[shift.latest]))  # a clock may have been set back
        return Drift(shift.p, shift.change, since, until, shift.earliest)
