"""Candidate estimates of the chance of a red job, at the places where a kill rule ends."""

import numpy as np
import pytest

from agentmut.stats.kill.rule import KillDesign, decision_table
from benchmarks.calibration.ci_killed import Kills, green, greens_of, kill_chances, mean_errors


def test_nine_of_ten_runs_have_to_pass() -> None:
    assert float(green(0.2, 1)) == pytest.approx(0.8)
    assert float(green(0.1, 10)) == pytest.approx(0.9**10 + 10 * 0.1 * 0.9**9)


def test_an_agent_that_always_fails_is_put_right_by_the_estimate_in_use() -> None:
    table = decision_table(2, 50, KillDesign())
    assert kill_chances(table, 1.0).sum() == pytest.approx(1.0)
    kills = [Kills(1.0, table, greens_of(table))]
    errors = mean_errors(kills, 0.95, 0.95)  # the failure rate is 1
    assert errors["in use"] == pytest.approx((0.0, 0.0), abs=1e-12)
    assert errors["flat"][0] < 0  # a mean over rates never reaches 1
    assert np.all(kills[0].greens["likelihood"][0] >= 0)
