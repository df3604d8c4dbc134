"""The status of a mutant after a trial, as a pure function of its trials."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from agentmut.campaign.decision.arrival import arrived_nowhere, passed_by
from agentmut.campaign.decision.lane import TROUBLE_PATIENCE, Lane, SuiteEvidence
from agentmut.campaign.decision.lanes import Lanes
from agentmut.campaign.decision.tally import Tally
from agentmut.campaign.trials import TrialResult
from agentmut.nouns import SUITE, Ending, Mutant, Status
from agentmut.stats import Decision
from agentmut.trial import SuiteConfig

WITNESS_PATIENCE = 3
"""Trials that are evidence, yet without any witness, after which a mutant counts as not applied."""
HOPELESS = frozenset({Ending.REFUSED, Ending.UNBUILDABLE})


class Conclusion(NamedTuple):
    """A mutant's final status, and why."""

    status: Status
    reason: str = ""


@dataclass(frozen=True)
class Situation:
    """The facts that a conclusion depends on."""

    mutant: Mutant
    lanes: Lanes
    suite: SuiteEvidence | None
    tally: Tally
    result: TrialResult
    """The last trial's, perhaps without its trace."""
    agent: SuiteConfig | None = None
    """What the mutant was made from, to say why it did not arrive."""

    @property
    def killed_by(self) -> tuple[str, ...]:
        """Name the scenarios that suffice for a kill, and `SUITE` if all together do."""
        return killed_by(self.lanes, self.suite)

    @property
    def evidence(self) -> int:
        """Count the trials so far that are evidence about the agent."""
        return self.lanes.evidence

    @property
    def shown(self) -> bool:
        """Return whether some trial showed the change, or was lost before it could show the change."""
        return bool(self.tally.witnessed or self.tally.lost)

    @property
    def is_open(self) -> bool:
        """Return whether further trials may go to some scenario."""
        return self.lanes.is_open

    @property
    def absence(self) -> Conclusion:
        """Conclude that the mutant did not arrive in any trial."""
        reason = arrived_nowhere(self.mutant, self.evidence, self.result, self.agent)
        return Conclusion(Status.NOT_APPLIED, reason)


def killed_by(lanes: Lanes, suite: SuiteEvidence | None) -> tuple[str, ...]:
    """Name the scenarios whose own evidence suffices for a kill, and `SUITE` if that of all together does."""
    return (*lanes.killers, SUITE) if suite and suite.killed else lanes.killers


def conclusion(now: Situation) -> Conclusion | None:
    """Return the status of a mutant with one change; None while its trials continue."""
    unexplained = now.evidence - now.tally.lost - now.tally.past
    if now.result.ending in HOPELESS:
        return Conclusion(Status.ERROR, now.result.reason)
    if not now.tally.witnessed and unexplained >= WITNESS_PATIENCE:
        return now.absence
    if now.tally.trouble >= TROUBLE_PATIENCE:
        return in_trouble(now)
    if now.killed_by and now.shown:
        return Conclusion(Status.KILLED)
    if now.is_open:
        return None
    return now.absence if now.killed_by else ended(now)


def ended(now: Situation) -> Conclusion:
    """Conclude for a mutant that no scenario killed and that takes no further trial."""
    return given_up(now) or undetected(now)


def in_trouble(now: Situation) -> Conclusion:
    """Conclude that the mutant stays undecided, since several trials in a row gave no evidence."""
    result, count = now.result, now.tally.trouble
    reason = f"{count} trials in a row gave no evidence ({result.outcome}): {result.reason}"
    return Conclusion(Status.UNDECIDED, reason)


def given_up(now: Situation) -> Conclusion | None:
    """Return the conclusion of a mutant with a scenario that was given up; None where no scenario was given up."""
    reasons = "; ".join(filter(None, (lane.gave_up for lane in now.lanes)))
    return Conclusion(Status.UNDECIDED, reasons) if reasons else None


def undetected(now: Situation) -> Conclusion:
    """Conclude that no scenario killed the mutant and no scenario goes on."""
    testable = [lane for lane in now.lanes if not lane.is_untestable]
    if not testable:
        return untestable(now.lanes)
    if now.tally.past == now.evidence:
        return Conclusion(Status.NO_COVERAGE, passed_by(now.mutant, now.evidence))
    if not now.shown:
        return now.absence
    if all(lane.decision is Decision.SURVIVED for lane in testable):
        return Conclusion(Status.SURVIVED)
    return Conclusion(Status.UNDECIDED, "the trials allowed per scenario were not enough")


def untestable(lanes: Iterable[Lane]) -> Conclusion:
    """Conclude that no drop could show: the original fails too often on each scenario that reaches the mutant."""
    names = ", ".join(sorted(lane.scenario for lane in lanes))
    return Conclusion(
        Status.UNTESTABLE, f"reached only by scenarios on which the original fails too often: {names}"
    )
