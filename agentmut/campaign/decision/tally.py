"""Counts over the trials of a mutant, apart from the evidence on its scenarios."""

from dataclasses import dataclass, replace
from typing import Self

from agentmut.campaign.trials import TrialResult


@dataclass(frozen=True)
class Tally:
    """Counts over the trials of one mutant so far."""

    witnessed: int = 0
    """Trials that showed the change."""
    lost: int = 0
    """Trials that ended together with the process that was watching them."""
    past: int = 0
    """Trials that are evidence, but did not come to the tool whose calls go wrong, or to the part of the flow."""
    trouble: int = 0
    """Trials in a row that are no evidence."""
    looked_on: int = 0
    """Trials of a pair since its scenarios were decided."""
    cost: float | None = 0.0
    """US dollars; None once a trial's price is unknown."""
    asked: int = 0
    """Model requests."""
    recalled: int = 0
    """Model requests that a recorded run of the original answered."""

    def with_trial(self, result: TrialResult, *, witnessed: bool, past: bool, of_the_case: bool) -> Self:
        """Add one trial. A trial whose own case went wrong neither adds to a row of trouble nor ends the row."""
        evidence = result.outcome.is_evidence
        return replace(
            self,
            witnessed=self.witnessed + witnessed,
            lost=self.lost + (result.footprint.lost and evidence),
            past=self.past + past,
            trouble=0 if evidence else self.trouble + (not of_the_case),
            cost=None if self.cost is None or result.usd is None else self.cost + result.usd,
            asked=self.asked + len(result.footprint.exchanges),
            recalled=self.recalled + sum(part.requests for part in result.trace.recalled),
        )
