"""A table of the scenarios that show each item, which every dimension fills, trace by trace."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from agentmut.nouns import AgentTrace

Traces = Mapping[str, Sequence[AgentTrace]]
"""Finished runs of the unchanged agent, by the name of their scenario."""


Key = TypeVar("Key", bound=Hashable)


def each_trace(traces: Traces) -> Iterator[tuple[str, AgentTrace]]:
    """Yield every trace with the name of its scenario."""
    for scenario, runs in traces.items():
        for trace in runs:
            yield scenario, trace


@dataclass
class Sightings(Generic[Key]):
    """The scenarios that show each item, and the number of traces."""

    scenarios: dict[Key, dict[str, int]] = field(default_factory=dict)

    def add(self, scenario: str, keys: Iterable[Key]) -> None:
        """Record the items of one trace; each key counts at most once."""
        for key in keys:
            counts = self.scenarios.setdefault(key, {})
            counts[scenario] = counts.get(scenario, 0) + 1

    def shows(self, scenario: str, key: Key) -> bool:
        """Return whether a scenario shows an item."""
        return scenario in self.scenarios.get(key, ())

    def __contains__(self, key: Key) -> bool:
        return key in self.scenarios

    def __len__(self) -> int:
        return len(self.scenarios)

    def shown_by(self, key: Key) -> frozenset[str]:
        """Return the scenarios that show an item."""
        return frozenset(self.scenarios.get(key, ()))

    def repeats(self) -> tuple[int, int]:
        """Return the number of items that exactly one trace shows, and exactly two: the inputs of Chao1."""
        totals = [sum(counts.values()) for counts in self.scenarios.values()]
        return totals.count(1), totals.count(2)
