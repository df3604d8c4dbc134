"""The state of the service while mutants run, as all trials show it to the end of a campaign."""

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from agentmut.campaign.decision.baseline import ScenarioBaseline
from agentmut.campaign.decision.confirming import is_sentinel
from agentmut.campaign.trials import Launch, TrialResult
from agentmut.nouns import Mutant
from agentmut.stats import KillCounts, LaterTrials, find_shift

SIGNIFICANT = 0.05
"""The largest p-value at which a drift is named."""


class Drift(NamedTuple):
    """A drift that the trials show; times in seconds since the epoch."""

    p: float
    change: float
    """How the pass rate changes; negative for a fall."""
    since: float
    until: float


@dataclass
class Service:
    """The trials after the baseline that are evidence, packed, as a campaign has a million of them."""

    lanes: dict[tuple[str, str], int] = field(default_factory=dict)
    """(scenario, mutant) -> index; the mutant is empty for sentinels, trials that confirm kills, those by which the
    baseline grows, and those of untouched controls."""
    where: "array[int]" = field(default_factory=lambda: array("q"))
    failed: bytearray = field(default_factory=bytearray)
    finished: "array[float]" = field(default_factory=lambda: array("d"))
    """Seconds since the epoch; 0 where no clock told."""
    first: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Failures and trials by scenario, of the baseline with which mutants began."""
    untouched: frozenset[str] = frozenset()
    """Controls without an edit: their trials are the original's."""
    sentinels: int = 0
    confirming: int = 0
    baseline_until: float = 0.0
    """When the last baseline trial was finished."""

    @property
    def latest(self) -> float:
        """Return when the last trial came in."""
        return self.finished[-1] if self.finished else self.baseline_until

    def begin(self, baselines: Mapping[str, ScenarioBaseline], identity: Iterable[Mutant] = ()) -> None:
        """Keep the baseline that later trials are compared with, and the controls that are to be like it."""
        self.untouched = frozenset(mutant.id for mutant in identity if not mutant.edits)
        self.first = {name: (b.failures, b.trials) for name, b in baselines.items() if b.trials}

    def record(self, launch: Launch, result: TrialResult) -> None:
        """Take in a trial after the baseline."""
        if not launch.mutant:
            self.sentinels += is_sentinel(launch.repeat)
            self.confirming += bool(launch.beside)
        if result.outcome.is_evidence and launch.scenario in self.first:
            lane = launch.scenario, "" if launch.mutant in self.untouched else launch.mutant
            self.where.append(self.lanes.setdefault(lane, len(self.lanes)))
            self.failed.append(result.outcome != "pass")
            self.finished.append(result.finished)

    def original_since(self, since: float) -> Mapping[str, KillCounts]:
        """Return the first baseline and the original's trials after a time, by scenario."""
        names = {index: name for (name, mutant), index in self.lanes.items() if not mutant}
        seen: dict[str, list[bool]] = {}
        for index, failed, finished in zip(self.where, self.failed, self.finished, strict=True):
            if index in names and finished > since:
                seen.setdefault(names[index], []).append(bool(failed))
        return {
            name: KillCounts(*self.first[name], 0, 0, sum(outcomes), len(outcomes))
            for name, outcomes in seen.items()
        }

    def drift(self) -> Drift | None:
        """Return the drift that all scenarios together show; None if they show none."""
        import numpy as np

        finished = np.array(self.finished)
        # stored trials arrive all at once, rescored ones by mutant
        order = np.argsort(finished, kind="stable")
        where, failed = np.array(self.where)[order], np.array(self.failed)[order]
        shift = find_shift(self.first, LaterTrials(tuple(self.lanes), where, failed))
        if shift is None or shift.p > SIGNIFICANT:
            return None
        times = [self.baseline_until, *finished[order].tolist()]
        since, until = sorted((times[shift.earliest], times[shift.latest]))  # a clock may have been set back
        return Drift(shift.p, shift.change, since, until)
