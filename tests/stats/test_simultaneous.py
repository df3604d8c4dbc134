from typing import Any

import pytest
from hypothesis import strategies as st

from agentmut.stats.intervals.proportion import bonferroni_intervals, clopper_pearson, wilson

GROUPS = [[4.0, 6.0], [1.0, 3.0, 5.0], [7.0, 8.0, 9.0, 8.0]]
counts = st.integers(1, 80).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def test_two_rates_at_95_jointly_are_two_at_97_5() -> None:
    first, second = bonferroni_intervals([(45, 50), (3, 5)], 0.95, "clopper-pearson")
    assert first[:3] == pytest.approx(clopper_pearson(45, 50, 0.975)[:3])
    assert second[:3] == pytest.approx(clopper_pearson(3, 5, 0.975)[:3])
    assert str(second).endswith("(95% clopper-pearson, jointly for 2 by Bonferroni, 97.5% each, n=5)")


@pytest.mark.parametrize(
    ("call", "arguments", "message"),
    [
        (bonferroni_intervals, ([],), "counts must have at least one member, got none"),
        (bonferroni_intervals, ([(1, 2)], 1.0), r"level must be in \(0, 1\), got 1.0"),
        (bonferroni_intervals, ([(3, 2)],), "k must be a whole number"),
        (bonferroni_intervals, ([(1, 2)], 0.9, "t"), "method must be one of"),
    ],
)
def test_bad_input_is_named(call: Any, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(*arguments)


def test_a_family_of_one_is_the_plain_interval() -> None:
    (only,) = bonferroni_intervals([(4, 9)], 0.9)
    assert only[:4] == pytest.approx(wilson(4, 9, 0.9)[:4])


def test_degenerate_samples_are_defined() -> None:
    empty, full = bonferroni_intervals([(0, 0), (5, 5)])
    assert empty[:3] == (None, 0.0, 1.0)
    assert full.high == 1.0
