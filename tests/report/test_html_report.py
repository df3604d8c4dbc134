"""The HTML report holds what result.json says, loads nothing, and lets nothing that a model wrote become markup."""

import base64
import hashlib
import json
import re
from typing import Any

import pytest

from agentmut.insight.coverage.nouns import Coverage, Dimension, DimensionCoverage
from agentmut.nouns.mutant import Status
from agentmut.nouns.mutant_row import Evidence, MutantRow, Target, TextChange
from agentmut.nouns.result import BaselineRow, Cost, DecisionTable, PromptRule, Result, SourceText
from agentmut.nouns.result_figures import Bounds, CiNoticed, CiRed, CiRun, Score
from agentmut.report.html import html_report
from agentmut.report.html.annotated import Loss, annotated, tally
from agentmut.report.html.inline import Kind, diff_of, word_diff
from agentmut.report.html.page_sections import savings, scenario_lines
from agentmut.report.view import Extra
from tests.report import results

PROMPT = "# Desk\n\n- Never guess.\n- Refund within 30 days.\n- Be polite.\n"
RULES = ("Never guess.", "Refund within 30 days.", "Be polite.")
EVIL = (
    "ok\x1b[31m\x07\u202ekcatta\u200b</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    "<!-- ]]> &amp; {{ 7*7 }} javascript:alert(3) \ud800 \x00"
)


def rule(text: str, line: int, *mutants: str) -> PromptRule:
    start = PROMPT.index(text)
    return PromptRule(start=start, end=start + len(text), line=line, mutants=mutants)


def change(old: str, new: str) -> TextChange:
    start = PROMPT.index(old)
    return TextChange(text=0, start=start, end=start + len(old), after=new)


def row(id: str, status: Status = Status.SURVIVED, **fields: object) -> MutantRow:
    tried = Evidence(
        scenario="refund", trials=11, failures=1, decision="survived", outcomes="00100000000", table=0
    )
    given: dict[str, object] = {
        "target": Target(path="prompt.md", line=3, column=1),
        "before": "- Never guess.\n",
        "changes": (change("- Never guess.\n", ""),),
        "evidence": (tried,),
        "killed_by": (),
        "trials": 11,
        "gap": "unknown",
    }
    return results.row(id, status, **(given | fields))


KILLED = row(
    "bbbb0002",
    Status.KILLED,
    operator="prompt.change_number",
    target=Target(path="prompt.md", line=4, column=1),
    before="30",
    after="60",
    changes=(change("30", "60"),),
    killed_by=("refund",),
    evidence=(
        Evidence(scenario="refund", trials=3, failures=2, decision="killed", outcomes="011", table=0,
                 failure="stated 60 days"),
        Evidence(scenario="greeting", trials=2, failures=0, decision="continue", outcomes="00", table=0),
    ),
    trials=5,
    gap=None,
)  # fmt: skip


def result(*rows: MutantRow, **fields: object) -> Result:
    score = Score(value=0.5, low=0.25, high=0.75, killed=1, survived=1)
    bounds = Bounds(estimate=0.92, low=0.81, high=0.97, level=0.95, n=50, method="wilson")
    given: dict[str, object] = {
        "run_id": "20260101-000000-abcd",
        "baseline": tuple(
            BaselineRow(
                scenario=name, trials=50, passes=46, rate=0.92, interval=bounds, threshold=0.8, testable=True
            )
            for name in ("refund", "greeting")
        ),
        "score": score,
        "classes": {"prompt": score},
        "operators": {"prompt.drop_instruction": score, "prompt.change_number": score},
        "cost": Cost(trials=116, baseline_trials=100, tokens=1_000, usd=1.5, seconds=12),
        "sources": (
            SourceText(
                path="prompt.md",
                line=1,
                text=PROMPT,
                rules=(rule(RULES[0], 3, "aaaa0001"), rule(RULES[1], 4, "bbbb0002"), rule(RULES[2], 5)),
            ),
        ),
        "decision_tables": (
            DecisionTable(
                f0=4,
                n0=50,
                alpha=0.025,
                kill_at=(1, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3),
                survive_at=(*[-1] * 11, 1),
                log_evidence=((0.0,), (-0.3, 1.2), (-0.6, 0.9), (-0.8, 0.6, 3.1), *[(-1.0, 0.5, 2.0)] * 8),
            ),
        ),
    }
    return results.result(*(rows or (KILLED, row("aaaa0001"))), **(given | fields))


def data(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def pieces(text: str) -> list[tuple[str, str]]:
    return [
        (kind.value, said)
        for kind, said in diff_of(row("x", changes=(change(text, ""),)), result().sources, 99)
    ]


def test_only_the_words_that_differ_are_marked() -> None:
    found = [
        (p.kind.value, p.text) for p in word_diff("Never issue a refund.", "Always issue a full refund.")
    ]
    assert found == [
        ("-", "Never"), ("+", "Always"), ("=", " issue a"), ("+", " full"), ("=", " refund."),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after"), [("a b c", "a x c"), ("", "new"), ("gone", ""), ("x\ny", "x\n\ny")]
)
def test_both_texts_can_be_read_off_a_diff(before: str, after: str) -> None:
    found = list(word_diff(before, after))
    assert "".join(p.text for p in found if p.kind is not Kind.NEW) == before
    assert "".join(p.text for p in found if p.kind is not Kind.GONE) == after


def test_a_change_within_a_line_is_shown_with_its_line() -> None:
    shown = diff_of(KILLED, result().sources, 200)
    assert [(kind.value, said) for kind, said in shown] == [
        ("=", "- Refund within "), ("-", "30"), ("+", "60"), ("=", " days."),
    ]  # fmt: skip


def test_a_lost_line_is_shown_between_its_neighbours() -> None:
    assert pieces("- Refund within 30 days.\n") == [
        ("=", "- Never guess.\n"), ("-", "- Refund within 30 days.\n"), ("=", "- Be polite."),
    ]  # fmt: skip


def test_rules_are_marked_by_whether_their_loss_is_noticed() -> None:
    dropped = row("bbbb0002", Status.KILLED, changes=(change(RULES[1], ""),), killed_by=("refund",))
    path, passages = annotated(result(row("aaaa0001"), dropped))
    marks = [(p.text, p.mark.loss, p.mark.mutant) for p in passages if p.mark]
    assert path == "prompt.md"
    assert marks == [
        (RULES[0], Loss.UNNOTICED, "aaaa0001"),
        (RULES[1], Loss.NOTICED, "bbbb0002"),
        (RULES[2], Loss.UNTRIED, ""),
    ]
    assert "".join(p.text for p in passages) == PROMPT
    assert tally(passages) == {Loss.NOTICED: 1, Loss.UNNOTICED: 1, Loss.OPEN: 0, Loss.UNTRIED: 1}


def test_a_change_of_a_number_says_nothing_of_the_loss_of_its_rule() -> None:
    marks = [p.mark for p in annotated(result())[1] if p.mark]
    assert marks[1].loss is Loss.UNTRIED


def test_results_of_earlier_versions_are_shown_without_prompt_and_paths() -> None:
    old = row(
        "aaaa0001", changes=(), evidence=(Evidence(scenario="refund", trials=3, failures=0, decision="x"),)
    )
    page = html_report(result(old, sources=(), decision_tables=()))
    assert "did not keep the prompt" in page
    assert "did not keep the order of trials" in page
    assert [p.text for p in annotated(result(old, sources=()))[1]] == ["- Never guess.\n"]


def test_savings_are_against_the_most_trials_on_every_scenario_tried() -> None:
    found = savings(result())
    assert found is not None
    assert (found.used, found.fixed) == (16, 300)
    assert found.share == pytest.approx(1 - 16 / 300)


def test_a_scenario_counts_the_kills_that_no_other_makes() -> None:
    refund, greeting = scenario_lines(result())
    assert (refund.killed, refund.alone, refund.tried, refund.usual) == (1, 1, 2, 7)
    assert (greeting.killed, greeting.alone, greeting.tried) == (0, 0, 1)


def test_the_data_has_the_trials_that_failed() -> None:
    found = data(html_report(result()))
    killed = next(each for each in found["mutants"] if each["id"] == "bbbb0002")
    assert killed["ev"][0][:4] == [0, 3, 2, "killed"]
    assert killed["ev"][0][6] == [2, 3]
    assert found["tables"][0]["low"] == [0] * 12


def test_survivors_come_first() -> None:
    assert [each["id"] for each in data(html_report(result()))["mutants"]] == ["aaaa0001", "bbbb0002"]


def test_the_policy_admits_the_one_style_and_the_one_script_alone() -> None:
    page = html_report(result())
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    rules = policy[1].replace("&#39;", "'")
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)
    assert style
    assert script
    for name, text in (("style-src", style[1]), ("script-src", script[1])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}';" in rules
    assert rules.startswith("default-src 'none';")
    assert "unsafe" not in rules


def test_the_page_names_no_address_and_no_handler() -> None:
    page = html_report(result())
    plain = page.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|//[a-z]+\.[a-z]|@import|url\(", plain)
    assert not re.search(r"<[^>]*\s(on\w+|style)=", page[: page.index("<script")])


def hostile() -> Result:
    many = "</script>" * 120_000
    evidence = Evidence(
        scenario=EVIL, trials=3, failures=2, decision=EVIL, failure=EVIL + many, outcomes="011", table=0
    )
    rows = (
        row(EVIL, operator=EVIL, before=EVIL + many, after=EVIL, changes=(), description=EVIL, reason=EVIL,
            evidence=(evidence,), target=Target(path=EVIL, line=1), group=EVIL),
        row("aaaa0001", Status.KILLED, killed_by=(EVIL,), killed_by_relations=(EVIL,), subsumed_by=EVIL),
    )  # fmt: skip
    base = result()
    return base.model_copy(
        update={
            "mutants": rows,
            "run_id": EVIL,
            "problem": EVIL + many,
            "notes": (EVIL,),
            "operators": {EVIL: base.score},
            "classes": {EVIL: base.score},
            "baseline": tuple(
                b.model_copy(update={"scenario": EVIL, "reason": EVIL}) for b in base.baseline[:1]
            ),
            "sources": (
                SourceText(path=EVIL, text=EVIL, rules=(PromptRule(start=0, end=2, mutants=("aaaa0001",)),)),
            ),
        }
    )


def test_what_a_model_wrote_stays_text() -> None:
    page = html_report(hostile())
    assert page.count("<script") == 2
    assert page.count("</script>") == 2
    assert "<img" not in page
    assert "49" not in re.sub(r"sha256-[^']*", "", page[page.index("<h1") : page.index("</h1>")])
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", page
    )
    assert len(page.encode()) < 400_000  # of several megabytes that were put in
    assert data(page)["mutants"][0]["id"].startswith("ok?[31m??kcatta?</script>")


def test_coverage_is_drawn_where_it_was_measured() -> None:
    found = tuple(
        DimensionCoverage(dimension=each, covered=3, total=4, value=0.75, basis="")
        for each in (Dimension.TOOL, Dimension.PATH, Dimension.STATE)
    )
    page = html_report(
        result(), Extra(coverage=Coverage(overall=0.75, dimensions=found, covered=(), uncovered=(), traces=9))
    )
    assert 'aria-label="Coverage by dimension: tool 0.75, path 0.75, state 0.75"' in page
    assert "Not measured for this run" in html_report(result())


def test_a_narrowed_report_keeps_the_scores_and_the_prompt_of_the_whole_run() -> None:
    page = html_report(result(), listed=frozenset({"bbbb0002"}))
    assert [each["id"] for each in data(page)["mutants"]] == ["bbbb0002"]
    assert "1 of 2. Scores, prompt and scenarios are those of the whole run." in page
    assert "The suite misses 1 of 2 harmful changes" in page
    assert 'class="rule l-unnoticed"' in page


def test_the_table_of_ci_runs_says_what_it_leaves_out() -> None:
    alarm = CiRed(runs=1, value=0.1, low=0.0, high=0.2)
    killed = CiNoticed(mutants=1, left_out=2, let_through=0, mean_red=1.0)
    survived = CiNoticed(mutants=0, let_through=0, mean_red=None)
    run = CiRun(runs=1, left_out=1, false_alarm=alarm, killed=killed, survived=survived)
    page = html_report(result(ci=(run,)))
    assert "2 killed mutants without enough runs after the kill: left out here." in page
    assert "1 scenario without a run that says anything: left out here." in page
    nothing = run.model_copy(update={"left_out": 0, "killed": survived})
    assert "left out here" not in html_report(result(ci=(nothing,)))
