"""`agentmut rescore` judges the stored runs of survivors by relations that were added or changed, and runs nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut import measure
from agentmut.assessment.preparation import RunSettings
from agentmut.campaign.limits import Spend
from agentmut.campaign.running.work import Stop
from agentmut.nouns.mutant import Status
from agentmut.nouns.result_file import read_result
from agentmut.project.loading import load_project
from agentmut.project.project import Project
from agentmut.relating.preparation import make_plan, wish
from agentmut.relating.summary import CheckedRelations, report_relations
from agentmut.report.terminal.relations_page import render_wish
from agentmut.report.terminal.rescored_page import render_rescored
from agentmut.store.documents.rescored import RelationsRescored, Rescored
from agentmut.usecases.campaigns import rescore
from agentmut.usecases.runtime import opened
from tests.relations.engine.conftest import Shop
from tests.relations.engine.test_survivors_and_relations import CAMPAIGN, check

OWN = """
from agentmut.nouns.relation import Expectation, Family, FollowUp
from agentmut.nouns.trace import Check


class Long:
    id = "oracle.long"
    version = 1
    why = "it is said in too many words"
    family = Family.ORACLE
    expectation = Expectation.PREDICATE

    def __init__(self, argument=8):
        self.words = 8 if argument is None else argument

    def lack(self, scenario, config):
        return ""

    def follow_up(self, source):
        return FollowUp(description="nothing")

    def holds(self, pair):
        words = len(pair.source.text.split())
        return Check(evaluator=self.id, passed=words <= self.words, reason=f"{words} words")

    def examples(self):
        return ()


class Broken(Long):
    id = "oracle.cracked"

    def holds(self, pair):
        raise ZeroDivisionError("oops")
"""
PLAIN: dict[str, Any] = {name: part for name, part in CAMPAIGN.items() if name != "relations"}


@pytest.fixture(scope="module")
def campaign(make_shop: Callable[[], Shop]) -> Project:
    """ "Be brief." survives although answers become too long: no evaluator counts words."""
    shop = make_shop()
    project = shop.write(extra=PLAIN)
    (shop.folder / "relations_of_words.py").write_text(OWN)
    _with_relations(project.root, None)
    result = measure(load_project(project.root))
    assert {row.before.strip(): row.status for row in result.mutants}["Be brief."] is Status.SURVIVED
    return project


def _with_relations(root: Path, section: dict[str, Any] | None) -> None:
    path = root / "agentmut.yaml"
    written = yaml.safe_load(path.read_text())
    written.pop("relations", None)
    if section is not None:
        written["relations"] = {"sources": 30, "pairs": 20, **section}
    path.write_text(yaml.safe_dump(written))


def rescored_with(project: Project, **section: Any) -> tuple[Rescored, RelationsRescored]:
    _with_relations(project.root, section)
    found = rescore(project.root)
    assert found.relations is not None
    return found, found.relations


def words(limit: int) -> dict[str, Any]:
    return {"own": ["relations_of_words:Long"], "use": [{"oracle.long": limit}]}


@pytest.mark.whole
def test_a_project_that_names_no_relation_is_rescored_by_evaluators_alone(campaign: Project) -> None:
    _with_relations(campaign.root, None)
    assert rescore(campaign.root).relations is None


def test_an_added_relation_that_tells_a_mutant_from_the_original_kills_it_without_a_run(
    campaign: Project,
) -> None:
    folder = next(campaign.runs.glob("*/result.json")).parent
    before = (folder / "result.json").read_bytes()
    found, by_relations = rescored_with(campaign, **words(8))
    (flip,) = by_relations.flipped
    assert (flip.before, flip.after) == ((), ("oracle.long: 8 @ count",))
    assert by_relations.report and by_relations.report.cost.trials == 0
    row = next(row for row in found.result.mutants if row.id == flip.mutant)
    assert row.status is Status.SURVIVED and row.killed_by_relations == flip.after
    assert (by_relations.before, by_relations.after.value, found.after.value) == (None, 1.0, 0.5)
    assert found.result.score_with_relations == by_relations.after
    assert found.flipped == () and by_relations.report.not_stored == ()
    assert Rescored.model_validate_json((folder / "rescored.json").read_bytes()) == found
    assert (folder / "result.json").read_bytes() == before
    said = render_rescored(found)
    assert f"{flip.mutant}  {flip.operator}: -> killed by" in said
    assert "unchanged agent 0/" in said


def test_a_relation_that_both_keep_kills_nothing(campaign: Project) -> None:
    found, by_relations = rescored_with(campaign, **words(100))
    assert by_relations.report and by_relations.report.tried == by_relations.report.survivors == 1
    assert (by_relations.flipped, by_relations.report.kills) == ((), ())
    assert by_relations.after == found.after
    assert not any(row.killed_by_relations for row in found.result.mutants)


def test_a_relation_that_both_violate_alike_kills_nothing(campaign: Project) -> None:
    _, by_relations = rescored_with(campaign, **words(2))
    assert by_relations.report and by_relations.report.tried == 0  # it could not be violated more often
    assert by_relations.flipped == ()


def test_pairs_whose_follow_up_was_never_run_are_counted_with_the_runs_they_take(campaign: Project) -> None:
    _, by_relations = rescored_with(campaign, use=["perturbation.noise"])
    report = by_relations.report
    assert report and by_relations.flipped == ()
    (one,) = report.not_stored
    result = read_result(next(campaign.runs.glob("*/result.json")))
    survivor = next(row for row in result.mutants if row.status is Status.SURVIVED)
    assert (one.relation, one.scenarios, one.mutants) == ("perturbation.noise", ("count",), (survivor.id,))
    (baseline,) = result.baseline
    assert baseline.trials == 30
    # a third of the runs shows what is stable; those that confirmed kills start no pair
    series = baseline.trials - baseline.beside
    pairs = series - series // 3
    assert one.pairs == pairs
    # follow-ups of the original and of the mutant, and those source runs that the mutant has not
    assert 2 * pairs < report.runs_needed <= 3 * pairs
    said = " ".join(render_rescored(rescore(campaign.root)).split())
    assert f"the store lacks the follow-up runs of {pairs} pairs of the unchanged agent" in said
    assert f"about {report.runs_needed} runs at most" in said


def test_the_same_again_is_judged_from_stored_runs_of_the_original_and_of_mutants(campaign: Project) -> None:
    found, by_relations = rescored_with(campaign, use=["oracle.no_change"])
    report = by_relations.report
    assert report and (report.not_stored, report.runs_needed) == ((), 0)
    assert report.tried == report.survivors == 1
    assert "the store lacks" not in render_rescored(found)


def test_an_own_relation_that_is_not_in_use_is_told_of(campaign: Project) -> None:
    found, by_relations = rescored_with(campaign, own=["relations_of_words:Long"], use=["oracle.no_change"])
    note = "own relation oracle.long is not in `relations.use`, so it is not checked"
    assert by_relations.notes == (note,) and by_relations.report
    assert note in by_relations.report.notes and note in " ".join(render_rescored(found).split())
    with opened(load_project(campaign.root), ()) as (session, _):
        wanted = wish(session, ())
        assert note in " ".join(render_wish(wanted, 1).split())
        checked = CheckedRelations(
            make_plan(session, wanted, RunSettings(1.0), to_the_end=False), Stop.FINISHED, Spend()
        )
        assert note in report_relations(session, wanted, checked).notes
        assert wish(session, ("oracle.no_change",)).notes == ()
    named = rescored_with(campaign, **words(100))[1]
    assert named.notes == ()


def test_where_every_mutant_is_open_it_is_said_that_a_run_decides(campaign: Project) -> None:
    found, by_relations = rescored_with(campaign, **words(100))
    rows = tuple(
        row.model_copy(update={"status": Status.UNDECIDED}) if row.status is Status.SURVIVED else row
        for row in found.result.mutants
    )
    update = {
        "result": found.result.model_copy(update={"mutants": rows}),
        "after": found.after.model_copy(update={"undecided": 13}),
        "relations": by_relations.model_copy(update={"report": None}),
    }
    said = " ".join(render_rescored(found.model_copy(update=update)).split())
    nothing = "No mutant survives by the stored trials, so there is nothing to judge."
    assert f"{nothing} `agentmut run` decides the 13 undecided mutants." in said
    del update["result"]
    assert "No survivor, or no relation that fits" in render_rescored(found.model_copy(update=update))


def test_a_broken_relation_is_an_error_that_names_it(campaign: Project) -> None:
    from agentmut._base.errors import RunError

    _with_relations(campaign.root, {"own": ["relations_of_words:Broken"], "use": [{"oracle.cracked": 8}]})
    with pytest.raises(RunError, match=r"oracle\.cracked.* raised ZeroDivisionError"):
        rescore(campaign.root)


@pytest.mark.whole
def test_after_a_check_that_ran_follow_ups_rescoring_finds_the_same_and_what_is_taken_out_of_use_counts_no_more(
    shop: Shop,
) -> None:
    more_than_the_campaign = {**CAMPAIGN, "relations": {"sources": 36, "pairs": 24}}
    project = shop.write(use=["oracle.brief", "perturbation.upper"], extra=more_than_the_campaign)
    measure(project)
    checked = check(project)
    assert checked.cost.trials > 0
    again = rescore(project.root).relations
    assert again and again.report
    assert again.before == again.after == checked.score_with_relations
    assert (again.flipped, again.kept, again.report.not_stored) == ((), {}, ())
    assert again.report.kills == checked.kills and checked.kills[0].original.pairs == 24
    written = yaml.safe_load((project.root / "agentmut.yaml").read_text())
    written["relations"]["use"] = ["perturbation.upper"]
    (project.root / "agentmut.yaml").write_text(yaml.safe_dump(written))
    without = rescore(project.root).relations
    assert without and [(flip.before, flip.after) for flip in without.flipped] == [
        (("oracle.brief @ count",), ())
    ]
    assert without.before == checked.score_with_relations and without.after == checked.score
    written["relations"]["use"] = []
    (project.root / "agentmut.yaml").write_text(yaml.safe_dump(written))
    none = rescore(project.root).relations
    assert none and (none.relations, none.report, none.after) == ((), None, checked.score)
