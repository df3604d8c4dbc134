"""Second looks of relations: a check that decides the same pairs with other settings says what was found before."""

import pytest

from agentmut import check_relations
from agentmut.nouns.result import EarlierLook
from agentmut.report.terminal.relations_page import render_relations
from agentmut.store.documents.relation_report import RelationReport, read_relations
from tests.relations.engine.conftest import Shop

pytestmark = pytest.mark.whole

SMALL = {"relations": {"sources": 24, "pairs": 10}}


def differences(report: RelationReport) -> set[tuple[str, ...]]:
    return {each.differs for each in report.looks}


def test_a_check_with_another_tolerance_names_the_earlier_finding_on_the_page_and_in_its_file(
    shop: Shop,
) -> None:
    project = shop.write(use=["oracle.brief"], extra=SMALL)
    first = check_relations(project)
    assert first.looks == check_relations(project).looks == ()
    again = check_relations(project, stored=True, tolerance=0.3)
    (seen,) = again.looks
    assert seen.differs == ("tolerance 0.1 (here 0.3)",)
    assert seen.verdict == f"{first.finding} ({first.reason})" and seen.alpha == 0.05
    assert again.notes[0].startswith(f"this is another look: run {seen.run_id} of ")
    assert "up to 0.1, more than the 0.05 that is asked" in again.notes[1]
    assert seen.run_id in render_relations(again)
    third = check_relations(project, tolerance=0.4)
    assert differences(third) == {("tolerance 0.3 (here 0.4)",), ("tolerance 0.1 (here 0.4)",)}
    kept = read_relations(project.runs / third.run_id / "relations.json")
    assert isinstance(kept, RelationReport) and len(kept.looks) == 2
    assert all(isinstance(each, EarlierLook) for each in kept.looks)


def test_declared_looks_share_alpha_and_are_paid_for(shop: Shop) -> None:
    project = shop.write(use=["oracle.brief"], extra=SMALL | {"statistics": {"looks": 2}})
    check_relations(project)
    report = check_relations(project, tolerance=0.3)
    assert report.alpha == report.settings["alpha"] == report.looks[0].alpha == 0.025
    assert report.notes[1].endswith("up to 0.05, which `statistics.looks` pays for")


def test_relations_that_are_left_out_later_are_a_look_and_added_ones_are_none(shop: Shop) -> None:
    project = shop.write(use=["oracle.brief", "perturbation.upper"], extra=SMALL)
    check_relations(project, relations=["oracle.brief"])
    assert check_relations(project).looks == ()
    fewer = check_relations(project, relations=["oracle.brief"])
    assert differences(fewer) == {("relations that are left out here: perturbation.upper",)}
    others = check_relations(project, relations=["perturbation.upper"])
    assert differences(others) == {("relations that are left out here: oracle.brief",)}


def test_fresh_runs_and_another_seed_are_looks(shop: Shop) -> None:
    project = shop.write(use=["oracle.brief"], extra=SMALL)
    check_relations(project)
    assert differences(check_relations(project, seed=7)) == {("seed 1 (here 7)",)}
    assert ("trials of its own",) in differences(check_relations(project, fresh=True))


def test_another_agent_is_another_question_and_a_report_that_tells_no_conditions_is_no_look(
    shop: Shop,
) -> None:
    check_relations(shop.write(use=["oracle.brief"], extra=SMALL))
    project = shop.write(use=["oracle.brief"], noise=0.5, extra=SMALL)
    first = check_relations(project, tolerance=0.2)
    assert first.looks == ()
    path = project.runs / first.run_id / "relations.json"
    stored = read_relations(path)
    path.write_text(stored.model_copy(update={"conditions": ""}).model_dump_json())
    assert check_relations(project, tolerance=0.3).looks == ()
    path.write_text("{")
    assert differences(check_relations(project, tolerance=0.4)) == {("tolerance 0.3 (here 0.4)",)}
