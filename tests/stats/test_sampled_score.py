"""A score from a random sample of the mutants: bounds against the hypergeometric distribution, and their coverage."""

import numpy as np
import pytest
from scipy import stats

from agentmut.stats.score.sample import (
    Drawn,
    bounds_for_all,
    expected_width,
    planned_looks,
    sample_for,
)

NEVER = np.zeros(1)


@pytest.mark.parametrize(("killed", "drawn", "of"), [(60, 100, 300), (10, 24, 60), (12, 12, 31), (0, 5, 40)])
def test_without_wrong_verdicts_the_bounds_are_those_of_clopper_and_pearson_for_finite_populations(
    killed: int, drawn: int, of: int
) -> None:
    found = bounds_for_all(Drawn(killed, 0, drawn - killed, NEVER, NEVER), of, 0.05)
    possible = range(killed, of - (drawn - killed) + 1)
    least = min(s for s in possible if stats.hypergeom.sf(killed - 1, of, s, drawn) > 0.025)
    most = max(s for s in possible if stats.hypergeom.cdf(killed, of, s, drawn) > 0.025)
    assert found == (least, most)


def test_undecided_mutants_widen_the_upper_end_alone() -> None:
    settled = bounds_for_all(Drawn(10, 0, 14, NEVER, NEVER), 60, 0.05)
    open_ = bounds_for_all(Drawn(10, 4, 10, NEVER, NEVER), 60, 0.05)
    assert open_.low == settled.low
    assert open_.high == bounds_for_all(Drawn(14, 0, 10, NEVER, NEVER), 60, 0.05).high


def test_with_all_mutants_drawn_only_wrong_verdicts_are_left() -> None:
    """Of 10 mutants 10 are killed, each with chance 0.1 if it has no drop: P(all | s) is 0.1 ** (10 - s)."""
    found = bounds_for_all(Drawn(10, 0, 0, np.array([0.1]), NEVER), 10, 0.05)
    assert found == (9, 10)  # 0.1 > 0.025 > 0.01


def test_the_planned_sizes_for_a_tenth_are_those_of_the_normal_approximation() -> None:
    """n = m / (1 + m/300) with m = 1.96 ** 2 * 0.25 / 0.01 = 96 is 73."""
    assert 70 <= sample_for(0.1, 300, 0.05) <= 78
    assert sample_for(0.1, 300, 0.05, 0.02, 0.04) > sample_for(0.1, 300, 0.05)
    assert sample_for(0.001, 30, 0.05) == 30
    assert expected_width(30, 30, 0.05) == 0


def test_looks_grow_to_all_mutants_and_share_the_error() -> None:
    for of, target in ((300, 104), (31, 14), (8, 1), (5, 5)):
        looks = planned_looks(of, target)
        assert [look.drawn for look in looks] == sorted({look.drawn for look in looks})
        assert (looks[-1].drawn, max(looks, key=lambda look: look.share).drawn) == (of, target)
        assert sum(look.share for look in looks) <= 1 + 1e-9


@pytest.mark.parametrize(("dropped", "false", "missed"), [(120, 0.02, 0.03), (0, 0.05, 0.0), (290, 0.0, 0.2)])
def test_the_bounds_hold_at_all_looks_together(dropped: int, false: float, missed: float) -> None:
    """600 campaigns: true count outside of some look's bounds in at most 5 %, with 3 standard errors of 0.9 %."""
    rng, outside, of = np.random.default_rng(1), 0, 300
    looks = planned_looks(of, 100)
    for _ in range(600):
        has = rng.permutation(np.arange(of) < dropped)
        killed = np.where(has, rng.random(of) >= missed, rng.random(of) < false)
        found = [
            bounds_for_all(
                Drawn(
                    int(killed[: look.drawn].sum()),
                    0,
                    int((~killed[: look.drawn]).sum()),
                    np.array([false]),
                    np.array([missed]),
                ),
                of,
                0.05 * look.share,
            )
            for look in looks[:4]
        ]
        outside += any(not each.low <= dropped <= each.high for each in found)
    assert outside / 600 <= 0.05 + 0.027


def test_counts_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="population"):
        bounds_for_all(Drawn(5, 0, 6, NEVER, NEVER), 10, 0.05)
    with pytest.raises(ValueError, match="target"):
        planned_looks(10, 11)
