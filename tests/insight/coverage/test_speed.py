"""Coverage of many traces is quick. `benchmarks/guidance.py` prints the figure; here the bound is generous."""

import runpy
from pathlib import Path

from tests.processor import processor_time


def test_two_thousand_traces_take_seconds_of_processor_time() -> None:
    benchmark = runpy.run_path(str(Path(__file__).parents[3] / "benchmarks" / "guidance.py"))
    with processor_time() as used:
        benchmark["coverage_seconds"](2_000)
    assert used.seconds < 10
