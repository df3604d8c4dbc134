"""What changed between two results, and whether they can be compared."""

import json

from agentmut.nouns.mutant import Intent, Status
from agentmut.nouns.result import AgentSummary, Cost, Result
from agentmut.nouns.result_figures import Score
from agentmut.report.builtin_formats import json_text
from agentmut.report.files.markdown import LONGEST
from agentmut.report.run_comparison import markdown_comparison, render_comparison
from agentmut.store.documents.comparison import Comparison, compare_results
from tests.report.results import result, row

EVIL = "\x1b[31m\u202e<script>@octocat``` |"
OLD = result(
    row("lost", Status.KILLED),
    row("won", Status.SURVIVED),
    row("same", Status.KILLED),
    row("open", Status.UNDECIDED),
    row("gone", Status.SURVIVED),
    row("harmless", Status.SURVIVED, intent=Intent.PRESERVE),
)
NEW = result(
    row("lost", Status.NO_COVERAGE),
    row("won", Status.KILLED),
    row("same", Status.KILLED),
    row("open", Status.KILLED),
    row("new", Status.KILLED),
    row("harmless", Status.KILLED, intent=Intent.PRESERVE),
    run_id="r2",
    cost=Cost(trials=100, baseline_trials=50, tokens=99, usd=None, seconds=3),
)


def ids(found: Comparison, kind: str) -> list[str]:
    return [change.id for change in getattr(found, kind)]


def test_each_mutant_is_in_the_list_of_what_became_of_it() -> None:
    found = compare_results(OLD, NEW)
    assert ids(found, "newly_unnoticed") == ["lost"]
    assert ids(found, "newly_killed") == ["won"]
    assert ids(found, "newly_brittle") == ["harmless"]
    assert ids(found, "changed_otherwise") == ["open"]
    assert ids(found, "appeared") == ["new"]
    assert ids(found, "gone") == ["gone"]
    assert not found.unfair


def test_only_mutants_that_both_decided_are_compared_with_themselves() -> None:
    found = compare_results(OLD, NEW).in_common
    assert (found.mutants, found.killed_old, found.killed_new) == (3, 2, 2)  # lost, won, same
    assert (found.newly_killed, found.newly_unnoticed, found.p) == (1, 1, 1.0)


def test_ten_more_kills_and_none_fewer_are_hardly_chance() -> None:
    old = result(*(row(f"m{n}", Status.SURVIVED) for n in range(10)))
    new = result(*(row(f"m{n}", Status.KILLED) for n in range(10)))
    assert compare_results(old, new).in_common.p == 2 * 0.5**10  # exact McNemar, by hand


def test_a_difference_within_both_intervals_is_marked() -> None:
    def scored(low: float, value: float, high: float) -> Result:
        return result(score=Score(value=value, low=low, high=high))

    near = compare_results(scored(0.2, 0.4, 0.6), scored(0.3, 0.5, 0.7)).scores[0]
    far = compare_results(scored(0.2, 0.3, 0.4), scored(0.5, 0.6, 0.7)).scores[0]
    assert (near.difference, near.overlap) == (0.1, True)
    assert (far.difference, far.overlap) == (0.3, False)


def test_a_class_that_only_one_has_is_shown_without_a_difference() -> None:
    old = result(classes={})
    found = {score.name: score for score in compare_results(old, NEW).scores}
    assert found["prompt"].old is None
    assert found["prompt"].difference is None


def test_what_makes_the_comparison_unfair_is_said() -> None:
    other = NEW.model_copy(
        update={
            "seed": 9,
            "status": "budget",
            "agent": AgentSummary(adapter="langgraph", digest="e" * 64),
            "baseline": (NEW.baseline[0].model_copy(update={"scenario": "other"}),),
            "rule": {**NEW.rule, "delta": 0.3},
            "agentmut_version": "9",
        }
    )
    said = " ".join(compare_results(OLD, other).unfair)
    for part in ("seeds differ (1, now 9)", "not finished (budget)", "eeeeeeeeeeee", "python, now langgraph",
                 "new: other", "gone: refund", "delta 0.2, now 0.3", "versions of agentmut"):  # fmt: skip
        assert part in said
    moved = NEW.model_copy(update={"baseline": (NEW.baseline[0].model_copy(update={"threshold": 0.5}),)})
    assert compare_results(OLD, moved).unfair == ("Thresholds differ on refund.",)


def test_the_text_begins_with_what_got_worse_and_ends_with_the_cost() -> None:
    text = render_comparison(compare_results(OLD, NEW))
    order = [
        text.index(part)
        for part in ("from run r1 to run r2", "No longer noticed", "Newly brittle", "Newly noticed", "Cost")
    ]
    assert order == sorted(order)
    assert "killed before, no coverage now" in text
    assert "cost unknown" in text
    assert max(map(len, text.splitlines())) <= 80


def test_markdown_shows_what_got_worse_and_folds_the_rest() -> None:
    text = markdown_comparison(compare_results(OLD, NEW))
    assert "### No longer noticed: killed before (1)" in text
    assert "<details><summary>Newly noticed: killed now (1)</summary>" in text


def test_new_survivors_are_shown_apart_from_other_new_mutants() -> None:
    appeared = (
        row("unseen", Status.SURVIVED),
        row("far", Status.NO_COVERAGE),
        row("killed", Status.KILLED),
        row("safe", Status.SURVIVED, intent=Intent.PRESERVE),
    )
    text = markdown_comparison(compare_results(OLD, result(*OLD.mutants, *appeared, run_id="r2")))
    survivors = text[text.index("### New survivors") : text.index("<summary>Other new mutants (2)</summary>")]
    assert "### New survivors: mutants that the older run does not have (2)" in text
    assert "unseen" in survivors and "far" in survivors
    assert "`killed`" not in survivors and "`safe`" not in survivors


def test_hostile_texts_are_clean_and_thousands_of_mutants_fit() -> None:
    rows = [row(f"{n}{EVIL}", Status.KILLED, before=EVIL * 100, description=EVIL * 100) for n in range(2000)]
    evil = result(*rows, run_id=EVIL, status=EVIL, classes={EVIL: OLD.score})
    found = compare_results(OLD, evil)
    for text in (render_comparison(found), markdown_comparison(found), json_text(found)):
        assert "\x1b" not in text
        assert "\u202e" not in text
    text = markdown_comparison(found)
    assert len(text.encode()) <= LONGEST
    assert "more are left out" in text


def test_as_json_it_is_read_again() -> None:
    found = compare_results(OLD, NEW)
    assert Comparison.model_validate(json.loads(json_text(found))) == found
