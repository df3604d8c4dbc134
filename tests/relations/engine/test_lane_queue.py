"""Which lane begins its next pair, and what the choice takes where there are thousands of lanes."""

import random
from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agentmut.relating.lane import Lane
from agentmut.relating.lane_queue import LaneQueue
from tests.counted_calls import counted

RULE = cast(Any, SimpleNamespace(most=5))


def lane(pairs: int, window: int = 2) -> Lane:
    """A lane with so many planned pairs, which nothing is run for."""
    planned = cast(Any, [SimpleNamespace(trials=()) for _ in range(pairs)])
    return Lane(cast(Any, None), planned, Counter(), RULE, window)


def judged(lanes: list[Lane], queue: LaneQueue, at: int) -> None:
    """One pair of this lane has its runs, and they say nothing."""
    lanes[at].consumed += 1
    queue.changed(at)


def begun(lanes: list[Lane], queue: LaneQueue) -> int | None:
    """Begin a pair of the lane whose turn it is; return the lane's position."""
    at = queue.first()
    if at is not None:
        lanes[at].launched += 1
        queue.changed(at)
    return at


def expected(lanes: list[Lane]) -> int | None:
    """The lane with the fewest pairs among all that want another, looked for in all of them."""
    wanting = [(lane.launched, at) for at, lane in enumerate(lanes) if lane.wants_another]
    return min(wanting)[1] if wanting else None


@pytest.mark.parametrize("seed", range(20))
def test_it_is_always_the_lane_with_the_fewest_pairs(seed: int) -> None:
    draw = random.Random(seed)
    lanes = [lane(draw.randint(0, 5), draw.randint(1, 3)) for _ in range(8)]
    queue = LaneQueue(lanes)
    while not all(lane.complete for lane in lanes):
        assert queue.first() == expected(lanes)
        assert not queue.all_complete
        waiting = [at for at, lane in enumerate(lanes) if lane.launched > lane.consumed]
        if waiting and (queue.first() is None or draw.random() < 0.5):
            judged(lanes, queue, draw.choice(waiting))
        else:
            begun(lanes, queue)
    assert queue.all_complete
    assert queue.first() is None


def test_the_choice_takes_as_long_however_many_lanes_there_are() -> None:
    def calls(size: int) -> int:
        lanes = [lane(3) for _ in range(size)]
        with counted() as count:
            queue = LaneQueue(lanes)
            while (at := begun(lanes, queue)) is not None:
                judged(lanes, queue, at)
        return count.calls

    assert calls(400) / calls(100) == pytest.approx(4, rel=0.1)
