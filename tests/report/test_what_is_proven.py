"""Grades, p-values and ruled-out drops in the reports; results of earlier versions have none."""

import pytest

from agentmut.insight.explain.gaps import visible_changes
from agentmut.nouns import Intent, Score, Status
from agentmut.report.files.markdown import markdown_report
from agentmut.report.html.page import html_report
from agentmut.report.proof_wording import group_score, proof, proven
from agentmut.report.terminal.mutant_page import render_mutant
from agentmut.report.terminal.run_page import render
from agentmut.report.terminal.summary_page import render_summary
from tests.report.results import result, row

RULE = {"alpha": 0.05, "beta": 0.1, "delta": 0.2}


@pytest.mark.parametrize(
    ("score", "words"),
    [
        (Score(value=0.25, low=0, high=0.75, killed=1, survived=3, moderate=1), "1 of 4 (moderate)"),
        (Score(value=0.75, low=0, high=1, killed=3, survived=1, certain=2, strong=1), "3 of 4 (strong)"),
        (Score(value=0, low=0, high=1, survived=2), "0 of 2"),
        (Score(value=1, low=0, high=1, killed=1, undecided=1), "1 of 2"),  # of an earlier version: no grade
        (Score(value=0.8, low=0.4, high=1, killed=4, no_coverage=1), "0.80 [0.40, 1.00]"),
        (Score(value=None, low=None, high=None), "n/a"),
        (Score(value=None, low=0, high=1, undecided=5, not_drawn=2), "none of 7 decided"),
        (Score(value=None, low=0, high=1, undecided=2, untestable=2), "none of 4 decided"),
        (Score(value=None, low=0, high=1, untestable=4), "4 untestable"),
    ],
)
def test_fewer_than_five_mutants_are_counted_and_get_no_interval(score: Score, words: str) -> None:
    assert group_score(score) == words


def test_the_ends_of_the_interval_are_said_in_mutants() -> None:
    score = Score(
        value=0.5,
        low=0.4,
        high=0.6,
        killed=15,
        survived=12,
        certain=11,
        strong=2,
        moderate=2,
        false_kills=3,
        missed=2,
    )
    grades, ends = proven(score, RULE)
    assert grades == "Kills: 11 certain, 2 strong, 2 moderate."
    assert ends == (
        "At most 3 of 15 kills may be false, and at most 2 of 12 survivors may hide a drop of 0.2 or more "
        "(97.5 % each)."
    )
    assert list(proven(Score(value=0.5, low=0.4, high=0.6, killed=15, survived=12), RULE)) == []
    sure = Score(value=1, low=1, high=1, killed=9, certain=9, false_kills=0, missed=0)
    assert list(proven(sure, RULE)) == ["Kills: 9 certain.", "No kill is false (97.5 % each)."]


def test_a_certain_kill_among_those_that_may_be_false_is_explained() -> None:
    one = Score(value=0.5, low=0, high=0.5, killed=1, survived=1, certain=1, false_kills=1, missed=0)
    assert list(proven(one, RULE))[-1].startswith(
        "Certain kills may be among these: the grade holds with 95 %"
    )
    beside = one.model_copy(update={"killed": 2, "moderate": 1})
    assert not any(line.startswith("Certain kills may") for line in proven(beside, RULE))


def test_every_kill_shows_its_grade_and_every_survivor_its_drop() -> None:
    killed = row("k1", Status.KILLED, grade="strong", p_value=0.00359)
    survived = row("s1", Status.SURVIVED, ruled_out=0.2)
    found = result(killed, survived, rule=RULE)
    assert proof(killed, RULE) == (
        "The kill is strong: an unchanged mutant is killed on evidence as strong with chance 0.0036 at most."
    )
    assert proof(survived, RULE) == (
        "Every scenario that it was tried on rules out a drop of 0.2 or more, each with confidence 0.9."
    )
    assert "The kill is strong" in " ".join(render_mutant(found, killed).split())
    assert "rules out a drop of 0.2" in " ".join(render_mutant(found, survived).split())
    assert "Survivors: no scenario that they were tried on dropped by 0.2 or more." in render(found)
    mixed = result(survived, row("s2", Status.SURVIVED, ruled_out=0.5), rule=RULE)
    assert "(20 runs, no drop of 0.5)" in render(mixed)
    assert "(20 runs, no drop of 0.2)" in render(mixed)
    assert "no drop of 0.2 or more" in markdown_report(found)
    page = html_report(found)
    assert "The kill is strong" in page
    assert "rules out a drop of 0.2 or more" in page


def test_a_result_of_an_earlier_version_says_nothing_of_it() -> None:
    old = [row("k1", Status.KILLED), row("s1", Status.SURVIVED)]
    assert [proof(one, RULE) for one in old] == ["", ""]
    text = render(result(*old, rule=RULE))
    assert "Kills:" not in text
    assert "may be false" not in text
    assert "no drop of" not in text
    assert "dropped by" not in text


def test_the_second_figure_counts_mutants_that_visibly_change_behaviour() -> None:
    rows = (
        row("k1", Status.KILLED),
        row("k2", Status.KILLED),
        row("k3", Status.KILLED, parts=("a", "b")),  # of second order: its parts are counted
        row("s1", Status.SURVIVED, gap="assertion"),
        row("s2", Status.SURVIVED, gap="scenario"),  # behaves as before
        row("s3", Status.SURVIVED, gap="unknown"),
        row("n1", Status.NO_COVERAGE, gap="scenario"),
        row("h1", Status.KILLED, intent=Intent.PRESERVE),
    )
    seen = visible_changes(rows)
    assert (seen.noticed, seen.unnoticed, seen.unknown) == (2, 1, 1)
    found = result(*rows).model_copy(update={"visible_changes": seen})
    said = (
        "Of 3 mutants that visibly changed behaviour, the suite noticed 2 (0.67); "
        "whether 1 more changed it is unknown."
    )
    for text in (render(found), markdown_report(found), html_report(found), render_summary(found)):
        assert said in " ".join(text.split())
    assert "visibly changed" not in render(result(row("s2", Status.SURVIVED, gap="scenario")))


def test_runs_that_confirmed_kills_are_told_with_the_baseline_that_they_are_a_part_of() -> None:
    found = result(row("k1", Status.KILLED))
    told = "7 runs of the original confirmed kills; the rounds for smaller drops count them, too."
    beside = tuple(each.model_copy(update={"beside": 7}) for each in found.baseline)
    with_them = found.model_copy(update={"baseline": beside})
    for shown in (
        render(with_them),
        render_mutant(with_them, with_them.mutants[0]),
        markdown_report(with_them),
    ):
        assert told in " ".join(shown.split())
    assert told in html_report(with_them)
    assert "confirmed kills" not in render(found) + markdown_report(found) + html_report(found)


def test_reports_count_untestable_mutants_where_there_are_any() -> None:
    score = Score(value=0.75, low=0.2, high=1, killed=3, survived=1, untestable=2)
    found = result(row("k1", Status.KILLED), classes={"tool": score}, score=score)
    assert "untestable" in render(found) and "2 untestable." in markdown_report(found)
    assert ">Untestable</th>" in html_report(found)
    without = result(row("k1", Status.KILLED))
    assert ">Untestable</th>" not in html_report(without)


def test_the_share_of_scenarios_that_may_have_a_drop_is_in_percent() -> None:
    sampled = row("s1", Status.SURVIVED, ruled_out=0.2, reached=30, may_have_drop=5)
    assert "at most 17 % of all have such a drop (95 %)." in proof(sampled, RULE)
