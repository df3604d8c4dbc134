"""Results in the order of their launches: no decision of a campaign may depend on which trial ends first."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from agentmut.campaign.trials import Launch, TrialResult


@dataclass
class InOrder:
    """The launches of one mutant, and the results that have arrived."""

    window: int = 1
    """How many trials may be under way at a time."""
    launches: list[Launch] = field(default_factory=list)
    by_scenario: Counter[str] = field(default_factory=Counter)
    """The mutant's own launches."""
    beside: Counter[str] = field(default_factory=Counter)
    """Launches of the original beside them."""
    consumed: int = 0
    own: int = 0
    """Results of the mutant itself among those consumed."""
    _arrived: dict[int, TrialResult] = field(default_factory=dict)

    @property
    def visible(self) -> int:
        """Return how many results the next launch looks at; exactly these, so that timing changes nothing."""
        return len(self.launches) + 1 - self.window

    @property
    def ready(self) -> bool:
        """Return whether the next launch may be chosen now: every result that it depends on has been consumed."""
        return self.consumed == max(0, self.visible)

    @property
    def in_flight(self) -> int:
        """Count the launches without a result."""
        return len(self.launches) - self.consumed - len(self._arrived)

    def add(self, launch: Launch) -> None:
        """Note a launch."""
        self.launches.append(launch)
        (self.beside if launch.beside else self.by_scenario)[launch.scenario] += 1

    def arrive(self, number: int, result: TrialResult) -> None:
        """Note the result of a launch."""
        self._arrived[number] = result

    def consume(self) -> Iterator[tuple[Launch, TrialResult]]:
        """Yield the results that have become consecutive, up to the last one that the next launch may depend on."""
        while self.consumed < self.visible and self.consumed in self._arrived:
            number = self.consumed
            self.consumed += 1
            self.own += not self.launches[number].beside
            yield self.launches[number], self._arrived.pop(number)
