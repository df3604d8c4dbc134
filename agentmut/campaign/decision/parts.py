"""Whether both parts of a second-order mutant arrive, told scenario by scenario."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from agentmut.trial import Witness

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
        """Take in a trial; whether it shows every part that is due.

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
        """The first part that has not been seen in as many trials as it takes; empty if there is none."""
        overdue = (p for p, n in sorted(self.waited.items()) if n >= self.patience and p not in self.seen)
        return next(overdue, "")

    @property
    def unseen(self) -> str:
        """The first part that was due and has not been seen; empty if there is none."""
        return next((part for part in sorted(self.passed + self.waited) if part not in self.seen), "")

    def awaits(self, scenario: str) -> bool:
        """Whether a part that has not been seen is due in a scenario."""
        return not self.due[scenario] <= self.seen
