"""The trials that this run executed itself: only fresh trials show whether the agent can run."""

from collections import Counter
from dataclasses import dataclass, field

from agentmut.campaign.trials import TrialResult
from agentmut.nouns import Outcome


@dataclass
class FreshTrials:
    """Trials of the unchanged agent on one scenario that were not taken from the store."""

    finished: int = 0
    trials: int = 0
    """The finished trials that are evidence."""
    first_failure: str = ""
    no_evidence: Counter[str] = field(default_factory=Counter)
    """Why trials without evidence have none, by reason."""
    never_began: Counter[str] = field(default_factory=Counter)
    """Evidence trials that raised before they did anything, by the type of the exception."""

    def take_in(self, result: TrialResult) -> None:
        """Count a finished trial, unless it comes from the store."""
        if result.stored:
            return
        self.finished += 1
        if not result.outcome.is_evidence:
            self.no_evidence[f"{result.ending}: {result.reason}"] += 1
            return
        self.trials += 1
        if result.never_began:
            self.never_began[result.never_began] += 1
        if result.outcome is not Outcome.PASS:
            self.first_failure = self.first_failure or result.reason
