"""Second looks of `test` and `baseline compare`: named with what they came to, paid for, and not passed by the gate."""

import json
from typing import Any

from agentmut.stats.three_valued import Verdict
from agentmut.store.documents.verdict_report import VerdictReport
from agentmut.usecases.deployment_gate import gate
from agentmut.usecases.suite_verdicts import check_suite, compare_with_baseline, save_baseline

FLAWLESS = "\nRATES.update(alpha=1.0)"


def report_of(projects: Any, trials: int, **parts: Any) -> tuple[Any, VerdictReport]:
    project = projects.write(
        ("alpha",),
        extra=FLAWLESS,
        test={"method": "fixed", "trials": trials},
        gate={"verdict": True},
        **parts,
    )
    return project, check_suite(project)


def test_more_trials_after_an_open_verdict_are_a_second_look_and_the_gate_leaves_it_to_a_person(
    projects: Any,
) -> None:
    _, first = report_of(projects, 35)
    assert (first.verdict, first.looks) == (Verdict.INCONCLUSIVE, ())
    project, again = report_of(projects, 36)
    (seen,) = again.looks
    assert (seen.run_id, seen.verdict, seen.alpha) == (first.run_id, "INCONCLUSIVE", 0.05)
    assert seen.differs == ("trials 35 (here 36)",)
    assert f"run {first.run_id}" in again.notes[0] and "INCONCLUSIVE" in again.notes[0]
    assert "come to a wrong verdict with a chance of up to 0.1, more than the 0.05" in again.notes[1]
    stored = json.loads((project.runs / again.run_id / "verdicts.json").read_text())
    assert [look["run_id"] for look in stored["looks"]] == [first.run_id]
    assert again.verdict is Verdict.PASS
    decided = gate(project)
    assert decided.decision == "manual"
    assert "look 2" in decided.reasons[0]


def test_declared_looks_share_alpha_and_pass_the_gate(projects: Any) -> None:
    # each look has half of 0.05: 0.9^42 = 0.01197 <= 0.0125 < 0.9^41, so 42 passes in a row are the fewest that pass
    for trials, verdict in ((41, Verdict.INCONCLUSIVE), (42, Verdict.PASS)):
        project, report = report_of(projects, trials, statistics={"looks": 2})
        assert (report.alpha, report.verdict) == (0.025, verdict)
    assert "which `statistics.looks` pays for" in report.notes[1]
    assert gate(project).decision == "deploy"


def test_the_same_command_again_is_no_look_and_fresh_runs_are_one(projects: Any) -> None:
    project, _ = report_of(projects, 36)
    assert check_suite(project).looks == ()
    fresh = check_suite(project, fresh=True)
    assert [look.differs for look in fresh.looks] == [("trials of its own",)]


def test_a_comparison_with_other_settings_is_a_look_and_one_with_another_baseline_is_none(
    projects: Any,
) -> None:
    project = projects.write(("alpha",), extra=FLAWLESS)
    save_baseline(project, trials=60)
    first = compare_with_baseline(project)
    again = compare_with_baseline(project, method="fixed", trials=40)
    assert [look.run_id for look in again.looks] == [first.run_id]
    assert any(each.startswith("method sequential (here fixed)") for each in again.looks[0].differs)
    save_baseline(project, trials=60, fresh=True)
    assert compare_with_baseline(project).looks == ()
