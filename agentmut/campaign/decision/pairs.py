"""Second-order mutants: a trial has to show both parts, and a kill counts once every part that is due was shown."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agentmut.campaign.decision.arrival import arrived_nowhere, passed_by, went_past
from agentmut.campaign.decision.conclusions import (
    HOPELESS,
    Conclusion,
    Situation,
    given_up,
    in_trouble,
    undetected,
)
from agentmut.campaign.decision.lane import TROUBLE_PATIENCE, Lane
from agentmut.campaign.trials import TrialResult
from agentmut.nouns import Mutant, Status
from agentmut.trial import Witness

PART_PATIENCE = 12
"""Further trials of a pair that is killed already, for one that shows both parts, before it is left undecided."""

NOTHING: frozenset[str] = frozenset()


@dataclass
class PartsSeen:
    """Which parts have been seen in the trials of a mutant that is made of several.

    A scenario may reach one part only. There the other is not missed; where it is due, it has to show.
    """

    due: Mapping[str, frozenset[str]]
    """By scenario: ids of the parts that it reaches."""
    patience: int
    """Trials that are evidence, with a part due, after which it counts as missing."""
    seen: set[str] = field(default_factory=set)
    waited: Counter[str] = field(default_factory=Counter)
    """Trials in which a part should have shown and did not."""
    passed: Counter[str] = field(default_factory=Counter)
    """Trials in which a part was due, but which did not come to what it changes."""

    def record(
        self, scenario: str, witness: Witness | None, *, counts: bool, past: frozenset[str] = NOTHING
    ) -> bool:
        """Record a trial. Return whether it shows every part that is due.

        `counts`: it may have shown them. `past`: the parts that it did not come to.
        """
        due = self.due[scenario]
        arrived = witness.parts if witness else NOTHING
        self.seen |= arrived
        if counts:
            self.waited.update(due - arrived - past)
            self.passed.update((due & past) - arrived)
        return due <= arrived

    @property
    def missing(self) -> str:
        """Return the first part that enough trials have failed to show; an empty text if there is none."""
        overdue = (p for p, n in sorted(self.waited.items()) if n >= self.patience and p not in self.seen)
        return next(overdue, "")

    @property
    def unseen(self) -> str:
        """Return the first part that was due and was never shown; an empty text if there is none."""
        return next((part for part in sorted(self.passed + self.waited) if part not in self.seen), "")

    def awaits(self, scenario: str) -> bool:
        """Return whether a part that has not been seen is due in a scenario."""
        return not self.due[scenario] <= self.seen


def awaiting(parts: PartsSeen, lanes: Sequence[Lane]) -> list[Lane]:
    """List the lanes on which a pair that has decided may still show all its parts."""
    kept = [lane for lane in lanes if not lane.dropped]
    lacking = [lane for lane in kept if parts.awaits(lane.scenario)]
    return lacking or [lane for lane in kept if len(parts.due[lane.scenario]) > 1]


def shows_all(parts: PartsSeen, mutant: Mutant, scenario: str, result: TrialResult) -> bool:
    """Record a trial of a pair. Return whether it shows every part that is due."""
    counts = result.outcome.is_evidence and not result.footprint.lost
    shown = result.witness.parts if result.witness else NOTHING
    past = frozenset(part.id for part in mutant.parts if went_past(part, result, part.id in shown))
    return parts.record(scenario, result.witness, counts=counts, past=past)


def looks_on(now: Situation) -> bool:
    """Return whether a killed pair continues for a while, because one part alone may have caused the kill."""
    return bool(now.killed_by) and not now.shown and not now.is_open


def pair_conclusion(now: Situation, parts: PartsSeen) -> Conclusion | None:
    """Return the status of a pair; None while its trials continue."""
    if now.result.ending in HOPELESS:
        return Conclusion(Status.ERROR, now.result.reason)
    if parts.missing:
        return Conclusion(Status.NOT_APPLIED, _absent(now, parts, parts.missing))
    if now.tally.trouble >= TROUBLE_PATIENCE:
        return in_trouble(now)
    if now.killed_by and now.shown:
        return Conclusion(Status.KILLED)
    if now.is_open:
        return None
    detected = bool(now.killed_by)
    return _looked_on(now, parts) if detected else given_up(now) or _unseen(now, parts) or undetected(now)


def _looked_on(now: Situation, parts: PartsSeen) -> Conclusion | None:
    # the first trial that looked on was the one that decided
    if now.tally.looked_on <= PART_PATIENCE and awaiting(parts, now.lanes):
        return None
    unseen = parts.unseen
    why = f"its part {unseen} could show: {_absence(now, parts, unseen)}" if unseen else ""
    return Conclusion(Status.UNDECIDED, f"killed before {why or 'a trial showed both of its parts'}")


def _unseen(now: Situation, parts: PartsSeen) -> Conclusion | None:
    """Return the conclusion for a part that was due and never showed; None where every part showed."""
    unseen = parts.unseen
    if not unseen:
        return None
    status = Status.NOT_APPLIED if parts.waited[unseen] else Status.NO_COVERAGE
    return Conclusion(status, _absent(now, parts, unseen))


def _absent(now: Situation, parts: PartsSeen, part: str) -> str:
    return f"its part {part} did not arrive: {_absence(now, parts, part)}"


def _absence(now: Situation, parts: PartsSeen, part: str) -> str:
    """Return why a part of a pair that was due did not show, in the words of the part's operator."""
    (mutant,) = (mutant_part for mutant_part in now.mutant.parts if mutant_part.id == part)
    waited = parts.waited[part]
    if waited:
        return arrived_nowhere(mutant, waited, now.result, now.agent)
    return passed_by(mutant, parts.passed[part])
