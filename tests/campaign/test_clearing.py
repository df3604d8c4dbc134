"""Mutants that many scenarios reach are tried on a sample of them, and say what that leaves open."""

from itertools import product
from math import prod
from random import Random
from typing import Any

import pytest
from pydantic import ValidationError

from agentmut.campaign.decision.clearing import FOREMOST, tried_on
from agentmut.campaign.decision.reach import ReachingScenarios
from agentmut.campaign.preparation.plan import Rule
from agentmut.nouns.mutant import Status
from agentmut.project.schema import StatisticsSettings
from agentmut.report.proof_wording import proof
from agentmut.stats.score.clearing import most_with_drop
from agentmut.usecases.campaigns import measure

AFFINITIES = {f"s{n:03}": 1.0 if n < 3 else n / 1000 for n in range(214)}


def test_the_foremost_and_one_of_each_stratum_are_tried() -> None:
    where = tried_on(ReachingScenarios(AFFINITIES), 20, 1, "m")
    assert len(where.scenarios) == 20 + FOREMOST
    assert {"s000", "s001", "s002", "s213", "s212"} <= set(where.scenarios)  # the highest affinities
    assert where.clearing is not None
    assert (where.clearing.reached, sum(where.clearing.strata)) == (214, 209)
    assert set(where.clearing.strata) == {10, 11}
    assert where == tried_on(ReachingScenarios(AFFINITIES), 20, 1, "m")
    assert where.scenarios != tried_on(ReachingScenarios(AFFINITIES), 20, 1, "other").scenarios


def test_every_scenario_of_the_rest_has_its_chance() -> None:
    seen = {
        name for k in range(400) for name in tried_on(ReachingScenarios(AFFINITIES), 20, 1, str(k)).scenarios
    }
    assert seen == set(AFFINITIES)


@pytest.mark.parametrize(("size", "reached"), [(0, 214), (20, 20), (20, 3)])
def test_without_a_size_or_with_few_scenarios_all_are_tried(size: int, reached: int) -> None:
    some = dict(list(AFFINITIES.items())[:reached])
    assert tried_on(ReachingScenarios(some), size, 1, "m") == ReachingScenarios(some)


def test_the_parts_of_a_pair_keep_their_scenarios() -> None:
    parts = {name: frozenset({"one"}) for name in AFFINITIES}
    where = tried_on(ReachingScenarios(AFFINITIES, parts=parts), 20, 1, "m")
    assert set(where.parts) == set(where.scenarios)


def test_the_bound_is_that_of_its_formula() -> None:
    # without misses .9 ** 13 * .8 ** 7 = .0533 and .9 ** 12 * .8 ** 8 = .0474; with a miss of .1
    # .91 ** 10 * .82 ** 10 = .0535 and .91 ** 9 * .82 ** 11 = .0482; a drop in a foremost scenario would take .1
    assert most_with_drop(0, [10] * 20, 0.0) == 27
    assert most_with_drop(0, [10] * 20, 0.1) == 30
    assert most_with_drop(5, [10] * 20, 0.1) == 30
    assert most_with_drop(5, [], 0.1) == 1
    # 20 scenarios, ten random ones beside the foremost: five strata of two, .55 ** 5 = .0503, and five of one
    where = tried_on(ReachingScenarios(dict(list(AFFINITIES.items())[:20])), 10, 1, "m")
    assert where.clearing is not None and len(where.scenarios) == 15
    assert most_with_drop(FOREMOST, where.clearing.strata, 0.1) == 5
    assert most_with_drop(20, [], 0.1) == 1  # 0.1 ** 2 is less than 0.05
    with pytest.raises(ValueError, match="strata"):
        most_with_drop(0, [0], 0.1)
    with pytest.raises(ValueError, match="miss"):
        most_with_drop(0, [1], 1.0)


@pytest.mark.parametrize(
    ("reached", "tried", "open_"),
    [(20, 20, 1), (21, 20, 2), (22, 20, 3), (23, 20, 3), (24, 20, 4), (25, 20, 5), (28, 23, 5), (30, 25, 5)],
)
def test_from_21_scenarios_on_a_sample_is_tried_and_its_bound_is_what_it_is(
    reached: int, tried: int, open_: int
) -> None:
    """With u strata of two, .55 ** u for one drop in each; a drop more in a tried one takes .1."""
    where = tried_on(ReachingScenarios(dict(list(AFFINITIES.items())[:reached])), 20, 1, "m")
    assert len(where.scenarios) == tried
    strata = where.clearing.strata if where.clearing else ()
    assert most_with_drop(FOREMOST, strata or [1] * (reached - FOREMOST), 0.1) == open_


def test_no_allocation_of_the_drops_is_cleared_more_often() -> None:
    strata, miss = (3, 2, 1, 2), 0.1
    chance: dict[int, float] = {}
    for dropped in product(*(range(size + 1) for size in (*strata, 1, 1))):
        cleared = prod(1 - (1 - miss) * d / size for d, size in zip(dropped, (*strata, 1, 1), strict=True))
        chance[sum(dropped)] = max(chance.get(sum(dropped), 0.0), cleared)
    for error in (0.3, 0.05, 0.011, 0.002):
        assert most_with_drop(2, strata, miss, error) == max(d for d, c in chance.items() if c >= error)


@pytest.mark.parametrize("spread", ["even", "together", "random"])
def test_one_drop_more_than_the_bound_is_cleared_in_at_most_five_of_a_hundred_samples(spread: str) -> None:
    strata, miss, rng = [11] * 9 + [10] * 11, 0.1, Random(5)
    dropped = most_with_drop(0, strata, miss) + 1
    left = [0] * len(strata)
    for k in range(dropped):
        where = {"even": k % 20, "together": k // 10, "random": rng.randrange(20)}[spread]
        left[where] += 1
    chance = 1.0
    for size, bad in zip(strata, left, strict=True):
        chance *= 1 - (1 - miss) * min(1, bad / size)
    assert chance <= 0.05


@pytest.mark.parametrize(
    ("said", "scenarios"),
    [({}, 20), ({"clear_on": "auto"}, 20), ({"clear_on": "all"}, 0), ({"clear_on": 40}, 40)],
)
def test_a_project_that_says_nothing_clears_survivors_on_twenty_random_scenarios(
    said: dict[str, Any], scenarios: int
) -> None:
    assert StatisticsSettings.model_validate(said).scenarios_to_clear == scenarios


@pytest.mark.parametrize("wrong", [9, "some", 0, True])
def test_fewer_than_ten_scenarios_clear_nothing(wrong: Any) -> None:
    with pytest.raises(ValidationError, match="clear_on"):
        StatisticsSettings.model_validate({"clear_on": wrong})


def test_a_plan_that_was_stored_before_tries_all_scenarios() -> None:
    assert Rule.model_validate({"alpha": 0.05}).clear_on == 0


@pytest.mark.whole
def test_a_survivor_on_a_sample_says_what_it_leaves_open(projects: Any) -> None:
    words = tuple(f"word{n}" for n in range(26))
    extra = f"RATES = dict.fromkeys({words!r}, 1.0)\n"
    project = projects.write(
        words,
        extra=extra,
        idle=4,
        mutation={"sample": 6},
        statistics={"baseline": 10, "delta": 0.75},
    )
    result = measure(project)
    idle, *_ = [row for row in result.mutants if "topic" in row.before]
    assert idle.status is Status.SURVIVED
    assert (len(idle.evidence), idle.reached) == (21, 26)
    assert idle.may_have_drop == most_with_drop(5, [1] * 11 + [2] * 5, 0.1)
    assert "21 of the 26 that reach it" in proof(idle, result.rule)
    dropped = [row for row in result.mutants if "topic" not in row.before]
    # its own is foremost
    assert all(any(one.scenario in row.before for one in row.evidence) for row in dropped)
    assert Status.KILLED in {row.status for row in dropped}
    assert any("statistics.clear_on" in note for note in result.notes)
