"""False kills at every true rate and for every baseline size: the long computation of the kill rule."""

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np

from agentmut.stats.kill.rule import DEFAULT_DESIGN
from benchmarks.calibration.false_kills import false_kill_rates
from benchmarks.calibration.figures import Figure, Section

LEVELS = (0.05, 0.01)
GRID = np.arange(1, 1001) / 1001
"""True failure rates."""


def supremum_on_grid(n0: int, alpha: float) -> float:
    """Return the largest false-kill rate on `GRID`: exact at each rate, a second or two at n0 = 100."""
    return float(false_kill_rates(n0, DEFAULT_DESIGN._replace(alpha=alpha), GRID).max())


def section(*, thorough: bool) -> Section:
    """Return every n0 from 20 to 200, on all processors; quick: 20."""
    sizes = range(20, 201) if thorough else (20,)
    figures = [figure for alpha in LEVELS for figure in _figures(alpha, sizes)]
    how = "Exact, by dynamic programming, at 1,000 true failure rates for each baseline size."
    return Section("Kill rule: false kills at every rate", how, tuple(figures))


def _figures(alpha: float, sizes: Sequence[int]) -> list[Figure]:
    if len(sizes) < 10:
        found = [supremum_on_grid(n0, alpha) for n0 in sizes]
    else:
        with ProcessPoolExecutor(os.cpu_count()) as pool:
            found = list(pool.map(partial(supremum_on_grid, alpha=alpha), sizes))
    return [
        Figure(f"supremum, n0 = {n0}, alpha = {alpha:g}", worst, f"at most {alpha:g}", high=alpha)
        for n0, worst in zip(sizes, found, strict=True)
    ]
