import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut.stats.kill.rule import (
    Decision,
    KillDesign,
    KillTable,
    decision_table,
    is_untestable,
    level_for,
)

TableOf = Callable[[int, int, KillDesign], KillTable]
SMALL = KillDesign(n_max=30)


def test_the_decisions_for_ten_failures_in_a_hundred_are_as_published(table_of: TableOf) -> None:
    table = table_of(10, 100, KillDesign())
    looks = (3, 6, 10, 20, 30, 50, 100)
    assert [table.kill_at[n] for n in looks] == [3, 4, 5, 7, 9, 13, 23]
    assert [table.survive_at[n] for n in looks] == [-1, -1, 0, 1, 3, 7, 18]


def test_each_look_is_decided_by_the_two_boundaries(table_of: TableOf) -> None:
    table = table_of(10, 100, KillDesign())
    assert table.decide(0, 0) is Decision.CONTINUE
    assert table.decide(3, 3) is Decision.KILLED
    assert table.decide(3, 2) is Decision.CONTINUE
    assert table.decide(10, 0) is Decision.SURVIVED
    assert table.decide(10, 1) is Decision.CONTINUE
    assert table.decide(100, 18) is Decision.SURVIVED
    assert table.decide(100, 19) is Decision.UNDECIDED
    assert table.decide(100, 22) is Decision.UNDECIDED
    assert table.decide(100, 23) is Decision.KILLED


def test_trials_after_the_first_decision_are_not_read(table_of: TableOf) -> None:
    table = table_of(10, 100, KillDesign())
    trials = iter([True, True, True, False, False])
    assert table.verdict(trials) == (Decision.KILLED, 3, 3)
    assert list(trials) == [False, False]
    assert table.verdict([True, False]) == (Decision.CONTINUE, 2, 1)
    assert table.verdict([]) == (Decision.CONTINUE, 0, 0)


def test_a_smaller_alpha_needs_more_failures_and_a_smaller_beta_more_passes() -> None:
    base = decision_table(6, 60, SMALL)
    strict = decision_table(6, 60, SMALL._replace(alpha=0.005))
    patient = decision_table(6, 60, SMALL._replace(beta=0.01))
    assert all(s >= b for s, b in zip(strict.kill_at, base.kill_at, strict=True))
    assert strict.kill_at != base.kill_at
    assert all(p <= b for p, b in zip(patient.survive_at, base.survive_at, strict=True))
    assert patient.survive_at != base.survive_at


@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 300),
    st.floats(0, 1),
    st.floats(1e-4, 0.3),
    st.floats(0.01, 0.3),
    st.floats(0.05, 0.9),
    st.integers(1, 30),
)
def test_no_state_is_both_killed_and_survived(
    n0: int, share: float, alpha: float, beta: float, delta: float, n_max: int
) -> None:
    table = decision_table(int(share * n0), n0, KillDesign(alpha, beta, delta, n_max))
    assert all(k > s for k, s in zip(table.kill_at, table.survive_at, strict=True))
    assert all(0 < k <= n + 1 for n, k in enumerate(table.kill_at))
    assert all(-1 <= s <= n for n, s in enumerate(table.survive_at))


@settings(max_examples=15, deadline=None)
@given(st.integers(20, 300), st.floats(0, 0.75), st.floats(1e-3, 0.05))
def test_boundaries_rise_with_n(n0: int, share: float, alpha: float) -> None:
    # not so for designs that n_max cuts off after a few trials: the last looks then make up for it
    table = decision_table(int(share * n0), n0, KillDesign(alpha=alpha))
    assert all(low <= high for low, high in pairwise(table.kill_at))
    assert all(low <= high for low, high in pairwise(table.survive_at))


@pytest.mark.parametrize(("f0", "n0", "alpha"), [(166, 1000, 1e-4), (2, 20, 0.001), (12, 50, 0.05 / 80)])
def test_an_agent_that_always_fails_never_survives(f0: int, n0: int, alpha: float) -> None:
    table = decision_table(f0, n0, KillDesign(alpha=alpha))
    verdict = table.verdict([True] * 100)
    assert verdict.decision is Decision.KILLED
    assert verdict.n <= 30


def test_a_baseline_that_leaves_no_room_for_a_drop_is_untestable() -> None:
    assert not is_untestable(77, 100, 0.2)  # 77.5/101 + .2 = .9673
    assert is_untestable(78, 100, 0.2)  # 78.5/101 + .2 = .9772
    table = decision_table(78, 100)
    assert table.untestable
    assert table.decide(0, 0) is Decision.UNTESTABLE
    assert table.decide(5, 5) is Decision.UNTESTABLE
    assert table.verdict([True]) == (Decision.UNTESTABLE, 0, 0)


def test_the_share_of_alpha_is_rounded_so_that_tables_are_shared() -> None:
    shares = {k: round(0.05 / level_for(k)) for k in (1, 2, 3, 4, 5, 6, 8, 9, 12, 13, 20, 21, 50, 51, 80)}
    assert shares == {
        1: 1, 2: 2, 3: 3, 4: 5, 5: 5, 6: 8, 8: 8, 9: 12, 12: 12, 13: 20, 20: 20, 21: 30, 50: 50, 51: 80,
        80: 80,
    }  # fmt: skip
    assert [round(1 / level_for(k, 1 - 1e-12)) for k in (81, 121, 201, 801, 1201)] == [
        120,
        200,
        300,
        1200,
        2000,
    ]


@given(st.integers(1, 10**6))
def test_rounded_levels_never_add_up_to_more_than_alpha(k: int) -> None:
    assert 0.05 / 1.67 <= k * level_for(k) <= 0.05 + 1e-15


def test_a_table_survives_its_json_form() -> None:
    table = decision_table(4, 40, SMALL)
    assert KillTable.from_json(table.to_json()) == table


@pytest.mark.parametrize("change", [{"rule_version": 0}, {"kill_at": [1, 2]}])
def test_a_damaged_or_outdated_stored_table_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="recompute"):
        KillTable.from_json(decision_table(4, 40, SMALL).to_json() | change)


@pytest.mark.parametrize(
    ("f0", "n0", "design", "message"),
    [
        (-1, 10, KillDesign(), "f0 must be a whole number of at least 0 and at most 10, got -1"),
        (11, 10, KillDesign(), "f0 must be"),
        (2.5, 10, KillDesign(), "f0 must be"),
        (0, 0, KillDesign(), "n0 must be a whole number of at least 1, got 0"),
        (0, 10, KillDesign(alpha=0.0), r"alpha must be in \(0, 0.5\), got 0.0"),
        (0, 10, KillDesign(alpha=math.nan), "alpha must be"),
        (0, 10, KillDesign(beta=1.0), "beta must be"),
        (0, 10, KillDesign(delta=0.95), "delta must be"),
        (0, 10, KillDesign(n_max=0), "n_max must be a whole number of at least 1 and at most 500, got 0"),
    ],
)
def test_bad_designs_and_baselines_are_named(f0: Any, n0: Any, design: KillDesign, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decision_table(f0, n0, design)


def test_a_look_beyond_n_max_or_with_more_failures_than_trials_is_refused() -> None:
    table = decision_table(4, 40, SMALL)
    with pytest.raises(ValueError, match="0 <= f <= n <= 30, got n=31, f=0"):
        table.decide(31, 0)
    with pytest.raises(ValueError, match="got n=2, f=3"):
        table.decide(2, 3)


@pytest.mark.parametrize("odd", [math.nan, 0.5, 2, "0", None])
def test_an_outcome_that_is_neither_true_nor_false_is_refused(odd: Any) -> None:
    with pytest.raises(ValueError, match=r"failures must hold True and False only, got .* at trial 2"):
        decision_table(1, 30, SMALL).verdict([False, odd])
    with pytest.raises(ValueError, match="failures must hold True and False only"):
        decision_table(1, 30, SMALL).verdict([odd])


def test_outcomes_may_be_numbers_and_numpys_booleans() -> None:
    table = decision_table(1, 30, SMALL)
    expected = table.verdict([True, False, True, True])
    assert table.verdict([1, 0, 1, 1]) == expected  # type: ignore[list-item]
    assert table.verdict(np.array([True, False, True, True])) == expected
