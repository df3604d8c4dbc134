"""The tables behind kills do not depend on how many threads BLAS has, nor take more time with more of them."""

import os
import subprocess
import sys

import numpy as np
import pytest

from agentmut.stats.kill.sequences import mean_chances, rate_grid

PROGRAM = """
import hashlib
from agentmut.stats.kill.campaigns import evidence_squares
digest = hashlib.sha256()
for failures in (0, 3, 40):
    for square in evidence_squares(failures, 100, 100):
        digest.update(square.tobytes())
print(digest.hexdigest())
"""


def digest_with(threads: int) -> str:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


@pytest.mark.process
def test_the_evidence_is_the_same_to_the_last_bit_with_one_thread_and_with_two() -> None:
    assert digest_with(1) == digest_with(2)


@pytest.mark.parametrize("n_max", [1, 16, 61])
def test_mean_chances_are_the_sums_that_they_stand_for(n_max: int) -> None:
    grid = rate_grid(3, 40)
    found = mean_chances(grid.rates, grid.weights, n_max)
    n, f = np.tril_indices(n_max + 1)
    for at in (0, len(n) // 2, len(n) - 1):
        terms = grid.weights * grid.rates ** f[at] * (1 - grid.rates) ** (n[at] - f[at])
        assert found[at] == pytest.approx(terms.sum(), rel=1e-12)
