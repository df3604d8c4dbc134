"""The scenarios of a mutant together: what is kept up trial by trial is what counting anew would give."""

import random
from functools import partial

import pytest

from agentmut.campaign.decision.lane import Lane
from agentmut.campaign.decision.lanes import Lanes
from agentmut.stats import choose, choose_scored
from tests.campaign.test_arm import an_arm


def lanes_of(scenarios: int) -> Lanes:
    return Lanes.from_lanes(an_arm(scenarios).lanes)


def anew(lanes: Lanes) -> Lanes:
    return Lanes.from_lanes(list(lanes))


@pytest.mark.parametrize("seed", range(6))
def test_trials_leave_what_counting_anew_gives(seed: int) -> None:
    rng, lanes = random.Random(seed), lanes_of(4)
    for _ in range(60):
        name = rng.choice(["s0", "s1", "s2", "s3", "elsewhere"])
        failed = rng.random() < (0.9 if name == "s2" else 0.1)
        lanes = lanes.changed([name], partial(Lane.with_trial, failed=failed, reason="no"))
        assert lanes == anew(lanes)
    assert lanes.evidence == sum(len(lane.outcomes) for lane in lanes) > 0
    assert lanes.killers == ("s2",)
    assert lanes.named("s2") is lanes[2]
    assert lanes.named("elsewhere") is None


def test_a_kill_that_is_taken_back_is_none() -> None:
    lanes = lanes_of(2)
    while not lanes.killers:
        lanes = lanes.changed(["s1"], lambda lane: lane.with_trial(failed=True))
    lanes = lanes.changed(["s1"], lambda lane: lane.unconfirmed("the service is worse"))
    assert (lanes.killers, lanes.is_open, lanes.prospect) == ((), True, lanes[0].prospect)
    lanes = lanes.changed(["s0"], lambda lane: lane.unconfirmed("so it is"))
    assert (lanes.is_open, lanes.prospect) == (False, 0.0)


@pytest.mark.parametrize("seed", range(20))
def test_the_next_trial_goes_where_the_rule_of_the_method_says(seed: int) -> None:
    rng, lanes = random.Random(seed), lanes_of(5)
    for _ in range(seed):
        name, failed = f"s{rng.randrange(5)}", rng.random() < 0.2
        lanes = lanes.changed([name], partial(Lane.with_trial, failed=failed))
    live: list[Lane] = [lane for lane in lanes if lane.is_open]
    by_rule = choose([x.standing for x in live], [1.0] * len(live), [0.0] * len(live), random.Random(9))
    assert lanes[choose_scored(lanes.scores, lanes.affinities, random.Random(9))] is live[by_rule]
