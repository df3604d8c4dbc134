import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut.stats.traces.looks import Change, Looks, looks_verdict


def test_four_looks_spend_the_level_in_equal_parts() -> None:
    assert Looks().sizes == (5, 10, 20, 40)
    assert [Looks().spent(look) for look in (1, 2, 3, 4)] == pytest.approx([0.0125, 0.025, 0.0375, 0.05])


@given(st.integers(10, 100), st.integers(1, 6))
def test_every_look_gets_runs_of_the_baseline_and_the_last_one_all(runs: int, looks: int) -> None:
    sizes = Looks(tuple(range(1, looks + 1))).baseline_sizes(runs)
    assert sizes[-1] == runs
    assert all(a < b for a, b in zip((0, *sizes), sizes, strict=False))


def test_the_first_significant_look_decides_and_later_ones_are_not_read() -> None:
    found = looks_verdict([0.5, 0.025, 0.9])
    assert (found.change, found.p_values) == (Change.CHANGED, (0.5, 0.025))
    assert str(found).startswith("changed: p = 0.025 <= 0.025 at look 2 of 4 (10 traces")


def test_a_p_value_above_what_the_looks_so_far_may_spend_does_not_decide() -> None:
    found = looks_verdict([0.04, 0.03])
    assert found.change is Change.CONTINUE
    assert (
        str(found) == "continue: p = 0.03 > 0.025 after look 2 of 4 (10 traces; alpha = 0.05 over all looks)"
    )


def test_four_looks_without_a_finding_show_nothing() -> None:
    assert looks_verdict([0.3, 0.03, 0.5, 0.051]).change is Change.NOT_SHOWN


def test_before_the_first_look_the_verdict_is_to_continue() -> None:
    assert str(looks_verdict([])) == "continue: no look taken, the first is at 5 traces"


@pytest.mark.parametrize(
    ("p_values", "plan", "message"),
    [
        ([0.1] * 5, Looks(), "p_values must be at most 4, one a look, got 5"),
        ([1.1], Looks(), r"p_values must be in \[0, 1\], got 1.1"),
        ([math.nan], Looks(), "p_values must be in"),
        ([], Looks(()), r"sizes must rise and not be empty, got \(\)"),
        ([], Looks((5, 5)), r"sizes must rise and not be empty, got \(5, 5\)"),
        ([], Looks((0, 5)), "sizes must be a whole number of at least 1, got 0"),
        ([], Looks((5,), 1.5), r"alpha must be in \(0, 1\), got 1.5"),
    ],
)
def test_bad_input_is_named(p_values: Any, plan: Looks, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        looks_verdict(p_values, plan)


@settings(max_examples=60)
@given(st.lists(st.floats(0, 1), max_size=4))
def test_a_look_after_the_deciding_one_changes_nothing_and_smaller_p_values_never_undo_a_change(
    p_values: list[float],
) -> None:
    found = looks_verdict(p_values)
    assert looks_verdict(list(found.p_values)) == found
    if found.change is Change.CHANGED:
        assert looks_verdict([p / 2 for p in p_values]).change is Change.CHANGED
