"""Tests, comparisons and checks of relations as JUnit, Markdown and HTML: each outcome in its place, texts as text."""

from xml.etree import ElementTree as ET

import pytest

from agentmut.campaign import ScenarioRuns, reliability_of
from agentmut.nouns import AgentSummary, Bounds, Cost, Expectation, Family, Score
from agentmut.report.files.outcome_files import outcomes_as
from agentmut.report.files.verdicts_markdown import verdicts_markdown
from agentmut.report.terminal.verdicts_page import render_verdicts
from agentmut.store import (
    ComparedMutants,
    Counts,
    Finding,
    RelationKill,
    RelationReport,
    RelationRow,
    ScenarioVerdict,
    SurvivorsReport,
    VerdictReport,
    Violation,
)
from tests.report.test_html_report import EVIL

AGENT = AgentSummary(adapter="python", digest="d" * 64, name="desk:run")
FIXED: dict[str, str | float] = {"method": "fixed", "beta": 0.1, "margin": 0.1, "delta": 0.1, "trials": 4}
COST = Cost(trials=60, baseline_trials=0, tokens=0, usd=0.5, seconds=12.5)
RATE = Bounds(estimate=0.9, low=0.8, high=0.95, level=0.95, n=30, method="wilson")


def verdict(name: str, said: str, **fields: object) -> ScenarioVerdict:
    given = {
        "scenario": name, "verdict": said, "reason": f"because of {name}", "passes": 27, "trials": 30,
        "threshold": 0.8, "interval": RATE, "p_fail": 0.5, "p_adjusted": 0.5, "needed": None, "method": "sprt",
    }  # fmt: skip
    return ScenarioVerdict.model_validate(given | fields)


def assessed(*rows: ScenarioVerdict, **fields: object) -> VerdictReport:
    given = {
        "agentmut_version": "0.2", "kind": "test", "run_id": "20260101-000000-abcd", "status": "finished", "seed": 1,
        "agent": AGENT, "verdict": "FAIL", "reason": "one scenario fails", "family": "scenarios",
        "correction": "holm", "alpha": 0.05, "scenarios": rows, "cost": COST, "notes": ("a note",),
    }  # fmt: skip
    return VerdictReport.model_validate(given | fields)


def relation(scenario: str, finding: Finding, difference: str = "") -> RelationRow:
    example = Violation(
        repeat=0, change="order", source_input="a", source_output="b", follow_up_input="c", follow_up_output="d",
        difference=difference,
    )  # fmt: skip
    return RelationRow(
        relation="oracle.format", family=Family.ORACLE, expectation=Expectation.INVARIANT, scenario=scenario,
        finding=finding, reason=f"as {scenario} shows", violations=9, pairs=10, interval=RATE,
        example=example if difference else None,
    )  # fmt: skip


def related(*rows: RelationRow, status: str = "finished") -> RelationReport:
    return RelationReport(
        agentmut_version="0.2", run_id="20260101-000000-abcd", status=status, seed=1, agent=AGENT,
        finding=Finding.FAIL, reason="a relation is violated", alpha=0.05, family="relations", relations=(), rows=rows,
        cost=COST,
    )  # fmt: skip


def test_timeouts_are_told_apart_from_other_failures() -> None:
    late = verdict(
        "refund", "FAIL", passes=20, outcomes={"pass": 20, "fail": 5, "timeout": 5},
        in_time=Bounds(estimate=0.8, low=0.61, high=0.91, level=0.95, n=25, method="wilson"),
    )  # fmt: skip
    said = "5 runs timed out and count as failures; of the 25 that ended in time 0.80 [0.61, 0.91] passed"
    page = render_verdicts(assessed(late, settings={"method": "fixed", "trials": 30}))
    assert said in " ".join(page.split())
    for format in ("junit", "html"):
        assert said in outcomes_as(assessed(late), format)
    none = verdict("refund", "FAIL", outcomes={"timeout": 30}, in_time=RATE.model_copy(update={"n": 0}))
    assert "none ended in time" in outcomes_as(assessed(none), "junit")
    assert "timed out" not in outcomes_as(assessed(verdict("refund", "FAIL")), "junit")


THREE = assessed(
    verdict("refund", "PASS"),
    verdict("greeting", "FAIL", passes=3, failure="no hello"),
    verdict("thanks", "INCONCLUSIVE"),
)


def cases(text: str) -> list[tuple[str, str, str]]:
    """Return name, tag and text of each test case."""
    found = []
    for case in ET.fromstring(text).iter("testcase"):
        inner = next(iter(case), ET.Element(""))
        found.append((case.get("name", ""), inner.tag, inner.text or ""))
    return found


def test_junit_has_a_case_for_each_scenario_and_counts_them() -> None:
    text = outcomes_as(THREE, "junit")
    assert cases(text) == [("refund", "", ""), ("greeting", "failure", "no hello"), ("thanks", "skipped", "")]
    suite = ET.fromstring(text)[0]
    counts = [suite.get(name) for name in ("name", "tests", "failures", "errors", "skipped", "time")]
    assert counts == ["agentmut.test", "3", "1", "0", "1", "12.500"]


def test_an_unfinished_run_is_an_error_in_junit_so_that_nothing_looks_green() -> None:
    text = outcomes_as(assessed(status="budget", verdict="INCONCLUSIVE"), "junit")
    assert cases(text) == [("the run is finished", "error", "")]
    assert ET.fromstring(text)[0].get("errors") == "1"


def test_relations_are_cases_and_what_says_nothing_is_skipped() -> None:
    found = related(
        relation("refund", Finding.FAIL, "60 days, not 30"),
        relation("greeting", Finding.PASS),
        relation("thanks", Finding.NOT_APPLICABLE),
    )
    assert cases(outcomes_as(found, "junit")) == [
        ("oracle.format on refund", "failure", "60 days, not 30"),
        ("oracle.format on greeting", "", ""),
        ("oracle.format on thanks", "skipped", ""),
    ]


def test_markdown_of_relations_has_a_table_and_the_failures() -> None:
    text = outcomes_as(related(relation("refund", Finding.FAIL, "60 days, not 30")), "markdown")
    assert text.startswith("## Metamorphic relations: FAIL\n")
    assert "| `oracle.format on refund` | 9/10 | 0.90 [0.80, 0.95] | FAIL |" in text
    assert "- `oracle.format on refund`: `60 days, not 30`" in text
    assert "agent desk:run" in text


SURVIVORS = SurvivorsReport(
    agentmut_version="0.2", run_id="20260102-000000-abcd", campaign="20260101-000000-abcd", status="finished",
    survivors=3, tried=2, score=Score(value=0.5, low=0.3, high=0.7), score_with_relations=None, cost=COST,
    kills=(
        RelationKill(
            mutant="aaaa", operator="prompt.drop_instruction", relation="oracle.format", scenario="refund",
            violations=9, pairs=10, original=Counts(violations=0, pairs=40),
            example=relation("refund", Finding.FAIL, "60 days, not 30").example,
        ),
    ),
    compared=(ComparedMutants(relation="oracle.format", scenario="refund", mutants=("aaaa", "bbbb"), measured={}),),
)  # fmt: skip


def test_a_check_of_survivors_has_a_row_for_each_kill_and_for_each_mutant_that_still_lives() -> None:
    alive = "1 comparison: no relation is violated more often than by the unchanged agent"
    killed = "aaaa prompt.drop_instruction: oracle.format on refund"
    junit = outcomes_as(SURVIVORS, "junit")
    assert cases(junit) == [(killed, "", ""), ("bbbb", "failure", "")]
    assert ET.fromstring(junit.encode())[0].find("testcase/failure").get("message") == alive  # type: ignore[union-attr]
    markdown = outcomes_as(SURVIVORS, "markdown")
    assert markdown.startswith(
        "## Relations on survivors: 1 of 3 killed\n\n`2 compared; the mutation score is "
    )
    assert f"| `{killed}` | 9/10 | 0/40 | killed |\n| `bbbb` | - | - | survived |" in markdown
    assert f"**Kills**\n\n- `{killed}`: `60 days, not 30`" in markdown
    page = outcomes_as(SURVIVORS, "html")
    assert "A violation: 60 days, not 30" in page and alive in page
    assert page.count('class="badge s-killed"') == page.count('class="badge s-survived"') == 1


def test_the_page_of_a_test_has_each_row_its_reason_and_its_failure() -> None:
    page = outcomes_as(THREE, "html")
    assert "<title>Test of the agent: FAIL · agentmut</title>" in page
    assert page.count("<tr>") == 4
    assert "A failure: no hello" in page and "because of greeting" in page
    assert "because of refund" not in page  # what passes needs no reason
    assert '<td class="num">3/30</td><td class="num">0.8</td>' in page
    assert "not finished" not in page
    assert "The run is not finished (budget)" in outcomes_as(assessed(status="budget"), "html")


@pytest.mark.parametrize("format", ["html", "junit", "markdown"])
def test_texts_of_models_stay_text(format: str) -> None:
    report = assessed(
        verdict(EVIL, "FAIL", reason=EVIL, failure=EVIL * 500), reason=EVIL, notes=(EVIL,), problem=EVIL
    )
    text = outcomes_as(report, format)
    assert "\x1b" not in text and "\u202e" not in text and len(text) < 40_000
    if format == "junit":
        assert len(cases(text)) == 1
    elif format == "html":
        assert "<img" not in text and "<script>alert" not in text


def test_a_test_has_its_reliability_in_every_format() -> None:
    """Two scenarios of four runs: 2 of 4 passed, so pass^2 is (1/6 + 1) / 2 and its plug-in (1/4 + 1) / 2."""
    runs = [
        ScenarioRuns("refund", 2, 4, (True, False, True, False)),
        ScenarioRuns("cancel", 4, 4, (True,) * 4),
    ]
    report = assessed(
        verdict("refund", "FAIL"), verdict("cancel", "PASS"), reliability=reliability_of(runs), settings=FIXED
    )
    for page in (render_verdicts(report), outcomes_as(report, "html"), verdicts_markdown(report)):
        plain = " ".join(page.replace("`", "").split())
        assert "The chance that all of k runs of a scenario pass (pass^k): 0.583" in plain
        assert "From observed rates alone, pass^k is 2: 0.625" in plain
        assert (
            "refund: decay curve 100, 25, 6 % after 1, 2, 4 runs, variance "
            "amplification 100, graceful degradation 40" in plain
        )
    suite = ET.fromstring(outcomes_as(report, "junit").encode())[0]
    told = {each.get("name"): each.get("value") for each in suite.iterfind("properties/property")}
    assert (told["agentmut.reliability.pass_hat_2"], told["agentmut.reliability.flaky"]) == ("0.583333", "1")
    assert told["agentmut.reliability.pass_hat_plug_in_2"] == "0.625"
    own = {each.get("name"): each.get("value") for each in suite[1].iterfind("properties/property")}
    assert own["agentmut.reliability.decay_curve"] == "100 25 29 6"
