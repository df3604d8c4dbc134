"""Seconds that statistics take which a user waits for, each beside its target.

Run `python benchmarks/stats.py`. Prints the best of five runs on one core; exits with 1 when a target is missed.
"""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from agentmut.stats.multivariate.traces import compare_traces  # noqa: E402

RUNS = 5


def comparison_of_traces() -> None:
    """100 baseline traces and 30 of a mutant, 14 features, 999 permutations."""
    rng = np.random.default_rng(1)
    compare_traces(rng.standard_normal((100, 14)), rng.standard_normal((30, 14)), rng)


FIGURES: list[tuple[str, Callable[[], object], float]] = [
    ("trace comparison, 100 + 30 traces, 14 features, 999 permutations", comparison_of_traces, 0.5),
]
"""What is timed, the function, and the most seconds it may take."""


def main() -> int:
    """Time every figure; returns the exit code."""
    missed = 0
    for name, function, target in FIGURES:
        seconds = min(_seconds(function) for _ in range(RUNS))
        missed += seconds > target
        mark = "MISS" if seconds > target else "ok  "
        print(f"{mark}  {name:<66} {seconds:7.4f} s   target {target:g} s", flush=True)
    return 1 if missed else 0


def _seconds(function: Callable[[], object]) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())
