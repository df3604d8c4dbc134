"""Looks that share one level: exact over all labellings by hand, and in a seeded simulation."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from agentmut.stats.traces.looks import Change, Looks
from agentmut.stats.traces.sequential import compare_at_looks

PLAN = Looks((2, 4), 0.2)
BEFORE = (4, 7)


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def looks(baseline: Any, candidate: Any, sizes: tuple[int, ...] = BEFORE) -> Iterator[tuple[Any, Any]]:
    return ((baseline[:k], candidate[:n]) for k, n in zip(sizes, PLAN.sizes, strict=False))


def relabelled(rows: np.ndarray, first: tuple[int, ...], second: tuple[int, ...]) -> tuple[Any, Any]:
    """The rows 0 to 5 are the first block and 6 to 10 the second; those that are named are the candidate's."""
    before = [i for i in range(6) if i not in first] + [i for i in range(6, 11) if i not in second]
    return rows[before], rows[[*first, *second]]


def test_over_all_labellings_of_given_blocks_the_looks_find_a_change_as_often_as_they_may() -> None:
    """15 x 10 labellings of six and five rows, the second block of a wholly different level than the first."""
    rows = np.array([[1.0], [4], [2], [8], [5.5], [3], [101], [140], [120], [117], [133]])
    every = itertools.product(itertools.combinations(range(6), 2), itertools.combinations(range(6, 11), 2))
    found = [
        compare_at_looks(looks(*relabelled(rows, *chosen)), rng(number), PLAN, 199).verdict
        for number, chosen in enumerate(every)
    ]
    changed = np.array([each.change is Change.CHANGED for each in found])
    at_first = np.array([each.p_values[0] <= 0.1 for each in found])
    # at most .1 and .2, less by ties: the first look has 15 labellings. Each comparison draws 199 lines of its own
    assert 0 < at_first.mean() <= 0.1 + 3 * (0.09 / 150) ** 0.5
    assert 0.1 <= changed.mean() <= 0.2 + 3 * (0.16 / 150) ** 0.5


def test_the_level_is_spent_and_not_exceeded() -> None:
    """300 times nothing changed, at .2 over two looks: the standard error is .023."""

    def one(number: int) -> bool:
        draw = rng(number)
        rows = draw.standard_normal((14, 2))
        return (
            compare_at_looks(looks(rows[:8], rows[8:], (5, 8)), draw, PLAN, 59).verdict.change
            is Change.CHANGED
        )

    assert 0.13 <= sum(map(one, range(300))) / 300 <= 0.27


def test_a_p_value_counts_what_earlier_looks_have_crossed_out() -> None:
    """A candidate that is nothing special at first and then far away: only the second look can find it."""
    baseline = np.arange(8.0)[:, None]
    candidate = np.array([[3.5], [2.5], [90], [91]])
    plan = Looks((2, 4), 0.5)
    found = compare_at_looks(((baseline[:4], candidate[:2]), (baseline, candidate)), rng(1), plan, 999)
    first, second = found.verdict.p_values
    # the first look crosses out at most a quarter of the lines, and the second one counts these
    assert first > 0.25
    assert 0.1 < second <= 0.5
    assert found.verdict.change is Change.CHANGED


def test_rows_that_never_differ_show_nothing_at_any_look() -> None:
    alike = np.ones((9, 2))
    found = compare_at_looks(looks(alike, alike), rng(1), PLAN, 99)
    assert (found.verdict.change, found.verdict.p_values) == (Change.NOT_SHOWN, (1.0, 1.0))


def test_no_look_is_a_verdict_to_continue() -> None:
    found = compare_at_looks((), rng(1), PLAN, 99)
    assert (found.verdict.change, found.last) == (Change.CONTINUE, None)


def test_a_look_that_adds_no_run_of_the_baseline_is_refused() -> None:
    rows = rng(1).standard_normal((10, 2))
    with pytest.raises(ValueError, match="a look must add rows to both samples, got 0 and 2 more"):
        compare_at_looks(looks(rows, rows, (5, 5)), rng(2), PLAN, 99)
