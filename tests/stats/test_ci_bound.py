"""The least error of any estimate of a red job from the trials of a kill, and the price of runs after it."""

import numpy as np
import pytest

from benchmarks.calibration.ci_bound import Cell, cells_of, least_error, runs_after, tables_of


def test_two_rates_that_show_the_same_are_half_their_distance_apart() -> None:
    # whatever the estimate says at the one place, it is .25 from one of the chances .2 and .7
    same = [Cell(np.array([1.0]), failing, 0.0) for failing in (0.8, 0.3)]
    assert least_error(same, 1) == pytest.approx(0.25)


def test_two_rates_that_never_show_the_same_leave_no_error() -> None:
    apart = [Cell(np.eye(2)[i], failing, 0.0) for i, failing in enumerate((0.8, 0.3))]
    assert least_error(apart, 1) == pytest.approx(0.0, abs=1e-9)


def test_no_estimate_is_right_for_weak_and_real_drops_at_a_high_rate() -> None:
    cells = cells_of((0.99, 0.98), (0.05, 0.1, 0.25, 0.5), tables_of(5))
    assert least_error(cells, 10) > 0.05
    assert least_error(cells_of((0.98,), (0.25, 0.5), tables_of(5)), 1) < 0.02


def test_a_job_ends_when_its_colour_is_known() -> None:
    # red after the second failure: 2/q runs on average where ten were never enough to hold it up
    assert runs_after(0.8, 10) == pytest.approx(2.5, abs=0.01)
    assert runs_after(0.1, 1) == 1.0
    assert 9.0 < runs_after(0.05, 10) < 9.3
