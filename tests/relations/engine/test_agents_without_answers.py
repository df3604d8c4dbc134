"""An agent that cannot answer leaves relations nothing to start from: an error, not a finding."""

import time

import pytest

from agentmut import check_relations
from agentmut._base.errors import RunError, UsageError
from agentmut.assessment.preparation import RunSettings
from agentmut.campaign import (
    register,
    run_work,
)
from agentmut.campaign.running.stored import stored_originals
from agentmut.project.loading import load_project
from agentmut.relating.preparation import make_plan, source_work, wish
from agentmut.store.documents.relation_report import Finding
from agentmut.usecases.runtime import opened
from tests.relations.engine.conftest import Shop

pytestmark = pytest.mark.whole

NO_KEY = "\ndef run(config, input):\n    raise RuntimeError('Missing credentials.')\n"
KEYED = """
import os
def run(config, input, inner=run):
    os.environ["SHOP_KEY"]
    return inner(config, input)
"""


def test_an_agent_that_never_answers_is_an_error_with_the_first_reason(shop: Shop) -> None:
    project = shop.write(use=["oracle.brief"], extra={"execution": {"concurrency": 2}})
    for module in shop.folder.glob("agent_*.py"):
        module.write_text(module.read_text() + NO_KEY)
    said = r"^the agent cannot run: RuntimeError: Missing credentials \(.*\)\. Each of \d+ trials raised this"
    with pytest.raises(RunError, match=said):
        check_relations(project)
    with opened(project, ()) as (session, store):
        kept, skipped = stored_originals(session, store)
    assert not kept
    assert 20 <= skipped.total() < 45  # it is given up early
    with pytest.raises(UsageError, match="left out: of an agent that could not run"):
        check_relations(project, stored=True)


def test_a_key_that_is_missing_by_now_is_no_finding_of_follow_up_runs(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {"relations": {"sources": 12, "pairs": 8}}
    project = shop.write(use=["perturbation.upper", "perturbation.politer"], extra=few)
    for module in shop.folder.glob("agent_*.py"):
        module.write_text(module.read_text() + KEYED)
    monkeypatch.setenv("SHOP_KEY", "1")
    with opened(project, ()) as (session, store):
        plan = make_plan(session, wish(session, ()), RunSettings(time.time(), None, False), to_the_end=False)
        register(store, plan)
        run_work(session, source_work(session, plan), store)
    monkeypatch.delenv("SHOP_KEY")
    with pytest.raises(RunError, match=r"^the agent cannot run: KeyError: 'SHOP_KEY'"):
        check_relations(project)
    monkeypatch.setenv("SHOP_KEY", "1")
    report = check_relations(project)

    assert report.finding is not Finding.FAIL and report.cost.trials > 8


def test_a_key_that_is_missing_by_now_is_told_though_follow_up_runs_are_stored(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {"relations": {"sources": 12, "pairs": 2}}
    project = shop.write(use=["perturbation.upper"], scenarios=("a",), extra=few)
    for module in shop.folder.glob("agent_*.py"):
        module.write_text(module.read_text() + KEYED)
    monkeypatch.setenv("SHOP_KEY", "1")
    before = check_relations(project, pairs=2).cost.trials
    monkeypatch.delenv("SHOP_KEY")
    with pytest.raises(RunError, match=r"^the agent cannot run: KeyError: 'SHOP_KEY'"):
        check_relations(project, pairs=8)
    monkeypatch.setenv("SHOP_KEY", "1")
    report = check_relations(project, pairs=8)
    assert report.finding is not Finding.FAIL and report.cost.reused == before


def test_runs_of_scenarios_that_were_not_asked_for_are_one_note(shop: Shop) -> None:
    shop.write(
        use=["oracle.brief"], scenarios=("a", "b", "c"), extra={"relations": {"sources": 12, "pairs": 8}}
    )
    project = load_project(shop.folder)
    check_relations(project)
    report = check_relations(project, scenarios=["a"], stored=True)
    assert [note for note in report.notes if "trials left out" in note] == [
        "24 stored trials left out: of scenarios that were not asked for"
    ]
