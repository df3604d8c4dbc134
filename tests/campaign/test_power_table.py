"""The table of what a comparison will notice: exact, by drop and by size of the baseline."""

import json
from typing import Any

import pytest
from scipy.stats import binom

from agentmut.assessment.comparison_rules import Family
from agentmut.assessment.power import power_cells
from agentmut.assessment.sizes import SIZES, further_looks, largest_step
from agentmut.campaign.preparation.tables import Tables
from agentmut.report.terminal.baseline_page import render_comparison_preview
from agentmut.stats.kill.rule import KillDesign, decision_table
from agentmut.stats.verdicts.given_baseline import doubt_of, false_kill, lowest_rate, table_given
from agentmut.store.documents.saved_baseline import SavedBaseline, SavedScenario
from agentmut.usecases.baseline_check import foreseen_comparison
from agentmut.usecases.suite_verdicts import save_baseline

FLAWLESS = "\nRATES.update(alpha=1.0)"


def kept(passes: int, trials: int, looks: int = 1) -> SavedScenario:
    counts = {"launched": trials, "passes": passes, "trials": trials, "looks": looks}
    return SavedScenario.model_validate({"digest": "d", "judged_by": "e", "first_key": "k", **counts})


def test_sizes_that_are_passed_over_are_paid_for() -> None:
    assert [further_looks(100, after) for after in (90, 120, 150, 170, 200, 300)] == [1, 1, 1, 2, 2, 3]
    # whatever way a baseline takes through the proposed sizes, a size has one price
    for start, middle, end in [(20, 30, 50), (50, 75, 100), (50, 100, 200), (100, 150, 300)]:
        assert further_looks(start, middle) + further_looks(middle, end) == further_looks(start, end)


@pytest.mark.parametrize("rate", [0.8, 0.9, 0.95, 0.98, 0.995])
def test_whatever_chooses_the_next_size_the_promise_holds_at_95_percent(rate: float) -> None:
    # the worst chooser is one that takes any size at which the bound is above the true rate: the chances add up
    wrong, looks = 0.0, 1
    for before, size in zip((0, *SIZES), SIZES, strict=False):
        looks += further_looks(before, size) if before else 0
        bounds = ((k, lowest_rate(k, size, doubt_of(1, looks))) for k in range(size + 1))
        too_high = next((k for k, bound in bounds if bound > rate), size + 1)
        wrong += float(binom.sf(too_high - 1, size, rate))
    assert looks == len(SIZES)
    assert 0 < wrong <= 0.05


def test_a_step_at_most_doubles_and_lands_on_a_proposed_size() -> None:
    assert [largest_step(trials) for trials in (5, 20, 50, 90, 100, 2000)] == [10, 30, 100, 150, 200, 4000]
    assert all(largest_step(size) in SIZES for size in SIZES[:-1])


def test_chances_of_a_fixed_comparison_are_those_counted_by_hand(projects: Any) -> None:
    project = projects.write(("alpha",), compare={"method": "fixed", "trials": 20, "test": "fisher"})
    cells = power_cells(project, kept(20, 20), Family.from_project(project, 1), Tables(None))
    lowest = 0.025 ** (1 / 20)  # one scenario at its first size: half of the 5 % of doubt, and all 20 passed
    # Fisher's test takes 5 failures of 20 (C(20,5)/C(40,5) = .0236), the lowest rate takes more
    failures = next(f for f in range(21) if binom.sf(f - 1, 20, 1 - lowest) <= 0.05)
    assert failures == 7
    found = {cell.drop: cell.fail for cell in cells if cell.trials == 20}
    expected = {drop: binom.sf(failures - 1, 20, drop) for drop in (0.05, 0.1, 0.2, 0.3)}
    assert found == pytest.approx(expected)
    assert sorted({cell.trials for cell in cells}) == [20, 30, 50]


def test_chances_of_a_sequential_comparison_are_those_of_the_rule_at_that_size_and_look(
    projects: Any,
) -> None:
    project = projects.write(("alpha",))
    cells = power_cells(project, kept(20, 20), Family.from_project(project, 1), Tables(None))
    statistics = project.statistics
    design = KillDesign(statistics.alpha, statistics.beta, statistics.delta, statistics.n_max)
    # 30 is the size after 20, so 50 is the third
    for trials, looks in ((20, 1), (30, 2), (50, 3)):
        table = table_given(
            0, trials, design, lowest_rate(trials, trials, doubt_of(1, looks)), decision_table
        )
        (found,) = [cell.fail for cell in cells if (cell.trials, cell.drop) == (trials, 0.2)]
        assert found == false_kill(table, 0.8)


def test_drops_below_zero_are_left_out(projects: Any) -> None:
    project = projects.write(("alpha",))
    cells = power_cells(project, kept(3, 20), Family.from_project(project, 1), Tables(None))
    assert {cell.drop for cell in cells} == {0.05, 0.1}
    assert power_cells(project, kept(0, 0), Family.from_project(project, 1), Tables(None)) == ()


@pytest.mark.whole
def test_a_saved_baseline_has_the_table_and_the_preview_shows_it(projects: Any) -> None:
    project = projects.write(("alpha",), extra=FLAWLESS)
    saved = save_baseline(project, trials=20)
    seen = foreseen_comparison(projects.load(), "default")
    assert saved.scenarios["alpha"].power == seen.scenarios["alpha"].power != ()
    page = render_comparison_preview(seen, "sequential")
    (row,) = [line.split() for line in page.splitlines() if line.startswith("0.2")]
    assert row == ["0.2", *(f"{c.fail:.2f}" for c in saved.scenarios["alpha"].power if c.drop == 0.2)]
    old = json.loads(saved.model_dump_json())
    for key in ("power", "series", "looks", "first"):
        del old["scenarios"]["alpha"][key]
    # a file of an earlier version opens
    assert SavedBaseline.model_validate(old).scenarios["alpha"].power == ()
