"""Energy distance and Ledoit-Wolf, against other libraries."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import energy_distance as root_of_energy_distance

from agentmut.stats.traces.energy import distances, energies
from agentmut.stats.traces.permutation import labellings
from agentmut.stats.traces.shrinkage import ledoit_wolf

LINE = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=9)
PLANE = arrays(np.float64, st.tuples(st.integers(1, 7), st.just(2)), elements=st.integers(-4, 4).map(float))


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def energy_distance(first: Any, second: Any) -> float:
    """The energy distance of two samples, by one line of labels."""
    rows = [np.asarray(sample, dtype=float).reshape(len(sample), -1) for sample in (first, second)]
    labels = np.repeat([0.0, 1.0], [len(first), len(second)])[None, :]
    return float(energies(distances(np.concatenate(rows)), labels)[0])


@given(LINE, LINE)
def test_in_one_dimension_it_is_the_square_of_scipys(first: list[float], second: list[float]) -> None:
    assert energy_distance(first, second) == pytest.approx(
        root_of_energy_distance(first, second) ** 2, abs=1e-9
    )


def test_in_the_plane_it_is_the_sum_by_hand() -> None:
    # X = (0,0), (3,4); Y = (0,0): E|X-Y| = 5/2, E|X-X'| = 5/2 (two of four pairs at 5), E|Y-Y'| = 0
    assert energy_distance([[0, 0], [3, 4]], [[0, 0]]) == pytest.approx(2 * 2.5 - 2.5)


@settings(max_examples=50)
@given(PLANE, PLANE)
def test_it_is_symmetric_not_negative_and_blind_to_rotation(first: Any, second: Any) -> None:
    found = energy_distance(first, second)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    assert found >= 0
    assert energy_distance(second, first) == pytest.approx(found, abs=1e-9)
    assert energy_distance(first @ turn, second @ turn) == pytest.approx(found, abs=1e-9)
    assert energy_distance(first, np.concatenate([first, first])) == pytest.approx(0, abs=1e-9)


def test_all_labellings_at_once_are_the_distances_one_by_one() -> None:
    values, labels = rng().standard_normal((9, 3)), labellings(5, 4, 20, rng())
    slow = [energy_distance(values[line == 0], values[line == 1]) for line in labels]
    assert energies(distances(values), labels) == pytest.approx(slow)


def test_shrinkage_is_that_of_scikit_learn() -> None:
    # sklearn.covariance.ledoit_wolf of scikit-learn 1.9.1, which is no dependency of this project
    found = ledoit_wolf([[1, 2, 0, 4], [2, 1, 1, 3], [0, 5, 2, 2], [3, 3, 1, 7], [4, 0, 5, 1], [1, 1, 2, 9]])
    assert found.shrinkage == pytest.approx(0.9472121607980521)
    expected = [
        [3.60788981, -0.07038379, 0.06011948, -0.03225924],
        [-0.07038379, 3.653346, -0.05278784, -0.00879797],
        [0.06011948, -0.05278784, 3.6430817, -0.09384505],
        [-0.03225924, -0.00879797, -0.09384505, 3.92901583],
    ]
    assert found.covariance == pytest.approx(np.array(expected), abs=1e-7)
    close = ledoit_wolf(
        [[1.0, 0.5], [2, 1.5], [3.0, 2.0], [4, 4.5], [5.0, 5.0], [6, 5.5], [7, 7.5], [9.0, 8.0]]
    )
    assert close.shrinkage == pytest.approx(0.2114991657887808)
    assert close.covariance == pytest.approx(
        np.array([[6.2818797, 4.97125135], [4.97125135, 6.63608905]]), abs=1e-7
    )


def test_more_features_than_traces_still_give_an_invertible_matrix() -> None:
    found = ledoit_wolf(rng().standard_normal((6, 30)))
    assert 0 < found.shrinkage <= 1
    assert np.linalg.eigvalsh(found.covariance).min() > 0.01
    assert np.trace(found.covariance) == pytest.approx(
        np.trace(np.cov(rng().standard_normal((6, 30)).T, bias=True))
    )


def test_a_matrix_that_is_its_own_target_is_kept() -> None:
    # four corners of a square: covariance I
    found = ledoit_wolf([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    assert found.shrinkage == 1.0
    assert found.covariance.tolist() == [[1, 0], [0, 1]]


def test_no_variance_gives_zeros_and_no_columns_are_refused() -> None:
    assert ledoit_wolf([[2, 2], [2, 2]]).covariance.tolist() == [[0, 0], [0, 0]]
    with pytest.raises(ValueError, match="sample must have at least one column"):
        ledoit_wolf(np.ones((3, 0)))
