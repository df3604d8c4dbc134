"""The page says of which project, agent and day it speaks; its figures agree; each thing stands there once."""

import re

import pytest

from agentmut.nouns import AgentSummary, Effect, Intent, Score, Status
from agentmut.report.html import html_report
from agentmut.report.html.page_head import card_title, head_of
from agentmut.report.html.page_sections import kinds_of_changes, score_groups
from agentmut.report.view import Extra
from tests.report.test_html_report import KILLED, result, row

BUILT = AgentSummary(adapter="langgraph", digest="d" * 64, name="desk.agent:build")


def test_title_and_header_name_project_agent_and_day() -> None:
    page = html_report(result(agent=BUILT), Extra(project="desk"))
    wanted = "desk · desk.agent:build (langgraph) · 2026-01-01 00:00 UTC · agentmut"
    assert f"<title>{wanted}</title>" in page
    header = re.sub("<[^>]*>", "", page[page.index('class="over">') :][13:].partition("</p>")[0])
    assert header.startswith(
        "desk · desk.agent:build (langgraph) · 2026-01-01 00:00 UTC · run 20260101-000000-abcd"
    )


@pytest.mark.parametrize("run", ["large", "20269999-999999-abcd", ""])
def test_a_run_without_a_day_and_a_project_without_a_name_are_left_out(run: str) -> None:
    assert head_of(result(run_id=run), "").title == "python agent · agentmut"


def test_a_card_is_headed_by_the_rule_that_is_lost_else_by_what_is_done() -> None:
    dropped = row("a", before="- Never   guess.\n", effect=Effect.DROPS_RULE)
    assert card_title(dropped) == "Lost: Never guess."
    long = card_title(row("a", before="x" * 500, effect=Effect.DROPS_RULE))
    assert long == f"Lost: {'x' * 140}…"
    other = row("a", operator="tool.remove", description="remove the tool pay", effect=Effect.DROPS_TOOL)
    assert card_title(other) == "Remove the tool pay"
    assert ">Lost: Never guess.</a>" in html_report(result(dropped))


def test_harmful_harmless_and_paired_changes_are_counted_apart() -> None:
    rows = (
        KILLED,
        row("a"),
        row("b", Status.NO_COVERAGE),
        row("c", intent=Intent.PRESERVE),
        row("d", parts=("a", "b"), operator_class="higher_order"),
    )
    found = [(kind.name, [(status.value, n) for status, n in kind.counts]) for kind in kinds_of_changes(rows)]
    assert found == [
        ("Harmful", [("killed", 1), ("survived", 1), ("no_coverage", 1)]),
        ("Harmless by intent", [("survived", 1)]),
        ("Two at once", [("survived", 1)]),
    ]
    assert [kind.name for kind in kinds_of_changes(rows[:2])] == ["Harmful"]


ONE = Score(value=1.0, low=0.5, high=1.0, killed=1)
BOTH = Score(value=0.5, low=0.25, high=0.75, killed=1, survived=1)


def score_rows(classes: dict[str, Score], operators: dict[str, Score]) -> list[tuple[str, list[str]]]:
    rows = (row(f"m{number}", operator=name) for number, name in enumerate(operators))
    groups = score_groups(result(*rows, classes=classes, operators=operators))
    return [(group.head.name, [line.name for line in group.operators]) for group in groups]


def test_a_class_of_one_operator_stands_there_once() -> None:
    operators = {"prompt.drop_instruction": BOTH, "prompt.change_number": ONE, "model.downgrade": ONE}
    assert score_rows({"prompt": BOTH, "model": ONE}, operators) == [
        ("prompt", ["prompt.drop_instruction", "prompt.change_number"]),
        ("model.downgrade", []),
    ]


def test_a_class_with_another_score_than_its_only_operator_keeps_its_row() -> None:
    assert score_rows({"model": BOTH}, {"model.downgrade": ONE}) == [("model", ["model.downgrade"])]
