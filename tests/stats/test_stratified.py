"""The exact stratified test: of one stratum it is Fisher's, of several it is counted by hand."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import fisher_exact

from agentmut.stats.tests.stratified import Share, tail


@pytest.mark.parametrize(("own", "n0", "found", "n"), [(1, 20, 5, 12), (0, 20, 3, 11), (4, 9, 2, 7)])
def test_of_one_stratum_it_is_the_test_of_fisher(own: int, n0: int, found: int, n: int) -> None:
    wanted = fisher_exact(np.array([[found, n - found], [own, n0 - own]]), "greater").pvalue
    assert tail([Share(n0 + n, own + found, n, found)]) == pytest.approx(wanted)


def test_of_two_strata_it_is_the_share_of_labellings_with_at_least_as_many() -> None:
    """5 trials with 2 marked, 2 inside; 4 with 1 marked, 2 inside: all 10 x 6 ways, of which some have 2 or more."""
    ways = [
        sum(i < 2 for i in one) + sum(i < 1 for i in other)
        for one in combinations(range(5), 2)
        for other in combinations(range(4), 2)
    ]
    wanted = sum(marked >= 2 for marked in ways) / len(ways)
    assert tail([Share(5, 2, 2, 1), Share(4, 1, 2, 1)]) == pytest.approx(wanted)


def test_a_stratum_that_always_or_never_shows_it_tells_nothing() -> None:
    told = [Share(12, 3, 6, 3)]
    assert tail([*told, Share(10, 10, 5, 5), Share(8, 0, 4, 0)]) == pytest.approx(tail(told))
