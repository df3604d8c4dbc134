"""Which model names mean the same, and which rules of a prompt runs reach."""

from typing import Any

import pytest

from agentmut._base.frozen import digest_of
from agentmut.insight.coverage.context import CoverageContext
from agentmut.insight.coverage.measure import measure
from agentmut.insight.coverage.models import distinct_models, is_model
from agentmut.insight.coverage.nouns import Coverage, Dimension
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.mutant import Intent, OperatorClass, Status
from agentmut.nouns.mutant_row import BehaviourChange, MutantRow, Target
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.project.guidance import CoverageSettings
from agentmut.report.terminal.coverage_page import render_coverage

PROMPT = """# Rules

- Refund damaged parcels at once.
- Never reveal internal notes. Escalate legal threats to the lawyers.
- You must not.
"""
CONFIG = AgentConfig(prompt=PROMPT)


@pytest.mark.parametrize(
    ("target", "answered"),
    [
        ("gpt-5.2", "gpt-5.2-2026-01-01"),
        ("GPT-5.2", "openai/gpt-5.2"),
        ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929"),
        ("claude-sonnet-4-5", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
        ("claude-sonnet-4-5-latest", "claude-sonnet-4-5-20250929"),
        ("gemini-2.5-pro", "models/gemini-2.5-pro"),
        ("gpt-4", "gpt-4-0613"),
        ("mistral-large", "mistral-large-2411"),
    ],
)
def test_a_snapshot_counts_as_the_model_of_its_name(target: str, answered: str) -> None:
    assert is_model(target, answered)


@pytest.mark.parametrize(
    ("target", "answered"),
    [
        ("gpt-5.2", "gpt-5.2-mini"),
        ("gpt-5", "gpt-5.2"),
        ("gpt-5.2-2026-01-01", "gpt-5.2"),
        ("gpt-5.2-2026-01-01", "gpt-5.2-2026-03-01"),
        ("llama-3", "llama-3-70b"),
    ],
)
def test_another_model_does_not_count(target: str, answered: str) -> None:
    assert not is_model(target, answered)


def test_spellings_of_one_model_are_one_target() -> None:
    assert distinct_models(["gpt-5.2", "", "openai/GPT-5.2", "o3"]) == ("gpt-5.2", "o3")


def answered(text: str, *tools: str) -> AgentTrace:
    steps = (Step(action=Action.CALL_TOOL, tool=tool, arguments={"why": "none"}) for tool in tools)
    return AgentTrace(steps=tuple(steps), outputs=(text,))


def scenario(*turns: str) -> Scenario:
    return Scenario(name="one", turns=turns, evaluators=(EvaluatorSpec(name="contains", argument="x"),))


def measured(*traces: AgentTrace, turns: tuple[str, ...] = ("Hello",), **beside: Any) -> Coverage:
    return measure(
        {"one": traces}, CONFIG, CoverageSettings(), CoverageContext(scenarios=(scenario(*turns),), **beside)
    )


def test_a_rule_is_reached_by_the_words_of_a_turn_its_answer_and_its_calls() -> None:
    # "Refund damaged parcels at once": stems refund, damag, parcel
    coverage = measured(answered("I am sorry.", "issue_refund"), turns=("My parcel came damaged.",))
    rule = coverage.rules[0]
    assert (str(rule.item), rule.reach, rule.scenario) == ("rule prompt:3", 1.0, "one")
    assert [item.name for item in coverage.covered if item.dimension is Dimension.RULE] == ["prompt:3"]
    assert measured(answered("A parcel?")).rules[0].reach == pytest.approx(1 / 3)


def test_words_of_different_turns_and_runs_are_not_put_together() -> None:
    turns = ("The parcel", "was damaged", "refund")
    coverage = measured(AgentTrace(outputs=("a", "b", "c")), turns=turns)
    assert coverage.rules[0].reach == pytest.approx(1 / 3)
    assert measured(answered("parcel"), answered("damaged")).rules[0].reach == pytest.approx(1 / 3)


def test_rules_are_told_by_file_and_line_and_the_second_of_a_line_by_its_column() -> None:
    names = [row.item.name for row in measured(answered("x")).rules]
    assert names == ["prompt:3", "prompt:4", "prompt:4:32", "prompt:5"]


def test_a_rule_without_content_words_is_left_out() -> None:
    coverage = measured(answered("x"))
    assert coverage.of(Dimension.RULE).total == 3
    assert any(each.what == "rule prompt:5" for each in coverage.left_out)


def row(status: Status, before: str, line: int | None = None, **more: Any) -> MutantRow:
    fields: dict[str, Any] = {
        "id": digest_of(before)[:8],
        "operator": "prompt.drop_instruction",
        "class": OperatorClass.PROMPT,
        "intent": Intent.DEGRADE,
        "target": Target(path="prompt", line=line),
        "after": "",
        "description": "",
    }
    return MutantRow.model_validate({**fields, "status": status, "before": before, **more})


def test_a_survivor_whose_behaviour_was_not_compared_is_not_said_to_be_silent() -> None:
    """As with `store: {texts: none}`."""
    coverage = measured(answered("x"), mutants=(row(Status.SURVIVED, "Never reveal internal notes. ", 4),))
    assert [rule.ablation for rule in coverage.rules] == ["", "uncompared", "", ""]
    assert coverage.of(Dimension.ABLATION).covered == 0
    page = " ".join(render_coverage(coverage).split())
    assert "was not noticed" not in page
    assert "For 1 rule, behaviour without the rule was not compared" in page


def test_ablation_shows_rules_apart_from_words() -> None:
    moved = BehaviourChange(changed=True, p=0.001)
    rows = (
        row(Status.KILLED, "- Refund damaged parcels at once.\n", 3, killed_by=("one",)),
        row(Status.SURVIVED, "Never reveal internal notes. ", 4, behaviour=moved),
        row(
            Status.SURVIVED,
            "Escalate legal threats to the lawyers.",
            4,
            behaviour=BehaviourChange(changed=False, p=1),
        ),
        row(Status.UNDECIDED, "You must not.", 5),
    )
    coverage = measured(answered("x"), mutants=rows)
    assert [rule.ablation for rule in coverage.rules] == ["killed", "changed", "silent", ""]
    assert "was not noticed" in " ".join(render_coverage(coverage).split())
    ablation = coverage.of(Dimension.ABLATION)
    assert (ablation.covered, ablation.total) == (2, 3)
    assert [str(i) for i in coverage.uncovered if i.dimension is Dimension.ABLATION] == [
        "ablation prompt:4:32"
    ]
    assert coverage.of(Dimension.RULE).covered == 0
    assert [i.name for i in coverage.scenarios[0].alone if i.dimension is Dimension.ABLATION] == ["prompt:3"]


def test_without_a_result_or_a_decision_ablation_says_why() -> None:
    assert "agentmut run" in measured(answered("x")).of(Dimension.ABLATION).basis
    assert "decided" in measured(answered("x"), mutants=()).of(Dimension.ABLATION).basis


def test_a_prompt_without_rules_has_no_instruction_coverage() -> None:
    coverage = measure({"one": [answered("x")]}, AgentConfig(), CoverageSettings())
    assert coverage.of(Dimension.RULE).value is None
