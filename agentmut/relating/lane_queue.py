"""The order in which lanes begin their pairs, without a look at every lane for every trial."""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

from agentmut.relating.lane import Lane

_NOWHERE = -1


class LaneQueue:
    """Lanes that want another pair, the one with the fewest pairs first, and lanes that are not complete.

    What a lane wants changes when it begins a pair or judges one: tell the queue then, by `changed`.
    """

    def __init__(self, lanes: Sequence[Lane]) -> None:
        self._lanes = lanes
        self._heap = [(lane.launched, at) for at, lane in enumerate(lanes) if lane.wants_another]
        heapify(self._heap)
        self._queued_with = [_NOWHERE] * len(lanes)
        """By lane: the number of its pairs for which it stands in the heap."""
        for launched, at in self._heap:
            self._queued_with[at] = launched
        self._open = {at for at, lane in enumerate(lanes) if not lane.complete}

    @property
    def all_complete(self) -> bool:
        """Return whether every lane has the pairs that its verdict needs."""
        return not self._open

    def first(self) -> int | None:
        """Return the position of the lane with the fewest pairs among those that want another."""
        while self._heap:
            launched, at = self._heap[0]
            lane = self._lanes[at]
            if lane.launched == launched and lane.wants_another:
                return at
            heappop(self._heap)
            if self._queued_with[at] == launched:
                self._queued_with[at] = _NOWHERE
        return None

    def changed(self, at: int) -> None:
        """Note that the lane at this position has begun or judged a pair."""
        lane = self._lanes[at]
        if lane.complete:
            self._open.discard(at)
        elif lane.wants_another and self._queued_with[at] != lane.launched:
            self._queued_with[at] = lane.launched
            heappush(self._heap, (lane.launched, at))
