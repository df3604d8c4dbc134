"""Tokens and money of model judges, and the kinds of facts that were compared, in reports on relations."""

from types import SimpleNamespace
from typing import Any

import pytest

from agentmut.judging.facts.answer_judge import Judge
from agentmut.judging.facts.comparison import Comparison
from agentmut.nouns.mutant import Intent, Status
from agentmut.nouns.result import HookUse, JudgeUse
from agentmut.nouns.trace import Usage
from agentmut.relating.judges import judges_of
from agentmut.report.report_wording import judged_with
from agentmut.report.terminal.relations_page import render_relations
from agentmut.usecases.relations import check_relations
from agentmut.usecases.suggestions import _without_proposal
from tests.relations.engine.conftest import Shop


def lane(*judges: Judge) -> Any:
    return SimpleNamespace(subject=SimpleNamespace(material=SimpleNamespace(comparison=Comparison(judges))))


def judge(model: str, tokens: tuple[int, int]) -> Judge:
    made = Judge({"model": model})
    made.usage = Usage(input_tokens=tokens[0], output_tokens=tokens[1])
    return made


def test_a_judge_that_two_lanes_share_is_counted_once_at_the_price_of_the_project(shop: Shop) -> None:
    project = shop.write(extra={"budget": {"prices": {"ours": {"input": 2.0, "output": 10.0}}}})
    shared, own = judge("openai:ours", (1000, 100)), judge("openai:ours", (500, 0))
    found = judges_of([lane(shared), lane(shared), lane(own, judge("openai:idle", (0, 0)))], project)
    assert found == (JudgeUse(model="openai:ours", input_tokens=1500, output_tokens=100, usd=0.004),)
    hook = HookUse(model="ours", requests=3, input_tokens=20, output_tokens=5, usd=None)
    report: Any = SimpleNamespace(judges=found, cost=SimpleNamespace(hooks=(hook,)))
    assert list(judged_with(report)) == [
        "judge openai:ours: 1600 tokens, $0.0040, in addition to the agent's runs",
        "setup and teardown asked ours: 3 requests, 25 tokens, cost unknown, apart from the agent's runs",
    ]


def test_the_cost_of_a_judge_without_a_price_is_unknown(shop: Shop) -> None:
    (found,) = judges_of([lane(judge("openai:nobody-knows", (10, 5)))], shop.write())
    assert (found.input_tokens, found.output_tokens, found.usd) == (10, 5, None)


@pytest.mark.whole
def test_a_report_names_the_kinds_that_agreement_rests_on(shop: Shop) -> None:
    small = {"relations": {"sources": 15, "pairs": 5}}
    report = check_relations(shop.write(use=["perturbation.upper", "oracle.brief"], extra=small))
    compared = {row.relation: row.compared for row in report.rows}
    assert "numbers" in compared["perturbation.upper"]
    assert compared["oracle.brief"] == ()
    assert f"compared on count: {', '.join(compared['perturbation.upper'])}" in " ".join(
        render_relations(report).split()
    )


def test_survivors_that_should_not_matter_are_not_counted_among_those_without_a_proposal() -> None:
    rows = [
        SimpleNamespace(id="a", status=Status.SURVIVED, intent=Intent.DEGRADE, gap="scenario"),
        SimpleNamespace(id="b", status=Status.SURVIVED, intent=Intent.PRESERVE, gap=None),
        SimpleNamespace(id="c", status=Status.KILLED, intent=Intent.DEGRADE, gap=None),
    ]
    result: Any = SimpleNamespace(mutants=rows)
    (note,) = _without_proposal(result, ())
    assert note.startswith("1 of 1 survivors: ")
