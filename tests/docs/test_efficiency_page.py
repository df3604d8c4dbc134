"""The page on what a budget buys is what its command prints, as far as that is quick."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.efficiency import DOLLARS, FIRST_SEED, RATE, TRIAL, average, fixed_sample, low, prices

PAGE = (Path(__file__).parents[2] / "docs" / "efficiency.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("level", "n"), [(0.01, 1), (0.005, 2), (1e-5, 3)])
def test_a_fixed_sample_that_always_fails_is_as_large_as_its_rarest_table(level: float, n: int) -> None:
    """Of an original that never fails in 100 trials: 1/101 = .0099, 1/C(102, 2) = .00019, 1/C(103, 3) = 5.7e-6."""
    assert fixed_sample(1.0, 1.0, level) == n


def test_the_page_has_the_averages_of_the_command() -> None:
    ours = average(0.75, np.random.default_rng(FIRST_SEED))
    n = 10 * fixed_sample(RATE, 0.75, ours.level, ours.power)
    assert f"| 0.75 | {ours.power:.2f} | {ours.unchanged:.0f} | {ours.dropped:.0f} | {n} |" in PAGE


def test_the_page_has_todays_prices() -> None:
    assert "\n".join(prices()) in PAGE
    assert DOLLARS.split("\n")[0].format(input=TRIAL.input_tokens, output=TRIAL.output_tokens) in PAGE


def test_mutants_of_low_pass_rates_never_fall_below_none() -> None:
    truth = low(np.random.default_rng(1))
    assert (len(truth.worse), truth.real) == (60, 30)
    assert all(0 < loss <= truth.rates[at] for worse in truth.worse for at, loss in worse.items())
