"""An outage while relations make their runs: what it spoils is set aside and run again, and is no pair."""

import time

import pytest

from agentmut import check_relations, measure
from agentmut.assessment.preparation import RunSettings
from agentmut.campaign.decision import quarantine
from agentmut.relating.preparation import wish
from agentmut.relating.survivor_check import campaign_of, check_survivors
from agentmut.store.documents.relation_report import Finding
from agentmut.store.store import Store
from agentmut.usecases.runtime import opened
from tests.relations.engine.conftest import Shop

pytestmark = pytest.mark.whole

OUTAGE = """
calls = 0
def run(config, input, inner=run):
    global calls
    calls += 1
    if 40 <= calls < 64:
        raise ValueError("the answer is empty")
    return inner(config, input)
"""


def test_failures_of_source_runs_that_come_together_are_set_aside(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quarantine, "LONGEST_PAUSE", 0.0)
    small = {"execution": {"concurrency": 1}, "relations": {"sources": 40, "pairs": 4}}
    project = shop.write(use=["oracle.brief"], scenarios=("a", "b"), extra=small)
    for module in shop.folder.glob("agent_*.py"):
        module.write_text(module.read_text() + OUTAGE)
    report = check_relations(project)
    (note,) = [note for note in report.notes if "were set aside and run again" in note]
    assert int(note.split()[0]) >= 16  # of 24; the edges of a burst are too few to tell
    store = Store(shop.folder / ".agentmut" / "store.db")
    sound, aside = store.trials_of(report.run_id, ""), store.quarantine.reasons()
    store.close()
    assert set(aside.values()) == {quarantine.FAILURES}
    assert not {trial.id for trial in sound} & aside.keys()
    assert len([trial for trial in sound if "empty" in trial.execution.reason]) <= 8


OF_FOLLOW_UPS = """
follow_ups = 0
def run(config, input, inner=run):
    global follow_ups
    follow_ups += input.isupper()
    if input.isupper() and 60 <= follow_ups < 84:
        raise ValueError("the answer is empty")
    return inner(config, input)
"""


def test_failures_of_follow_up_runs_that_come_together_violate_nothing(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quarantine, "LONGEST_PAUSE", 0.0)
    small = {"execution": {"concurrency": 1}, "relations": {"sources": 84, "pairs": 54}}
    project = shop.write(use=["perturbation.upper"], scenarios=("a", "b"), extra=small)
    for module in shop.folder.glob("agent_*.py"):
        module.write_text(module.read_text() + OF_FOLLOW_UPS)
    report = check_relations(project, save="v1")  # every pair is run
    (note,) = [note for note in report.notes if "were set aside and run again" in note]
    assert int(note.split()[0]) >= 16  # of 24; the edges of a burst are too few to tell
    assert [row.pairs for row in report.rows] == [54, 54]
    assert sum(row.violations for row in report.rows) <= 8
    assert report.finding is not Finding.FAIL
    store = Store(shop.folder / ".agentmut" / "store.db")
    reasons = set(store.quarantine.reasons().values())
    store.close()
    assert reasons == {quarantine.FAILURES}


@pytest.mark.parametrize(("calm", "sources", "pairs"), [(6, 30, 20), (10, 60, 40)])
def test_failures_after_a_few_calm_follow_up_runs_that_end_a_verdict_are_run_again(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, calm: int, sources: int, pairs: int
) -> None:
    """The verdict ends with the failures, so no calm run comes after them that would tell an outage."""
    monkeypatch.setattr(quarantine, "LONGEST_PAUSE", 0.0)
    small = {"execution": {"concurrency": 1}, "relations": {"sources": sources, "pairs": pairs}}
    project = shop.write(use=["perturbation.upper"], extra=small)
    broken = OF_FOLLOW_UPS.replace("60 <= follow_ups < 84", f"{calm} < follow_ups <= {calm + 5}")
    for module in shop.folder.glob("agent_*.py"):
        module.write_text(module.read_text() + broken)
    report = check_relations(project)
    assert any("were set aside and run again" in note for note in report.notes)
    assert report.finding is not Finding.FAIL


def test_follow_ups_that_go_on_to_fail_are_run_again_once_and_violate(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quarantine, "LONGEST_PAUSE", 0.0)
    small = {"execution": {"concurrency": 1}, "relations": {"sources": 30, "pairs": 20}}
    project = shop.write(use=["perturbation.upper"], extra=small)
    for module in shop.folder.glob("agent_*.py"):
        module.write_text(
            module.read_text() + OF_FOLLOW_UPS.replace("60 <= follow_ups < 84", "follow_ups > 6")
        )
    first = check_relations(project)
    assert first.finding is Finding.FAIL
    assert any("were set aside and run again" in note for note in first.notes)
    again = check_relations(project)  # what is stored is not drawn anew until it pleases
    assert again.finding is Finding.FAIL and again.cost.trials == 0
    assert not any("set aside" in note for note in again.notes)


OF_SURVIVORS = """
shouted = 0
def run(config, input, inner=run):
    global shouted
    changed = "Answer" in config.prompt and "Be brief." not in config.prompt
    shouted += changed and input.isupper()
    if changed and input.isupper() and 6 < shouted <= 11:
        raise ValueError("the answer is empty")
    return inner(config, input)
"""


def test_an_outage_amid_the_follow_up_runs_of_a_survivor_is_no_kill(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quarantine, "LONGEST_PAUSE", 0.0)
    small = {
        "execution": {"concurrency": 1},
        "mutation": {"operators": ["prompt.drop_instruction"]},
        "statistics": {"baseline": 30},
        "relations": {"sources": 30, "pairs": 20},
    }
    project = shop.write(use=["perturbation.upper"], extra=small)
    for module in shop.folder.glob("agent_*.py"):
        module.write_text(module.read_text() + OF_SURVIVORS)
    measure(project)  # no run of the suite shouts
    with opened(project, ()) as (session, store):
        wanted = wish(session, ())
        campaign = campaign_of(session, store, None, wanted)
        report = check_survivors(session, store, wanted, campaign, RunSettings(time.time()))
        aside = set(store.quarantine.reasons().values())
    assert report.tried == 1 and not report.killed
    assert aside == {quarantine.FAILURES}
    assert any("were set aside and run again" in note for note in report.notes)
