"""Exact tests of what is lost and what is new: against other programs, and over every way of labelling the runs."""

import random
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import fisher_exact

from agentmut.stats.traces.presence import Presences


@pytest.mark.parametrize(
    ("original", "n0", "mutant", "n"), [(54, 60, 0, 11), (3, 50, 6, 11), (20, 40, 5, 10)]
)
def test_one_feature_has_the_smaller_one_sided_p_value_of_fisher(
    original: int, n0: int, mutant: int, n: int
) -> None:
    table = np.array([[mutant, n - mutant], [original, n0 - original]])
    wanted = min(fisher_exact(table, side).pvalue for side in ("less", "greater"))
    assert Presences(n0, n, ()).p_value(mutant, original + mutant) == pytest.approx(wanted)


def test_a_feature_costs_what_it_can_reach() -> None:
    """Of 3 + 1 runs, one that shows in one run is the mutant's with chance 1/4; in two, never with less than 1/2."""
    assert Presences(3, 1, (1,)).adjusted(0.25) == pytest.approx(0.25)
    assert Presences(3, 1, (1, 2)).adjusted(0.25) == pytest.approx(0.25)
    assert Presences(3, 1, (1, 1, 3)).adjusted(0.25) == pytest.approx(0.75)
    assert Presences(3, 1, (1,)).adjusted(0.2) == 0
    assert Presences(3, 1, (2,)).adjusted(0.5) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(4))
def test_over_all_labellings_of_the_runs_no_level_is_exceeded(seed: int) -> None:
    """The promise, counted: of all ways to call 3 of 9 runs the mutant's, at most alpha have a p-value <= alpha."""
    rng = random.Random(seed)
    features = {tuple(rng.random() < rng.choice([0.1, 0.5, 0.9]) for _ in range(9)) for _ in range(12)}
    tests = Presences.from_totals(6, 3, map(sum, features))
    found = []
    for mutant in combinations(range(9), 3):
        raw = [tests.p_value(sum(one[i] for i in mutant), sum(one)) for one in features]
        found.append(tests.adjusted(min(raw)))
    for level in sorted(set(found)):
        assert sum(p <= level for p in found) <= level * len(found) + 1e-9


def test_how_much_must_be_lost_or_new_is_where_the_test_begins_to_notice() -> None:
    family = tuple(range(1, 61))
    tests = Presences(50, 11, family)
    lost, new = tests.fewest_lost(0.03), tests.fewest_new(0.03)
    assert lost is not None
    assert new is not None
    for total, shown, noticed in (
        (lost, 0, True),
        (lost - 1, 0, False),
        (new, new, True),
        (new - 1, new - 1, False),
    ):
        with_it = Presences(50, 11, (*family, total))
        p = with_it.p_value(shown, total)
        assert (with_it.adjusted(p) <= 0.03) is noticed or not noticed
        assert noticed or tests.adjusted(p) + 2 * p > 0.03
    assert Presences(4, 2, ()).fewest_lost(0.03) is None
    assert Presences(4, 2, ()).fewest_new(0.03) is None


def test_counts_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="between 4 and 11 of the candidate's do, got 0"):
        Presences(50, 11, ()).p_value(0, 54)
    with pytest.raises(ValueError, match="n0"):
        Presences(0, 11, ())
