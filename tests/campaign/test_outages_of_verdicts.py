"""Outages while the unchanged agent is judged: what they spoil is set aside and run again, and changes no verdict."""

from typing import Any

import pytest

from agentmut._base.errors import RunError
from agentmut.campaign.decision import quarantine
from agentmut.report.terminal.verdicts_page import render_verdicts
from agentmut.store.documents.verdict_report import VerdictReport, read_verdicts
from agentmut.store.store import Store
from agentmut.usecases.suite_verdicts import check_suite, save_baseline
from tests.campaign.test_outages import broken

pytestmark = pytest.mark.whole

WRONG = "\ndef wrong():\n    raise ValueError('the answer is empty')\n"
ONE_AT_A_TIME = {"retries": 0, "concurrency": 1}
FIXED = {"method": "fixed", "trials": 40}


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quarantine, "LONGEST_PAUSE", 0.0)


def passes(report: VerdictReport) -> list[tuple[int, int, str]]:
    return [(row.passes, row.trials, row.verdict) for row in report.scenarios]


def test_failures_of_a_few_minutes_are_set_aside_and_fail_no_suite(make_projects: Any) -> None:
    """24 failures in a row of an agent that passes: without quarantine the suite would fail."""
    projects = make_projects("amid")
    amid = check_suite(
        projects.write(extra=WRONG + broken("wrong", 40, 64), execution=ONE_AT_A_TIME, test=FIXED)
    )
    clean = check_suite(make_projects("clean").write(execution=ONE_AT_A_TIME, test=FIXED))
    assert clean.quarantined == ()
    assert [row.trials for row in amid.scenarios] == [40, 40, 40]
    assert amid.verdict == clean.verdict
    lost = [one.passes - other.passes for one, other in zip(clean.scenarios, amid.scenarios, strict=True)]
    assert max(lost) <= 3  # of 8 that the burst took from each
    assert {found.reason for found in amid.quarantined} == {quarantine.FAILURES}
    said = " ".join(render_verdicts(amid).split())
    assert "were set aside and run again: more trials failed together than chance allows" in said
    kept = read_verdicts(projects.folder / ".agentmut" / "runs" / amid.run_id / "verdicts.json")
    assert kept.quarantined == amid.quarantined
    store = Store(projects.folder / ".agentmut" / "store.db")
    aside = store.quarantine.reasons()
    counted = {trial.id for trial in store.trials_of(amid.run_id, "")}
    store.close()
    assert len(aside) == sum(found.trials for found in amid.quarantined)
    assert not counted & aside.keys()


def test_a_saved_baseline_holds_no_trial_of_an_outage(make_projects: Any) -> None:
    extra = WRONG + broken("wrong", 40, 64)
    projects = make_projects("kept")
    amid = save_baseline(projects.write(extra=extra, execution=ONE_AT_A_TIME), "main", trials=40)
    clean = save_baseline(make_projects("clean").write(execution=ONE_AT_A_TIME), "main", trials=40)
    lost = [
        one.passes - other.passes
        for one, other in zip(clean.scenarios.values(), amid.scenarios.values(), strict=True)
    ]
    assert max(lost) <= 3  # of 8 that the burst took from each
    store = Store(projects.folder / ".agentmut" / "store.db")
    assert set(store.quarantine.reasons().values()) == {quarantine.FAILURES}
    store.close()


def test_an_agent_that_always_answers_wrongly_has_no_outage(make_projects: Any) -> None:
    never = "\nRATES.update(alpha=0.0, beta=0.0, gamma=0.0)"
    report = check_suite(make_projects("bad").write(extra=never, execution=ONE_AT_A_TIME, test=FIXED))
    assert report.quarantined == ()
    assert report.verdict == "FAIL"


def test_a_burst_that_comes_back_every_time_ends_the_test_and_is_told(make_projects: Any) -> None:
    """The same window of trials fails in each round: the agent may be the cause, so no verdict is given."""
    extra = WRONG + broken("wrong", 40, 10**9)
    with pytest.raises(
        RunError, match=r"more trials failed together than chance allows.*again after 8 rounds"
    ):
        check_suite(make_projects("often").write(extra=extra, execution=ONE_AT_A_TIME, test=FIXED))
