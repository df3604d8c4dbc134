"""The score of a dear model with a cheap one beside it: numbers by hand, and what must not happen."""

import numpy as np
import pytest

from agentmut.stats import Pairs, proxied, proxied_bounds

NONE = np.zeros(1)


def bounds(pairs: Pairs, open_: Pairs | None = None) -> tuple[float, float]:
    return proxied_bounds(pairs, open_ or pairs, NONE, NONE, 0.05)


def test_the_estimate_is_that_of_power_tuned_inference() -> None:
    # n = 60, N - n = 240: Var f = .5 * .5 = .25, Cov = 20/60 - .5 * .4 = 2/15,
    # lambda = (2/15) / (.25 * (1 + 60/240)) = .42667; share = lambda * .6 + .4 - lambda * .5
    found = proxied(Pairs(20, 10, 4, 26, 144, 96))
    assert found.weight == pytest.approx(2 / 15 / (0.25 * 1.25))
    assert found.share == pytest.approx(0.4 + found.weight * 0.1)
    assert found.rho == pytest.approx(2 / 15 / (0.25 * 0.24) ** 0.5)


def test_two_models_that_always_agree_leave_only_the_cheap_models_share() -> None:
    found = proxied(Pairs(10, 0, 0, 10, 90, 10))
    assert found.share == pytest.approx(100 / 120)
    assert found.rho == pytest.approx(1.0) and found.is_worth_it


def test_a_cheap_model_that_kills_everything_changes_nothing() -> None:
    found = proxied(Pairs(12, 18, 0, 0, 100, 0))
    assert found.share == pytest.approx(0.4) and found.rho == found.weight == 0.0
    assert not found.is_worth_it and found.saved == pytest.approx(0.0)


def test_agreement_in_a_small_sample_is_no_proof_of_agreement() -> None:
    low, high = bounds(Pairs(6, 0, 0, 6, 60, 60))
    assert low < 0.4 and high > 0.6


def test_undecided_mutants_of_the_dear_model_widen_the_bounds() -> None:
    killed, open_ = Pairs(20, 10, 4, 26, 144, 96), Pairs(20, 10, 10, 20, 144, 96)
    assert bounds(killed, open_)[1] > bounds(killed)[1] + 0.05
    assert bounds(killed, open_)[0] == bounds(killed)[0]


def test_errors_of_verdicts_move_each_bound_outwards() -> None:
    pairs = Pairs(20, 10, 4, 26, 144, 96)
    low, high = proxied_bounds(pairs, pairs, np.array([0.1]), np.array([0.1]), 0.05)
    plain_low, plain_high = bounds(pairs)
    # D + .1 (1 - D) = the plain end, and .9 D = the plain end, apart from the small spread of the errors
    assert low == pytest.approx((plain_low - 0.1) / 0.9, abs=0.01)
    assert high == pytest.approx(plain_high / 0.9, abs=0.01)


@pytest.mark.parametrize("pairs", [Pairs(1, 0, 0, 0, 5, 5), Pairs(3, 0, -1, 2, 5, 5)])
def test_too_few_or_impossible_counts_are_refused(pairs: Pairs) -> None:
    with pytest.raises(ValueError, match="got"):
        proxied(pairs)
