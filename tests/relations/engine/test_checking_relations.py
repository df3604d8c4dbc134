"""Relations on a real agent: findings, evidence, and what is run for them."""

import re
from collections.abc import Iterable, Iterator

import pytest

from agentmut import check_relations
from agentmut._base.errors import RunError, UsageError
from agentmut.campaign.running.stored import stored_originals
from agentmut.project.loading import load_project
from agentmut.project.schema import BudgetSettings
from agentmut.relating.change import compared
from agentmut.report.terminal.relations_page import render_relations
from agentmut.stats.three_valued import Verdict
from agentmut.store.documents.relation_report import Counts, Finding, RelationReport, RelationRow
from agentmut.store.listing import Listing
from agentmut.store.rows import StoredTrial
from agentmut.usecases.runtime import opened
from tests.relations.engine.conftest import Shop

pytestmark = pytest.mark.whole

SMALL = {"sources": 36, "pairs": 20}


def rows(report: RelationReport) -> dict[str, RelationRow]:
    return {row.relation: row for row in report.rows}


def test_a_violated_relation_fails_with_an_example_and_a_kept_one_passes(shop: Shop) -> None:
    report = check_relations(shop.write(use=["perturbation.upper", "oracle.brief"], shouted_at=0.9))
    found = rows(report)
    assert report.finding is Finding.FAIL
    assert found["perturbation.upper"].finding is Finding.FAIL
    assert found["perturbation.upper"].identity == Counts(violations=0, pairs=15)
    assert found["oracle.brief"].finding is Finding.PASS and found["oracle.brief"].tolerance == 0.1
    example = found["perturbation.upper"].example
    assert example and example.follow_up_input == "HOW MANY ITEMS ARE IN THE COUNT ORDER?"
    assert "99 items" in example.difference
    text = render_relations(report)
    assert "99 items" in text and max(map(len, text.splitlines())) <= 80


def test_an_agent_that_varies_by_itself_is_not_blamed_on_the_change(shop: Shop) -> None:
    found = check_relations(shop.write(own=("Exact",), use=["oracle.exact"], noise=0.25)).rows[0]
    assert found.identity and found.identity.violations > 0
    assert found.finding is not Finding.FAIL


def test_where_the_agent_never_agrees_with_itself_nothing_can_be_said_and_nothing_is_run(shop: Shop) -> None:
    project = shop.write(own=("Exact",), use=["oracle.exact"], scatter=1.0, extra={"relations": SMALL})
    report = check_relations(project)
    assert report.finding is Finding.INCONCLUSIVE
    assert report.rows[0].identity == Counts(violations=12, pairs=12)
    assert "differs from itself too often" in report.rows[0].reason
    assert report.cost.trials == 36  # the source runs alone


def test_what_does_not_fit_is_not_applicable_and_no_pass(shop: Shop) -> None:
    report = check_relations(shop.write(use=["permutation.documents"]))
    assert report.finding is Finding.NOT_APPLICABLE
    assert report.rows[0].reason == "there are no two documents"
    assert report.cost.trials == 0


def test_a_run_that_gives_the_relation_nothing_is_no_pair(shop: Shop) -> None:
    project = shop.write(
        own=("Pedantic",), use=["oracle.pedantic"], noise=0.3, extra={"relations": {"sources": 60}}
    )
    found = check_relations(project).rows[0]
    assert 0 < found.pairs < 30 and found.pairs == found.violations
    assert found.silent.keys() == {"its runs have nothing that the relation could change"}
    assert check_relations(shop.write(own=("Pedantic",), use=["oracle.pedantic"])).finding == "not_applicable"


def test_an_agent_that_raises_only_after_the_change_violates_the_relation(shop: Shop) -> None:
    found = check_relations(shop.write(use=["perturbation.upper"], raises=1.0)).rows[0]
    assert found.finding is Finding.FAIL
    assert found.example and "do not shout" in found.example.difference


def test_a_change_that_never_reached_the_agent_is_no_evidence(shop: Shop) -> None:
    project = shop.write(own=("Cooler",), use=["perturbation.cooler"], extra={"relations": SMALL})
    report = check_relations(project)
    assert report.finding is Finding.NOT_APPLICABLE
    assert report.rows[0].reason == "the change did not reach the agent"


def test_the_same_command_again_runs_nothing_and_says_the_same(shop: Shop) -> None:
    project = shop.write(use=["perturbation.upper", "perturbation.politer"], noise=0.1)
    first, again = check_relations(project), check_relations(project)
    assert first.cost.trials > 0 == again.cost.trials
    assert again.rows == first.rows


def test_worker_processes_find_the_same(shop: Shop) -> None:
    project = shop.write(
        use=["perturbation.upper", "perturbation.politer"], noise=0.1, extra={"relations": SMALL}
    )
    # makes the source runs: only follow-ups are run apart
    check_relations(project, relations=["oracle.brief"])
    execution = project.execution.model_copy(update={"isolate": "process", "concurrency": 1})
    apart = check_relations(project.model_copy(update={"execution": execution}))
    assert apart.cost.trials > 0 and apart.rows == check_relations(project, fresh=True).rows


def test_relations_that_ask_for_the_same_follow_up_share_its_runs(shop: Shop) -> None:
    both = ["perturbation.upper", "perturbation.shouted"]
    one = check_relations(shop.write(own=("Upper",), use=both[:1], extra={"relations": SMALL}), fresh=True)
    two = check_relations(
        shop.write(own=("Upper", "Shouted"), use=both, extra={"relations": SMALL}), fresh=True
    )
    assert one.rows[0].pairs <= two.rows[0].pairs == two.rows[1].pairs
    assert two.cost.trials == 36 + two.rows[0].pairs


def test_asking_again_takes_runs_that_are_no_source_runs(shop: Shop) -> None:
    project = shop.write(own=("Exact",), use=["oracle.exact"], scatter=0.0, extra={"relations": SMALL})
    report = check_relations(project)
    assert report.cost.trials == 36 + report.rows[0].pairs


def test_a_follow_up_may_have_several_runs_each_of_its_own(shop: Shop) -> None:
    project = shop.write(own=("Twice",), use=["composition.twice"], scatter=1.0, extra={"relations": SMALL})
    report = check_relations(project)
    assert report.rows[0].violations == 0 < report.rows[0].pairs  # no run was taken twice
    assert report.cost.trials == 36 + 3 * report.rows[0].pairs


def test_a_budget_stops_it_and_the_next_command_goes_on(shop: Shop) -> None:
    use = ["perturbation.upper", "oracle.brief"]
    tight = check_relations(shop.write(use=use, extra={"budget": {"trials": 47}}))
    assert tight.status == "budget" and tight.cost.trials == 47
    assert rows(tight)["oracle.brief"].finding is Finding.PASS  # it needs no more runs
    project = load_project(shop.folder).model_copy(update={"budget": BudgetSettings()})
    done = check_relations(project)
    assert done.status == "finished" and done.cost.reused == 47
    assert done.finding is Finding.PASS


def test_a_relation_that_raises_is_named_with_its_scenario_and_the_runs_are_kept(shop: Shop) -> None:
    project = shop.write(own=("Broken", "Exact"), use=["oracle.broken"], extra={"relations": SMALL})
    with pytest.raises(RunError, match=r"oracle\.broken on scenario count.*ZeroDivisionError: oops"):
        check_relations(project)
    assert check_relations(project, relations=["oracle.exact"]).cost.reused >= 36


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("lack leaves", r"lack called sys\.exit\(0\)"),
        ("lack is true", r"lack returned True \(bool\); expected why it does not fit"),
        ("follow-up leaves", r"run \d+: follow_up called sys\.exit\(3\)"),
        ("follow-up is a text", r"follow_up returned 'again' \(str\); expected a FollowUp"),
        ("turns are no JSON", "the turns of its follow-up are no JSON"),
    ],
)
def test_nonsense_of_a_relation_of_ones_own_is_an_error_that_names_it(
    shop: Shop, mode: str, said: str
) -> None:
    project = shop.write(own=("Odd",), use=[{"oracle.odd": mode}], extra={"relations": {"sources": 10}})
    with pytest.raises(RunError, match=rf"relation oracle\.odd.* on scenario count.*{said}"):
        check_relations(project)


def test_what_a_relation_raises_from_the_store_is_told_after_the_report_is_written(shop: Shop) -> None:
    project = shop.write(own=("Odd", "Brief"), use=[{"oracle.odd": "follow-up leaves"}, "oracle.brief"])
    check_relations(project, relations=["oracle.brief"])
    written = len([*project.runs.glob("*/relations.json")])
    with pytest.raises(RunError, match=r"relation oracle\.odd.*follow_up called sys\.exit\(3\)"):
        check_relations(project, stored=True)
    assert len([*project.runs.glob("*/relations.json")]) == written + 1


def test_a_relation_that_says_nothing_of_two_unchanged_runs_is_not_applicable(shop: Shop) -> None:
    project = shop.write(
        own=("Silent", "Exact"), use=["oracle.exact", "oracle.silent"], extra={"relations": SMALL}
    )
    report = check_relations(project)
    assert rows(report)["oracle.silent"].finding is Finding.NOT_APPLICABLE
    assert "does not apply to two runs" in rows(report)["oracle.silent"].reason
    assert report.finding is Finding.PASS


def test_asking_again_is_judged_from_stored_runs_alone(shop: Shop) -> None:
    use = ["oracle.brief", "oracle.exact"]
    project = shop.write(own=("Exact", "Brief"), use=use, extra={"relations": {"sources": 50}})
    check_relations(project, relations=["oracle.brief"])
    found = rows(check_relations(project, stored=True))["oracle.exact"]
    assert found.finding is Finding.PASS and found.violations == 0
    assert found.identity == Counts(violations=0, pairs=6)  # of 34 runs; the other pairs are its own


def test_what_is_stored_is_no_fixed_sample(shop: Shop) -> None:
    with pytest.raises(UsageError, match="--against takes counts of fixed samples"):
        check_relations(shop.write(), stored=True, against="v1")


def test_from_the_store_only_what_is_there_is_judged_and_nothing_is_run(shop: Shop) -> None:
    project = shop.write(use=["perturbation.upper", "oracle.brief"], shouted_at=0.9)
    check_relations(project, relations=["oracle.brief"])
    report = check_relations(project, stored=True)
    assert report.cost.trials == 0
    assert rows(report)["oracle.brief"].finding is Finding.PASS
    assert rows(report)["perturbation.upper"].reason == "no follow-up run is stored"
    assert rows(report)["perturbation.upper"].finding is Finding.NOT_APPLICABLE
    ran = check_relations(project)
    assert check_relations(project, stored=True).rows == ran.rows


def test_of_the_store_only_the_runs_that_relations_start_from_are_read(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run of a long conversation is some 100 KiB, and a store has thousands of them."""
    check_relations(shop.write(use=["oracle.brief"], extra={"relations": {"sources": 50}}))
    project = shop.write(use=["oracle.brief"], extra={"relations": {"sources": 10}})
    read: list[StoredTrial] = []
    whole = Listing.some

    def counted(listing: Listing, numbers: Iterable[int]) -> Iterator[StoredTrial]:
        for trial in whole(listing, numbers):
            read.append(trial)
            yield trial

    monkeypatch.setattr(Listing, "some", counted)
    check_relations(project, stored=True)
    assert 0 < len(read) <= (10 + 1) * len({trial.scenario for trial in read})


def test_an_empty_store_has_nothing_to_judge(shop: Shop) -> None:
    with pytest.raises(UsageError, match="nothing in the store can be used: no run of the unchanged agent"):
        check_relations(shop.write(), stored=True)


def test_runs_of_an_earlier_code_are_judged_with_a_note(shop: Shop) -> None:
    check_relations(shop.write(use=["oracle.brief"]))
    report = check_relations(shop.write(use=["oracle.brief"], number=7), stored=True)
    assert report.finding is Finding.PASS
    assert any("is of the current agent (changed: entry, code)" in note for note in report.notes)


def test_follow_up_runs_are_no_runs_of_the_suite(shop: Shop) -> None:
    project = shop.write(use=["perturbation.upper"], extra={"relations": SMALL})
    check_relations(project)
    with opened(project, ()) as (session, store):
        kept, skipped = stored_originals(session, store)
    assert {name: len(trials) for name, trials in kept.items()} == {"count": 36}
    assert not skipped


def test_a_misspelt_relation_is_told_the_nearest_name(shop: Shop) -> None:
    with pytest.raises(UsageError, match=r"Did you mean 'perturbation.upper'"):
        check_relations(shop.write(), relations=["perturbation.uper"])


def test_without_relations_there_is_nothing_to_check(shop: Shop) -> None:
    with pytest.raises(UsageError, match="there is no relation to check"):
        check_relations(shop.write(use=[]))


def test_violations_are_compared_with_those_of_an_earlier_version(shop: Shop) -> None:
    use = ["perturbation.upper"]
    check_relations(shop.write(use=use, shouted_at=0.1), save="v1")
    same = check_relations(shop.write(use=use, shouted_at=0.1, number=11), against="v1")
    worse = check_relations(shop.write(use=use, shouted_at=0.8), against="v1")
    assert same.changed is not Verdict.FAIL and worse.changed is Verdict.FAIL
    assert same.rows[0].pairs == worse.rows[0].pairs == 30  # all of them, whatever was decided before
    change = worse.rows[0].change
    assert change and change.earlier.pairs == 30 and change.verdict is Verdict.FAIL
    assert "worse than 'v1'" in render_relations(worse)
    assert re.search(r"in \d+ of 30 pairs, decided by \d+ of the first \d+;", worse.rows[0].reason)
    other = worse.rows[0].model_copy(update={"measured": {**worse.rows[0].measured, "the scenario": "other"}})
    again = compared(worse, worse.model_copy(update={"rows": (other,)}), "v1", 0.1, 0.2)
    assert again.changed is Verdict.INCONCLUSIVE
    assert (
        again.notes[-1] == "perturbation.upper on count is not compared with 'v1': the scenario changed since"
    )


def test_an_unknown_earlier_version_is_an_error_before_anything_is_run(shop: Shop) -> None:
    with pytest.raises(UsageError, match="there is no saved report 'v9'"):
        check_relations(shop.write(), against="v9")
