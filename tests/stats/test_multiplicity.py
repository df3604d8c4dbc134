import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from agentmut.stats.tests.multiplicity import Correction, adjust

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=20)
STATSMODELS = {
    Correction.HOLM: "holm",
    Correction.BONFERRONI: "bonferroni",
    Correction.BENJAMINI_HOCHBERG: "fdr_bh",
    Correction.BENJAMINI_YEKUTIELI: "fdr_by",
}


def test_holm_by_hand() -> None:
    # sorted .01 .02 .03 .04 times 4 3 2 1 = .04 .06 .06 .04; running maximum .04 .06 .06 .06
    found = adjust([0.03, 0.01, 0.04, 0.02])
    assert found.p_values == pytest.approx((0.06, 0.04, 0.06, 0.06))
    assert found.rejected == (False, True, False, False)


def test_benjamini_hochberg_and_yekutieli_by_hand() -> None:
    # 4/1 .01, 4/2 .02, 4/3 .03, 4/4 .04: all .04; Yekutieli times 1 + 1/2 + 1/3 + 1/4 = 25/12
    p = [0.03, 0.01, 0.04, 0.02]
    assert adjust(p, correction=Correction.BENJAMINI_HOCHBERG).p_values == pytest.approx((0.04,) * 4)
    assert adjust(p, correction=Correction.BENJAMINI_YEKUTIELI).p_values == pytest.approx((1 / 12,) * 4)


@pytest.mark.parametrize("correction", Correction)
@settings(max_examples=12, deadline=None)  # statsmodels needs 0.1 s for Holm
@given(p_values=P_VALUES)
def test_the_adjusted_p_values_are_those_of_statsmodels(
    correction: Correction, p_values: list[float]
) -> None:
    expected = multipletests(p_values, method=STATSMODELS[correction])[1]
    assert adjust(p_values, correction=correction).p_values == pytest.approx(expected.tolist(), abs=1e-12)


@pytest.mark.parametrize("correction", Correction)
@settings(max_examples=40)
@given(p_values=P_VALUES, data=st.data())
def test_the_order_of_the_tests_does_not_matter(
    correction: Correction, p_values: list[float], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(p_values))))
    straight = adjust(p_values, correction=correction).p_values
    shuffled = adjust([p_values[i] for i in order], correction=correction).p_values
    assert shuffled == pytest.approx([straight[i] for i in order])


@given(P_VALUES)
def test_holm_rejects_whatever_bonferroni_rejects(p_values: list[float]) -> None:
    holm, bonferroni = adjust(p_values), adjust(p_values, correction=Correction.BONFERRONI)
    assert all(a <= b for a, b in zip(holm.p_values, bonferroni.p_values, strict=True))
    assert all(
        raw <= adjusted or adjusted == 1 for raw, adjusted in zip(p_values, holm.p_values, strict=True)
    )


@pytest.mark.parametrize("m", range(1, 300))
def test_a_p_value_of_exactly_the_bonferroni_level_is_rejected(m: int) -> None:
    assert adjust([0.05 / m] + [1.0] * (m - 1), correction=Correction.BONFERRONI).rejected[0]


@pytest.mark.parametrize("correction", Correction)
def test_an_empty_family_rejects_nothing(correction: Correction) -> None:
    found = adjust([], correction=correction)
    assert (found.p_values, found.rejected, found.m) == ((), (), 0)


@pytest.mark.parametrize("correction", Correction)
def test_a_family_of_one_needs_no_correction(correction: Correction) -> None:
    assert adjust([0.03], correction=correction).p_values == pytest.approx((0.03,))


def test_the_family_and_the_correction_are_printed() -> None:
    found = adjust([0.001] * 2 + [1.0] * 8, 0.1, Correction.BENJAMINI_HOCHBERG, "scenarios of the suite")
    assert str(found) == "Benjamini-Hochberg over the 10 scenarios of the suite: 2 significant at 0.1"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.1, 1.2],), r"a p-value must be in \[0, 1\], got 1.2"),
        (([-0.1],), r"a p-value must be in \[0, 1\], got -0.1"),
        (([math.nan],), r"a p-value must be in \[0, 1\], got nan"),
        (([0.1], 1.0), r"alpha must be in \(0, 1\), got 1.0"),
        (([0.1], 0.05, "sidak"), "correction must be one of holm, .*, got 'sidak'"),
    ],
)
def test_bad_input_is_named(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        adjust(*arguments)
