"""The nearest group of a batch within blocks, and the error rate that is stated of it."""

from typing import Any

import numpy as np
import pytest

from agentmut.stats.traces.nearest_group import GroupedRows, error_rates
from benchmarks.calibration.nearest import Known, told


def rows(*of: tuple[float, int, int]) -> GroupedRows:
    """Return a table of one column from (value, group, block)."""
    values, groups, blocks = zip(*of, strict=True)
    return GroupedRows(np.array(values, dtype=float)[:, None], np.array(groups), np.array(blocks))


def further(*values: float) -> Any:
    return np.array(values)[:, None]


def test_groups_differ_by_what_they_differ_within_blocks() -> None:
    # within blocks 0 and 1 the second group is 2 above the first; block 2 has rows of the first group alone
    table = rows((10, 0, 0), (12, 1, 0), (50, 0, 1), (52, 1, 1), (900, 0, 2))
    first, second = table.fit.effects[:, 0]
    assert second - first == pytest.approx(2)
    assert table.nearest(further(10.4, 50.4), np.array([0, 1])) == 0
    assert table.nearest(further(11.6, 51.6), np.array([0, 1])) == 1


def test_the_noise_is_that_of_an_analysis_of_variance() -> None:
    # effects: block means 11 and 21, groups -1 and +1; residuals +-0.5 in block 1: 4 x .25 on 6 - 2 - 1 = 3
    table = rows((10, 0, 0), (12, 1, 0), (19.5, 0, 1), (20.5, 0, 1), (21.5, 1, 1), (22.5, 1, 1))
    assert table.noise == pytest.approx(1 / 3)


def test_groups_that_share_no_block_cannot_be_compared() -> None:
    assert not rows((1, 0, 0), (2, 1, 1)).comparable
    assert rows((1, 0, 0), (2, 1, 0), (2, 1, 1)).comparable


def test_a_row_that_is_alone_in_its_block_is_not_told() -> None:
    table = rows((10, 0, 0), (12, 1, 0), (900, 0, 1))
    assert table.left_out(np.array([2])) is None
    assert error_rates(table, [np.array([2])]) == {}


def test_groups_far_apart_are_never_told_wrongly() -> None:
    table = rows(*((100.0 * group + at, group, at % 2) for group in range(2) for at in range(6)))
    assert error_rates(table, [np.array([at]) for at in range(12)]) == {0: 0.0, 1: 0.0}


@pytest.mark.parametrize("known", [Known(24, 24, 2, 0.0), Known(24, 24, 24, 0.0), Known(24, 24, 12, 1.0)])
def test_the_stated_error_is_the_true_one_however_few_runs_a_scenario_has(known: Known) -> None:
    """Means over 25 sets of known runs have standard errors of up to .03 and .04; so .1 is two of their sum."""
    found = [told(np.random.default_rng([8, at]), known) for at in range(25)]
    wrong, stated = np.mean(found, axis=0)
    assert stated == pytest.approx(wrong, abs=0.1)
