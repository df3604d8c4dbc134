"""Whether both parts of a second-order mutant arrive, told scenario by scenario."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from agentmut.witness import Witness


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

    def record(self, scenario: str, witness: Witness | None, *, counts: bool) -> bool:
        """Take in a trial; whether it shows every part that is due. `counts`: it may have shown them."""
        due = self.due[scenario]
        arrived = witness.parts if witness else frozenset()
        self.seen |= arrived
        if counts:
            self.waited.update(due - arrived)
        return due <= arrived

    @property
    def missing(self) -> str:
        """The first part that has not been seen in as many trials as it takes; empty if there is none."""
        overdue = (p for p, n in sorted(self.waited.items()) if n >= self.patience and p not in self.seen)
        return next(overdue, "")
