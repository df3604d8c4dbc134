"""All scenarios of a mutant, with totals that each trial updates instead of a new count."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeVar, overload

from agentmut.campaign.decision.lane import Lane
from agentmut.stats import Decision

T = TypeVar("T")


@dataclass(frozen=True)
class Lanes(Sequence[Lane]):
    """The scenarios of a mutant, in order; a trial replaces one of them."""

    each: tuple[Lane, ...]
    places: Mapping[str, int]
    """Scenario -> its position."""
    scores: tuple[float, ...]
    """The log evidence of a drop of each scenario; minus infinity where no further trial may go."""
    prospects: tuple[float, ...]
    """About how many kills the next trial on each scenario brings."""
    affinities: tuple[float, ...]
    """How close each scenario is to what the mutant changes, in [0, 1]."""
    evidence: int
    """Trials so far that say something about the agent."""
    killed: frozenset[int] = frozenset()
    """Positions of the scenarios whose own evidence suffices for a kill."""

    @classmethod
    def from_lanes(cls, lanes: Sequence[Lane]) -> "Lanes":
        """Return the lanes with their totals."""
        if isinstance(lanes, Lanes):
            return lanes
        return cls(
            tuple(lanes),
            {lane.scenario: place for place, lane in enumerate(lanes)},
            tuple(map(_score, lanes)),
            tuple(lane.prospect for lane in lanes),
            tuple(lane.affinity for lane in lanes),
            sum(len(lane.outcomes) for lane in lanes),
            frozenset(place for place, lane in enumerate(lanes) if _kills(lane)),
        )

    @overload
    def __getitem__(self, place: int) -> Lane: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Lane]: ...
    def __getitem__(self, place: int | slice) -> Lane | Sequence[Lane]:
        return self.each[place]

    def __iter__(self) -> Iterator[Lane]:
        return iter(self.each)

    def __len__(self) -> int:
        return len(self.each)

    @property
    def is_open(self) -> bool:
        """Return whether further trials may go to some scenario."""
        return max(self.scores, default=-math.inf) > -math.inf

    @property
    def prospect(self) -> float:
        """Return about how many kills the next trial brings; 0 if no scenario takes a trial."""
        return max(self.prospects, default=0.0)

    @property
    def killers(self) -> tuple[str, ...]:
        """Name the scenarios whose own evidence suffices for a kill."""
        return tuple(self.each[place].scenario for place in sorted(self.killed))

    def named(self, scenario: str) -> Lane | None:
        """Return the lane of a scenario; None where the scenario does not reach the mutant."""
        place = self.places.get(scenario)
        return None if place is None else self.each[place]

    def changed(self, scenarios: Iterable[str], change: Callable[[Lane], Lane]) -> Self:
        """Return the lanes with the lanes of some scenarios changed; unknown scenarios are ignored."""
        lanes = self
        for place in (self.places[name] for name in scenarios if name in self.places):
            lanes = lanes._with(place, change(lanes.each[place]))
        return lanes

    def _with(self, place: int, lane: Lane) -> Self:
        before = self.each[place]
        return replace(
            self,
            each=_put(self.each, place, lane),
            scores=_put(self.scores, place, _score(lane)),
            prospects=_put(self.prospects, place, lane.prospect),
            evidence=self.evidence + len(lane.outcomes) - len(before.outcomes),
            killed=self.killed | {place} if _kills(lane) else self.killed - {place},
        )


def _put(values: tuple[T, ...], place: int, value: T) -> tuple[T, ...]:
    replaced = list(values)
    replaced[place] = value
    return tuple(replaced)


def _score(lane: Lane) -> float:
    return lane.evidence.log_ratio[lane.trials][lane.failures] if lane.is_open else -math.inf


def _kills(lane: Lane) -> bool:
    return lane.decision is Decision.KILLED
