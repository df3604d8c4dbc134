"""docs/stochastic-tests.md: its test runs, its defaults and its table of chances are those of the code."""

import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from agentmut.pytest_plugin.stochastic.finding import Finding
from agentmut.pytest_plugin.stochastic.marker_settings import BETA, MARGIN, StochasticSettings
from agentmut.stats.sequential.sprt import SprtDesign
from agentmut.stats.sequential.sprt_characteristics import sprt_characteristics
from agentmut.stats.verdicts.scenario_verdict import critical

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "stochastic-tests.md").read_text()
AGENT = """
import pytest

@pytest.fixture
def agent():
    return lambda question: "It takes 5 days."
"""


def row(rate: float) -> str:
    """Of the table of chances."""
    design = SprtDesign(0.9, MARGIN, 0.05, BETA, 100)
    found = sprt_characteristics(design, rate)
    bounds = critical(100, 0.9, 0.05, "clopper-pearson")
    fails, passes = binom.cdf(bounds.fail_at, 100, rate), binom.sf(bounds.pass_at - 1, 100, rate)
    sequential, fixed = (found.passed, found.failed), (float(np.asarray(passes)), float(np.asarray(fails)))
    shown = [
        " / ".join(f"{100 * p:.0f} %" for p in (*chances, 1 - sum(chances)))
        for chances in (sequential, fixed)
    ]
    return f"| {rate:g} | {shown[0]} | {found.trials:.0f} | {shown[1]} |"


def test_the_table_of_chances_is_the_exact_one() -> None:
    for rate in (0.99, 0.95, 0.9, 0.85, 0.8, 0.7):
        assert row(rate) in PAGE


def test_defaults_and_properties_are_all_named() -> None:
    for field in fields(StochasticSettings):
        default = {"beta": BETA, "margin": MARGIN}.get(field.name, field.default)
        shown = f'"{default}"' if isinstance(default, str) else f"{default}"
        assert f"| `{field.name}` | `{shown}` |" in PAGE or f"| `{field.name}` | {shown} |" in PAGE
    assert all(f".{field.name}`" in PAGE for field in fields(Finding))


@pytest.mark.process
def test_the_test_that_is_shown_runs(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (ini,) = re.findall(r"```ini\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "test_page.py").write_text(code)
    (tmp_path / "conftest.py").write_text(AGENT)
    (tmp_path / "pytest.ini").write_text(ini)
    blocked = [
        f"-pno:{name}" for name in ("deepeval", "langsmith_plugin", "rerunfailures", "asyncio", "xdist")
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *blocked],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert (
        "19 of 19 trials passed, rate 1.00 [0.77, 1.00], threshold 0.85; evidence of a pass rate above 0.75"
        in done.stdout
    )
