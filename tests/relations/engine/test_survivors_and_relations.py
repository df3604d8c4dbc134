"""Survivors that relations kill: the result says so, and keeps its score."""

import time

import pytest

from agentmut import measure
from agentmut._base.errors import UsageError
from agentmut.assessment.preparation import RunSettings
from agentmut.campaign.preparation.tables import Tables
from agentmut.nouns.mutant import Status
from agentmut.nouns.result import Result
from agentmut.nouns.result_file import read_result
from agentmut.project.project import Project
from agentmut.relating.preparation import wish
from agentmut.relating.survivor_check import campaign_of, check_survivors
from agentmut.relating.survivors import with_kills
from agentmut.report.terminal.mutant_page import render_mutant
from agentmut.report.terminal.relations_page import render_survivors
from agentmut.report.terminal.run_page import render
from agentmut.store.documents.relation_report import Counts, RelationKill, SurvivorsReport
from agentmut.usecases.runtime import opened
from agentmut.usecases.survivor_looks import with_survivor_looks
from tests.relations.engine.conftest import Shop

pytestmark = pytest.mark.whole

CAMPAIGN = {
    "mutation": {"operators": ["prompt.drop_instruction"]},
    "statistics": {"baseline": 30},
    "relations": {"sources": 30, "pairs": 20},
}


def check(project: Project, *, stored: bool = False) -> SurvivorsReport:
    with opened(project, ()) as (session, store):
        wanted = wish(session, ())
        campaign = campaign_of(session, store, None, wanted)
        asked_for = project.statistics.alpha
        return check_survivors(
            session, store, wanted, campaign, RunSettings(time.time()), stored=stored,
            looked=lambda report, where: with_survivor_looks(report, where, project.runs, asked_for),
        )  # fmt: skip


def result_of(project: Project, report: SurvivorsReport) -> Result:
    return read_result(project.runs / report.campaign / "result.json")


@pytest.fixture
def measured(shop: Shop) -> Project:
    """ "Be brief." can be dropped: no scenario notices, but answers become too long."""
    project = shop.write(use=["oracle.brief", "perturbation.upper"], extra=CAMPAIGN)
    statuses = {row.before.strip(): row.status for row in measure(project).mutants}
    assert statuses["Be brief."] is Status.SURVIVED
    return project


def test_a_relation_kills_a_survivor_by_its_stored_runs_at_no_cost(measured: Project) -> None:
    report = check(measured, stored=True)
    assert report.cost.trials == 0 and report.survivors == report.tried == 1
    kill = report.kills[0]
    assert (kill.relation, kill.scenario) == ("oracle.brief", "count")
    assert kill.violations == kill.pairs and kill.original.violations == 0
    assert "Relations kill 1 of 1 survivor" in render_survivors(report)
    _result_names_the_relation_and_keeps_status_and_score(result_of(measured, report))


def _result_names_the_relation_and_keeps_status_and_score(result: Result) -> None:
    row = next(row for row in result.mutants if row.killed_by_relations)
    assert row.status is Status.SURVIVED and row.killed_by_relations == ("oracle.brief @ count",)
    assert (result.score.killed, result.score.value) == (1, 0.5)
    assert result.score_with_relations and result.score_with_relations.value == 1.0
    assert "With relations   1.00" in render(result)
    assert "found relations that notice this change" in render_mutant(result, row)
    own, both = result.score, result.score_with_relations
    assert both.low is not None and own.low is not None
    assert 1.0 - both.low >= 0.5 - own.low


def test_a_check_of_survivors_with_other_settings_names_the_earlier_one_and_what_both_cost(
    measured: Project,
) -> None:
    first = check(measured, stored=True)
    assert first.looks == check(measured, stored=True).looks == ()  # the same settings again are no look
    fewer = measured.relations.model_copy(update={"pairs": 12})
    again = check(measured.model_copy(update={"relations": fewer}), stored=True)
    (seen,) = again.looks
    assert seen.differs == ("pairs 20 (here 12)",) and seen.verdict == "1 of 1 survivors killed"
    assert again.notes[0].startswith(f"this is another look: run {seen.run_id} of ")
    assert (
        "kill an unchanged mutant with a chance of up to 0.1, more than the 0.05 that is asked"
        in again.notes[1]
    )
    assert "this is another look" in " ".join(render_survivors(again).split())
    two = measured.statistics.model_copy(update={"looks": 2})
    paid = check(measured.model_copy(update={"statistics": two}), stored=True)
    assert paid.alpha == 0.025
    assert ("alpha 0.05 (here 0.025)",) in {look.differs for look in paid.looks}


def test_a_check_keeps_kills_of_others_and_without_lanes_the_score(measured: Project) -> None:
    before = read_result(next(measured.runs.glob("*/result.json")))
    survivor = next(row for row in before.mutants if row.status is Status.SURVIVED)
    tables = Tables(measured.root / ".agentmut" / "tables")
    assert with_kills(before, (), (), tables, "default").score_with_relations == before.score
    kept = survivor.model_copy(update={"killed_by_relations": ("oracle.format @ count",)})
    rows = tuple(kept if row.id == kept.id else row for row in before.mutants)
    kill = RelationKill(
        mutant=kept.id, operator=kept.operator, relation="oracle.brief", scenario="count", violations=9, pairs=9,
        original=Counts(violations=0, pairs=20),
    )  # fmt: skip
    after = with_kills(before.model_copy(update={"mutants": rows}), (kill,), (), tables, "default")
    found = next(row.killed_by_relations for row in after.mutants if row.id == kept.id)
    assert found == ("oracle.format @ count", "oracle.brief @ count")
    assert after.score_with_relations and after.score_with_relations.value == 1.0


def test_fresh_runs_of_survivors_are_judged_by_relations_with_follow_ups(measured: Project) -> None:
    budget = measured.budget.model_copy(update={"trials": 5})
    report = check(measured.model_copy(update={"budget": budget}))
    assert report.status == "budget" and not report.kills
    assert result_of(measured, report).score_with_relations is None
    report = check(measured)
    assert report.cost.trials > 0 and report.status == "finished"
    # shouting changes nothing, brief or not
    assert {kill.relation for kill in report.kills} == {"oracle.brief"}
    assert check(measured).cost.trials == 0


def test_without_survivors_there_is_nothing_to_check(shop: Shop) -> None:
    project = shop.write(extra=CAMPAIGN, brief=1)
    with pytest.raises(UsageError, match="there is no stored campaign"):
        check(project)
