"""The page of a run shows tools and documents where they are changed, and failed runs of scenarios that fail."""

from agentmut.insight import FailingRuns
from agentmut.nouns.mutant import Status
from agentmut.nouns.mutant_row import TextChange
from agentmut.nouns.result import SourceText, ToolText
from agentmut.report.html import html_report
from agentmut.report.html.annotated import Loss, documents, tools
from agentmut.report.view import Extra
from tests.report.results import SOURCE, result, row
from tests.report.test_html_runs import USER, run

POLICY = "Returns within 30 days.\nGift cards stay.\nSale items too.\n"
GIFT = POLICY.index("Gift")


def changing(id: str, status: Status, start: int) -> object:
    change = TextChange(text=1, start=start, end=len(POLICY), after="")
    return row(id, status, operator="context.truncate", operator_class="context", changes=(change,))


def test_a_document_is_marked_where_changes_are_noticed_and_where_not() -> None:
    rows = (changing("aaaaaaaa", Status.KILLED, 0), changing("bbbbbbbb", Status.SURVIVED, GIFT))
    found = result(*rows, sources=(SOURCE, SourceText(path="policy.md", text=POLICY)))  # type: ignore[arg-type]
    (part,) = documents(found)
    assert part.name == "policy.md"
    marks = [(p.text, p.mark.loss, p.mark.mutant) for p in part.passages if p.mark]
    assert marks == [(POLICY[:GIFT], Loss.NOTICED, "aaaaaaaa"), (POLICY[GIFT:], Loss.UNNOTICED, "bbbbbbbb")]
    assert "".join(p.text for p in part.passages) == POLICY
    page = html_report(found)
    assert "1 not noticed" in page
    assert (
        'href="#mutant-bbbbbbbb" title="At least one change here goes unnoticed. 2 mutants change it, 1 killed."'
        in page
    )


def test_a_tool_has_its_text_its_place_and_its_mutants_and_one_without_mutants_says_so() -> None:
    refund = ToolText(
        name="refund", path="tools.yaml", line=3, description="Pays <b>back</b>.", parameters="{}"
    )
    lost = row(
        "cccccccc", Status.SURVIVED, operator_class="tool", subject="refund", description="remove refund"
    )
    found = result(lost, tools=(refund, ToolText(name="idle")))
    told = [(part.name, part.place, len(part.mutants), part.passages[0].text) for part in tools(found)]
    assert told == [("refund", "tools.yaml:3", 1, "Pays <b>back</b>.\n{}"), ("idle", "", 0, "")]
    page = html_report(found)
    assert "Pays &lt;b&gt;back&lt;/b&gt;." in page
    assert "No mutant of this run changes it." in page


def test_tools_of_results_of_earlier_versions_are_those_that_mutants_change() -> None:
    lost = row("cccccccc", Status.SURVIVED, operator_class="tool", subject="refund")
    assert [(part.name, part.passages[0].text) for part in tools(result(lost))] == [("refund", "")]


def test_a_failing_scenario_has_its_failed_runs_with_the_reasons() -> None:
    failed = run(7, USER, outcome="fail", reason="output lacks '5 <days>'")
    page = html_report(result(), Extra(failing=(FailingRuns(scenario="refund", runs=(failed,), stored=4),)))
    assert "1 failed run of refund" in page
    assert "<strong>Fails:</strong> output lacks &#39;5 &lt;days&gt;&#39;" in page
    assert "<code>agentmut trials refund --failed</code> lists all 4" in page
