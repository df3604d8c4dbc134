"""`test` with a warm start: earlier tests choose what is looked for, never trials that the test itself takes over."""

import sys
from typing import Any

from typer.testing import CliRunner

from agentmut.cli.entry import app
from agentmut.stats.three_valued import Verdict
from agentmut.store.documents.verdict_report import VerdictReport
from agentmut.usecases.suite_verdicts import check_suite

COLD = 18
"""Passes in a row that are a PASS without a past: (0.8/0.7)^18 = 11.06 is above 1/beta = 10, and (0.8/0.7)^17 = 9.68 is
not."""


def verdicts_of(
    projects: Any, version: str, rate: float = 1.0, *, warm: bool = True, fresh: bool = False
) -> VerdictReport:
    """Test one version of an agent: a comment in its module is another version."""
    project = projects.write(
        ("alpha",),
        extra=f"\nRATES.update(alpha={rate})  # version {version}",
        scenario=lambda word: {"threshold": 0.8},
        test={"warm_start": warm},
    )
    sys.modules.pop(projects.module, None)
    return check_suite(project, fresh=fresh)


def trials_of(report: VerdictReport) -> int:
    return report.scenarios[0].trials


def noted(report: VerdictReport) -> str:
    return next((note for note in report.notes if note.startswith("warm start")), "")


def test_the_next_version_needs_fewer_trials_and_says_why(projects: Any) -> None:
    first = verdicts_of(projects, "1")
    assert (first.verdict, trials_of(first), noted(first)) == (Verdict.PASS, COLD, "")
    second = verdicts_of(projects, "2")
    assert second.verdict is Verdict.PASS
    assert trials_of(second) < COLD
    assert noted(second).startswith("warm start: 18 earlier trials of 1 of 1 scenarios choose")
    assert "log evidence" in second.scenarios[0].reason
    assert trials_of(verdicts_of(projects, "3", warm=False)) == COLD


def test_a_test_that_goes_on_keeps_its_question(projects: Any) -> None:
    verdicts_of(projects, "1")
    second, again = verdicts_of(projects, "2"), verdicts_of(projects, "2")
    assert again.cost.reused == trials_of(again)
    assert (trials_of(again), noted(again)) == (trials_of(second), noted(second))
    back = verdicts_of(projects, "1")
    assert (trials_of(back), noted(back)) == (COLD, "")  # its own trials are no past of it


def test_fresh_runs_of_the_same_version_have_the_earlier_ones_as_their_past(projects: Any) -> None:
    verdicts_of(projects, "1")
    assert noted(verdicts_of(projects, "1", fresh=True)).startswith("warm start: 18 earlier trials")


def test_a_version_that_got_worse_fails_in_spite_of_its_past(projects: Any) -> None:
    verdicts_of(projects, "1")
    assert verdicts_of(projects, "2", rate=0.3).verdict is Verdict.FAIL


def test_a_fixed_number_of_trials_has_no_warm_start_and_a_preview_says_that_it_knows_none(
    projects: Any,
) -> None:
    path = str(projects.write(("alpha",)).path.parent)
    refused = CliRunner().invoke(app, ["test", "--project", path, "--method", "fixed", "--warm-start"])
    assert "--warm-start is for --method sequential, not fixed" in str(refused.exception)
    shown = CliRunner().invoke(app, ["test", "--project", path, "--warm-start", "--preview"])
    assert shown.exit_code == 0
    assert "without a warm start" in " ".join(shown.output.split())
