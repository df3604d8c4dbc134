"""Coverage of many traces is quick. `benchmarks/guidance.py` prints the figure; here the bound is generous."""

import runpy
import time
from pathlib import Path


def test_two_thousand_traces_take_seconds_of_processor_time() -> None:
    benchmark = runpy.run_path(str(Path(__file__).parents[3] / "benchmarks" / "guidance.py"))
    started = time.process_time()
    benchmark["coverage_seconds"](2_000)
    assert time.process_time() - started < 10
