"""What the statistics cost, each figure beside its target.

`python benchmarks/stats.py` prints one line per figure (the quickest of several runs, on one core) and exits with 1
when a target is missed.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from agentmut.campaign.preparation.tables import Tables  # noqa: E402
from agentmut.stats.kill.rule import KillDesign, decision_table  # noqa: E402
from agentmut.stats.traces.trace_comparison import compare_traces  # noqa: E402


def best_of(times: int, action: Callable[[], object]) -> float:
    """Return seconds of the quickest of `times` calls: what else the machine does only ever adds."""
    found = []
    for _ in range(times):
        begun = time.perf_counter()
        action()
        found.append(time.perf_counter() - begun)
    return min(found)


def cold_table() -> float:
    """Return a decision table that has never been computed."""
    return best_of(5, lambda: decision_table(10, 100))


def stored_table() -> float:
    """Return the same from the engine's cache on disk."""
    with tempfile.TemporaryDirectory() as folder:
        Tables(Path(folder)).get(10, 100, KillDesign())
        return best_of(20, lambda: Tables(Path(folder)).get(10, 100, KillDesign()))


def decision() -> float:
    """Return one look at a table."""
    table, looks = decision_table(10, 100), [(n, n // 5) for n in range(1, 101)]
    return best_of(20, lambda: [table.decide(n, f) for n, f in looks]) / len(looks)


def trace_comparison() -> float:
    """100 baseline traces and 30 of a mutant, 14 features, 999 permutations."""
    rng = np.random.default_rng(1)
    baseline, mutant = rng.standard_normal((100, 14)), rng.standard_normal((30, 14))
    return best_of(5, lambda: compare_traces(baseline, mutant, rng))


FIGURES: list[tuple[str, Callable[[], float], float]] = [
    ("decision table, cold", cold_table, 0.5),
    ("decision table, from the cache on disk", stored_table, 0.005),
    ("one decision", decision, 0.00001),
    ("trace comparison: 100 + 30 traces, 14 features, 999 permutations", trace_comparison, 0.5),
]
"""Name, function that returns seconds, the most it may be."""


def main() -> int:
    """Print every figure; 1 when a target was missed."""
    missed = 0
    for name, function, target in FIGURES:
        seconds = function()
        missed += seconds > target
        mark = "ok  " if seconds <= target else "MISS"
        print(f"{mark}  {name:<66} {1000 * seconds:10.4f} ms   target <= {1000 * target:g} ms", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
