"""A judge's pass rate corrected by labels of other trials."""

import numpy as np
import pytest

from agentmut.stats.reliability.judge_labels import Labels, labels, transferred


def test_the_estimate_by_hand() -> None:
    # sensitivity 45/50, specificity 40/50: (.7 + .8 - 1) / (.9 + .8 - 1) = .5 / .7
    found = transferred(70, 100, Labels(45, 10, 5, 40, 0, 0))
    assert found.estimate == pytest.approx(5 / 7) and found.low < 5 / 7 < found.high


def test_the_share_of_passes_among_the_labels_does_not_matter() -> None:
    few, many = (
        transferred(70, 100, Labels(9, 20, 1, 80, 0, 0)),
        transferred(70, 100, Labels(90, 2, 10, 8, 0, 0)),
    )
    assert few.estimate == pytest.approx(many.estimate)


@pytest.mark.parametrize(
    "table", [Labels(0, 0, 0, 0, 0, 0), Labels(9, 0, 1, 0, 0, 0), Labels(5, 5, 5, 5, 0, 0)]
)
def test_labels_that_tell_nothing_give_no_estimate(table: Labels) -> None:
    found = transferred(70, 100, table)
    assert found.estimate is None and (found.low, found.high) == (0.0, 1.0)


def test_no_trials_give_no_estimate() -> None:
    assert transferred(0, 0, Labels(9, 1, 1, 9, 0, 0)).estimate is None


@pytest.mark.parametrize(
    ("true", "sensitivity", "specificity"), [(0.6, 0.95, 0.8), (0.9, 0.85, 0.7), (0.95, 0.9, 0.9)]
)
def test_a_noisy_judge_of_known_errors_is_corrected(
    true: float, sensitivity: float, specificity: float
) -> None:
    """1,000 tests of 200 trials with 100 labels, half of them passes: bias, and coverage of the 95 % interval."""
    rng = np.random.default_rng(8)
    raw, estimates, covered = [], [], 0
    for _ in range(1000):
        good = rng.binomial(200, true)
        passes = rng.binomial(good, sensitivity) + rng.binomial(200 - good, 1 - specificity)
        human = [True] * 50 + [False] * 50
        said = [bool(rng.random() < (sensitivity if label else 1 - specificity)) for label in human]
        found = transferred(int(passes), 200, labels(said, human))
        raw.append(passes / 200)
        estimates.append(found.estimate)
        covered += found.low <= true <= found.high
    assert abs(np.mean(np.array(estimates, dtype=float)) - true) < 0.02
    assert abs(np.mean(raw) - true) > 0.02  # what the correction is there for
    assert covered / 1000 >= 0.93
