"""Second looks: a run that decides the same with other settings says what the earlier one came to, or is paid for."""

import json
from typing import Any

import pytest

from agentmut.nouns.result import EarlierLook
from agentmut.report.files.markdown import markdown_report
from agentmut.report.terminal.run_page import render
from agentmut.usecases.campaigns import measure
from agentmut.usecases.deployment_gate import gate
from agentmut.usecases.second_looks import looks_told, unpaid

WHOLE = pytest.mark.whole
GATE = {"verdict": False, "min_score": 0.0}


def look(alpha: float) -> EarlierLook:
    return EarlierLook(run_id="r1", when="", alpha=alpha, differs=("n_max 100 (here 50)",))


def test_looks_are_paid_for_while_their_levels_add_up_to_no_more_than_alpha() -> None:
    third = 0.05 / 3
    assert unpaid([look(third), look(third)], third, 0.05) == ""
    assert "look 4" in unpaid([look(third)] * 3, third, 0.05)
    assert "up to 0.1," in unpaid([look(0.05)], 0.05, 0.05)
    assert unpaid([], 0.05, 0.05) == ""
    assert list(looks_told([], 0.05, 0.05)) == []


@WHOLE
def test_a_run_with_another_n_max_names_the_earlier_result_everywhere(projects: Any) -> None:
    first = measure(projects.write(("alpha",), idle=1, statistics={"baseline": 30, "n_max": 40}))
    assert first.looks == ()
    again = measure(projects.write(("alpha",), idle=1, statistics={"baseline": 30, "n_max": 60}))
    (seen,) = again.looks
    assert (seen.run_id, seen.differs, seen.alpha) == (first.run_id, ("n_max 40 (here 60)",), 0.05)
    assert (seen.score, seen.low, seen.high) == (first.score.value, first.score.low, first.score.high)
    assert again.notes[0].startswith(f"this is another look: run {first.run_id} of ")
    assert "more than the 0.05 that is asked" in again.notes[1]
    for text in (render(again), markdown_report(again)):
        assert first.run_id in text


@WHOLE
def test_the_same_run_again_and_one_with_more_mutants_are_no_second_look(projects: Any) -> None:
    settings = {"baseline": 30, "n_max": 40}
    measure(projects.write(("alpha",), idle=2, statistics=settings, mutation={"sample": 1}))
    assert (
        measure(projects.write(("alpha",), idle=2, statistics=settings, mutation={"sample": 1})).looks == ()
    )
    more = measure(projects.write(("alpha",), idle=2, statistics=settings, mutation={"sample": 2}))
    assert more.looks == ()
    fewer = measure(projects.write(("alpha",), idle=2, statistics=settings, mutation={"sample": 1}))
    assert fewer.looks[0].differs == ("1 mutants that are left out here",)


@WHOLE
def test_another_seed_fresh_trials_and_scenarios_that_are_left_out_are_looks(projects: Any) -> None:
    project = projects.write(("alpha", "beta"), idle=0, statistics={"baseline": 30, "n_max": 40})
    measure(project)
    seeded = measure(project, seed=7)
    assert seeded.looks[0].differs == ("seed 1 (here 7)",)
    partial = measure(project, scenarios=("alpha",))
    assert any("scenarios that are left out here: beta" in each.differs for each in partial.looks)
    fresh = measure(project, fresh=True)
    assert any("trials of its own" in each.differs for each in fresh.looks)


@WHOLE
def test_the_gate_leaves_an_undeclared_second_look_to_a_person_and_passes_a_declared_one(
    projects: Any,
) -> None:
    def measured(**statistics: Any) -> Any:
        project = projects.write(("alpha",), idle=0, statistics={"baseline": 30, **statistics}, gate=GATE)
        measure(project)
        return gate(project)

    assert measured(n_max=40).decision == "deploy"
    undeclared = measured(n_max=60)
    assert undeclared.decision == "manual"
    assert "look 2" in undeclared.reasons[0]


@WHOLE
def test_declared_looks_share_alpha_and_pass_the_gate(projects: Any) -> None:
    for n_max in (40, 60):
        statistics = {"baseline": 30, "n_max": n_max, "looks": 2}
        project = projects.write(("alpha",), idle=0, statistics=statistics, gate=GATE)
        result = measure(project)
        assert result.rule["alpha"] == 0.025
    assert "which `statistics.looks` pays for" in result.notes[1]
    assert gate(project).decision == "deploy"
    stored = json.loads((project.runs / result.run_id / "result.json").read_text())
    assert len(stored["looks"]) == 1


@WHOLE
def test_naming_the_first_run_does_not_hide_the_later_look_from_the_gate(projects: Any) -> None:
    first = measure(projects.write(("alpha",), idle=0, statistics={"baseline": 30, "n_max": 40}, gate=GATE))
    project = projects.write(("alpha",), idle=0, statistics={"baseline": 30, "n_max": 60}, gate=GATE)
    measure(project)
    assert gate(project, run=first.run_id).decision == "manual"
