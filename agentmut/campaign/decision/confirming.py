"""The confirmation of a kill against trials of the original that run at the same time as the mutant's."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from agentmut.campaign.decision.lane import TROUBLE_PATIENCE, Lane, SuiteEvidence
from agentmut.stats import Decision, KillCounts, log_beside, log_confirming
from agentmut.store import LATER, SERIES

LEAST, LEAST_AFTER_ALONE = 2, 8
"""Trials of the original without which no kill is final; the second number where the mutant first ran trials alone.
A few that pass say little of a large drift, and a kill that is not striking needs more of them anyway."""
FURTHER = 60
"""Further trials of the mutant after which a kill that is not confirmed is given up."""
FIRST = 20
"""Trials of the original on a scenario, at most, before the mutant gets further trials in turn with it."""
ALONE, STRIKING = 6, 0.7
"""A mutant that failed at most so large a share of its trials at its kill runs so many further ones before the original
does: the kill is more likely chance than an outage, and the mutant's own trials tell that soonest."""
AT_FIRST, EACH_TRIAL = 0.6, 0.03
"""The log evidence below which a kill is given up: it begins at 0.6 and rises by 0.03 with each trial that the
confirmation has taken. A kill that is real gains evidence with trials; one by chance or drift does not."""
ENOUGH = 20
"""Trials of the original before a kill is given up since it fails as often; as many as the mutant's, if fewer."""
FEWEST = 4
"""Trials of the original before any kill is given up: after a kill in one trial, one chance failure says nothing."""
PLACES = 1_000_000
"""Each mutant has repeats of the original for itself, at one of so many places."""
FOR_EACH = 1000
"""Repeats for a mutant; the first ones are those of sentinels."""


@dataclass(frozen=True)
class Confirmation:
    """The trials so far that are to confirm one kill: trials of the original, and further trials of the mutant."""

    by_scenario: tuple[tuple[str, KillCounts], ...]
    """The scenarios that killed, each with its counts. Several where the suite as a whole killed."""
    level: float
    """The error rate at which the kill is confirmed."""
    by_suite: bool = False
    further: int = 0
    """The mutant's trials since the kill."""
    trouble: int = 0
    """Trials of the original in a row that are no evidence."""
    originals: tuple[tuple[str, bool], ...] = ()
    """The trials of the original that are evidence, in order: the scenario, and whether it failed."""
    alone: int = 0
    """Further trials of the mutant before the first one of the original."""
    elsewhere: tuple[KillCounts, ...] = ()
    """The trials on the mutant's other scenarios when it was killed: they show how far the service has shifted."""

    @property
    def log_evidence(self) -> float:
        """Return the log Bayes factor for a worse mutant; each scenario's service may have shifted by itself."""
        return sum(log_beside(beside, self.elsewhere) for _, beside in self.by_scenario)

    @property
    def confirmed(self) -> bool:
        """Return whether the kill is final."""
        least = LEAST_AFTER_ALONE if self.alone else LEAST
        return self._originals >= least and self.log_evidence >= log_confirming(self.level)

    def holds_amid(self, original: Mapping[str, KillCounts]) -> bool:
        """Return whether the kill still holds by what the original did on the other scenarios, in the whole campaign.

        A kill by the suite as a whole has no other scenarios.
        """
        confirmed = {name for name, _ in self.by_scenario}
        elsewhere = tuple(counts for name, counts in original.items() if name not in confirmed)
        return replace(self, elsewhere=elsewhere).confirmed

    @property
    def given_up(self) -> bool:
        """Return whether the kill does not hold."""
        if self.trouble >= TROUBLE_PATIENCE:
            return True
        if self._originals < FEWEST:
            return False
        if self.further >= FURTHER or (self._originals >= min(self._trials, ENOUGH) and self._as_often):
            return True
        return self.log_evidence < AT_FIRST + EACH_TRIAL * (self._originals + self.further)

    @property
    def _as_often(self) -> bool:
        """Return whether the original fails no less often than the mutant.

        Where both always fail, the evidence stays as it is, so it would never give the kill up.
        """
        return all(
            b.original_failures * b.trials >= b.failures * b.original_trials for _, b in self.by_scenario
        )

    @property
    def _originals(self) -> int:
        return sum(beside.original_trials for _, beside in self.by_scenario)

    @property
    def _trials(self) -> int:
        return sum(beside.trials for _, beside in self.by_scenario)

    def next(self) -> tuple[str, bool]:
        """Return the scenario of the next trial, and whether the original runs it.

        The mutant runs its trials alone. Then the original runs until it has as many as the mutant, or `FIRST` on each
        scenario; then they take turns.
        """
        lacking = [
            (beside.original_trials - beside.trials, i) for i, (_, beside) in enumerate(self.by_scenario)
        ]
        if self.further < self.alone:
            return self.by_scenario[min(lacking)[1]][0], False
        wanted = min(self._trials, FIRST * len(self.by_scenario) + self.further - self.alone)
        return self.by_scenario[min(lacking)[1]][0], self._originals < wanted

    def waits_for(self, scenario: str) -> bool:
        """Return whether a trial on the scenario is evidence about the kill."""
        return any(name == scenario for name, _ in self.by_scenario)

    def with_mutant(self, scenario: str, *, failed: bool) -> Self:
        """Add a further trial of the mutant."""
        counts = self._counts_with(scenario, KillCounts(0, 0, int(failed), 1))
        return replace(self, by_scenario=counts, further=self.further + 1)

    def with_original(self, scenario: str, *, failed: bool | None) -> Self:
        """Add a trial of the original; None stands for a trial that is no evidence."""
        if failed is None:
            return replace(self, trouble=self.trouble + 1)
        counts = self._counts_with(scenario, KillCounts(0, 0, 0, 0, int(failed), 1))
        return replace(self, by_scenario=counts, trouble=0, originals=(*self.originals, (scenario, failed)))

    def _counts_with(self, scenario: str, more: KillCounts) -> tuple[tuple[str, KillCounts], ...]:
        return tuple(
            (name, KillCounts(*map(sum, zip(beside, more, strict=True))) if name == scenario else beside)
            for name, beside in self.by_scenario
        )

    @property
    def reason(self) -> str:
        """Return why the kill does not hold."""
        if self.trouble >= TROUBLE_PATIENCE:
            no_evidence = f"{self.trouble} trials of the original in a row gave no evidence"
            return f"a kill on {self._where} could not be confirmed: {no_evidence}"
        mutant, original = (
            f"{sum(b[at] for _, b in self.by_scenario)} of {sum(b[at + 1] for _, b in self.by_scenario)}"
            for at in (2, 4)
        )
        return (
            f"a kill on {self._where} did not hold: the mutant failed {mutant} trials, and the original {original} "
            "trials beside them"
        )

    @property
    def _where(self) -> str:
        return ", ".join(name for name, beside in self.by_scenario if beside.failures) or "the suite"


def confirmation_of(
    lanes: Sequence[Lane],
    suite: SuiteEvidence | None,
    weight: float = 1.0,
    refuted: Sequence[Confirmation] = (),
) -> Confirmation:
    """Return the confirmation that a kill needs: of the first scenario that killed, or of all scenarios taken together.

    `weight` is the round's share of alpha. A scenario of a mutant has at most one kill to confirm in all rounds, since
    one that does not hold closes it. So the level of the confirmation is that of all rounds together. `refuted` are
    the mutant's kills that did not hold.
    """
    killing = next((lane for lane in lanes if lane.decision is Decision.KILLED), None)
    if killing is not None:
        level = killing.table.design.alpha / weight
        alone = ALONE if killing.failures <= STRIKING * killing.trials else 0
        elsewhere = tuple(_all_of(lane, refuted) for lane in lanes if lane is not killing and lane.outcomes)
        return Confirmation(
            ((killing.scenario, _counts_of(killing)),), level, alone=alone, elsewhere=elsewhere
        )
    assert suite is not None
    counts_by_scenario = tuple((lane.scenario, _counts_of(lane)) for lane in lanes if lane.trials)
    return Confirmation(counts_by_scenario, suite.level / weight, by_suite=True)


def _counts_of(lane: Lane) -> KillCounts:
    return KillCounts(lane.table.f0, lane.table.n0, lane.failures, lane.trials)


def _all_of(lane: Lane, refuted: Sequence[Confirmation]) -> KillCounts:
    """Count all trials on a scenario, those of the original beside a kill that did not hold included."""
    beside = [
        counts
        for confirmation in refuted
        for name, counts in confirmation.by_scenario
        if name == lane.scenario
    ]
    original = (
        sum(counts.original_failures for counts in beside),
        sum(counts.original_trials for counts in beside),
    )
    return KillCounts(lane.table.f0, lane.table.n0, lane.outcomes.count("1"), len(lane.outcomes), *original)


def repeat_beside(mutant: str, number: int) -> int:
    """Return the repeat of the `number`-th trial of the original that runs beside a mutant, on one scenario.

    A function of the mutant alone, so that a resumed run and the shards of a campaign find the same trials.
    """
    place = int(hashlib.sha256(mutant.encode()).hexdigest()[:12], 16) % PLACES
    return LATER + FOR_EACH * (place + 1) + number


def is_sentinel(repeat: int) -> bool:
    """Return whether a repeat of the original is a sentinel's, and no trial that was to confirm a kill."""
    return LATER <= repeat % SERIES < LATER + FOR_EACH
