"""Coverage of many traces is quick. `benchmarks/guidance.py` prints the figure; here the bound is generous."""

import runpy
from pathlib import Path


def test_two_thousand_traces_are_measured_in_seconds() -> None:
    benchmark = runpy.run_path(str(Path(__file__).parents[3] / "benchmarks" / "guidance.py"))
    assert benchmark["coverage_seconds"](2_000) < 10
