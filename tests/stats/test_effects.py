import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats.contingency import odds_ratio as scipy_odds_ratio
from statsmodels.stats.proportion import proportion_effectsize

from agentmut.stats.tests.effects import EffectSize, cohens_h, effects, odds_ratio

rates = st.floats(0, 1)
inner = st.integers(2, 200).flatmap(lambda n: st.tuples(st.integers(1, n - 1), st.just(n)))


@given(rates, rates)
def test_h_agrees_with_statsmodels(p1: float, p2: float) -> None:
    assert cohens_h(p1, p2).value == pytest.approx(proportion_effectsize(p1, p2), abs=1e-12)
    assert cohens_h(p1, p2).value == -cohens_h(p2, p1).value


def test_h_of_certain_success_and_certain_failure_is_pi() -> None:
    assert cohens_h(1, 0).value == pytest.approx(math.pi)
    assert cohens_h(0, 0) == (0.0, EffectSize.NEGLIGIBLE)


@pytest.mark.parametrize(
    ("h", "size"),
    [
        (0.199, "negligible"),
        (0.201, "small"),
        (0.499, "small"),
        (0.501, "medium"),
        (0.799, "medium"),
        (0.801, "large"),
    ],
)
def test_the_words_are_cohens(h: float, size: str) -> None:
    # from 2 arcsin sqrt(p) - 0 = h: p = sin^2(h/2)
    assert cohens_h(math.sin(h / 2) ** 2, 0.0).size == size
    assert cohens_h(0.0, math.sin(h / 2) ** 2).size == size


@given(inner, inner, st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_woolf_agrees_with_scipy(first: tuple[int, int], second: tuple[int, int], level: float) -> None:
    (a, n1), (c, n2) = first, second
    expected = scipy_odds_ratio([[a, n1 - a], [c, n2 - c]], kind="sample")
    bounds = expected.confidence_interval(level)
    found = odds_ratio(a, n1, c, n2, level)
    assert found.method == "woolf"
    assert found.estimate == pytest.approx(expected.statistic)
    assert (found.low, found.high) == pytest.approx((bounds.low, bounds.high))


@pytest.mark.parametrize(
    "counts", [(0, 10, 5, 10), (10, 10, 5, 10), (5, 10, 0, 10), (5, 10, 10, 10), (0, 4, 0, 9)]
)
def test_an_empty_cell_is_corrected_and_the_result_says_so(counts: tuple[int, int, int, int]) -> None:
    found = odds_ratio(*counts)
    a, n1, c, n2 = counts
    estimate = (a + 0.5) * (n2 - c + 0.5) / ((n1 - a + 0.5) * (c + 0.5))
    assert found.estimate == pytest.approx(estimate)
    assert 0 < found.low < estimate < found.high < math.inf
    assert "0.5 added to every cell" in str(found)


def test_the_interval_of_two_halves_by_hand() -> None:
    # all cells 5 + 0: log OR 0, standard error sqrt(4/5) = 0.894427, exp(1.959964 * 0.894427) = 5.7719
    assert odds_ratio(5, 10, 5, 10)[:3] == pytest.approx((1.0, 1 / 5.7719, 5.7719), rel=1e-4)


def test_an_empty_sample_has_no_effect_sizes() -> None:
    found = effects(0, 0, 3, 5)
    assert found.odds_ratio[:3] == (None, 0.0, math.inf)
    assert found.h is None
    assert "h = n/a" in str(found)


def test_the_three_measures_agree_on_the_direction() -> None:
    loss, gain = effects(45, 50, 40, 50), effects(40, 50, 45, 50)
    assert loss.difference.estimate == pytest.approx(0.1)
    assert gain.difference.estimate == pytest.approx(-0.1)
    assert loss.h is not None
    assert gain.h is not None
    assert loss.h.value == -gain.h.value > 0
    assert loss.odds_ratio.low == pytest.approx(1 / gain.odds_ratio.high)


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match=r"p2 must be in \[0, 1\], got 1.5"):
        cohens_h(0.5, 1.5)
    with pytest.raises(ValueError, match="k2 must be a whole number of at least 0 and at most 5, got 6"):
        odds_ratio(1, 2, 6, 5)
    with pytest.raises(ValueError, match=r"level must be in \(0, 1\), got nan"):
        effects(1, 2, 3, 5, math.nan)
