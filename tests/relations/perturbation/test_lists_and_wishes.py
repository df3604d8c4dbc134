"""Which lists, limits and tools the relations on narrower and wider requests take, and what they make of them."""

import random

import pytest

from agentmut.judging.facts.comparison import comparison_for
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.mutant import apply_edits
from agentmut.nouns.relation import FollowUp, Pair, Source
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Action, AgentTrace, Check, Step
from agentmut.seams.plugins import load

ANY = (EvaluatorSpec(name="regex", argument="."),)
LISTED = "Over the limit are A-1001, A-1002 and A-1003."


def followed(name: str, asked: str, said: str = LISTED) -> tuple[Source, FollowUp | None]:
    scenario = Scenario(name="s", turns=(asked,), evaluators=ANY)
    source = Source(scenario, AgentConfig(), AgentTrace(outputs=(said,)), random.Random(1))
    return source, load("relations", f"perturbation.{name}")(None).follow_up(source)


def judged(name: str, asked: str, after: str, said: str = LISTED) -> Check | None:
    source, follow = followed(name, asked, said)
    assert follow is not None
    comparison = comparison_for(source.scenario)
    pair = Pair(
        source.scenario, source.config, source.trace, follow, (AgentTrace(outputs=(after,)),), comparison
    )
    found: Check | None = load("relations", f"perturbation.{name}")(None).holds(pair)
    return found


@pytest.mark.parametrize(("asked", "stricter"), [
    ("Which orders are over 50 euros?", "Which orders are over 100 euros?"),
    ("List all orders under $25.", "List all orders under $12.50."),
    ("Show me the orders of more than 10 kg.", "Show me the orders of more than 20 kg."),
    ("Find the hotels within 3 km of the station.", "Find the hotels within 1.50 km of the station."),
    ("Which orders are older than 30 days?", "Which orders are older than 60 days?"),
])  # fmt: skip
def test_a_limit_with_a_unit_becomes_stricter(asked: str, stricter: str) -> None:
    _, follow = followed("stricter_limit", asked)
    assert follow is not None
    assert follow.runs[0].turns == (stricter,)


@pytest.mark.parametrize("asked", [
    "List at most 3 orders.",
    "Which orders are over 50 euros and under 90 euros?",
    "Refund what is over 50 euros.",
    "Which orders are over 1,500 euros?",
    "Which orders are over 0 euros?",
])  # fmt: skip
def test_other_limits_stay(asked: str) -> None:
    assert followed("stricter_limit", asked)[1] is None


def test_a_choice_under_a_limit_is_left_alone() -> None:
    scenario = Scenario(name="s", turns=("Which is the cheapest order over 50 euros?",), evaluators=ANY)
    assert "choice" in load("relations", "perturbation.stricter_limit")(None).lack(scenario, AgentConfig())


def test_a_thing_that_the_answer_keeps_out_by_name_is_not_new() -> None:
    asked = "Which orders are over 50 euros?"
    kept_out = judged("stricter_limit", asked, "A-1002 is over 100 euros. A-1009 is not.")
    let_in = judged("stricter_limit", asked, "A-1002 and A-1009 are over 100 euros.")
    assert kept_out is not None
    assert kept_out.passed
    assert let_in is not None
    assert not let_in.passed
    assert "A-1009 is new" in let_in.reason.upper().replace("IS NEW", "is new")


def test_a_list_of_two_has_nothing_to_leave_out() -> None:
    assert followed("left_out", "Which orders are open?", "A-1001 and A-1002.")[1] is None


def test_a_further_wish_may_bring_facts_and_may_lose_none() -> None:
    asked, told = "What does a card cost?", "A card costs 5 euros."
    more = judged("further_wish", asked, "A card costs 5 euros. I open accounts within 14 days.", told)
    other = judged("further_wish", asked, "A card costs 9 euros. I open accounts within 14 days.", told)
    assert more is not None
    assert more.passed
    assert other is not None
    assert not other.passed


def test_a_further_wish_says_nothing_where_whole_texts_are_compared() -> None:
    source, follow = followed("further_wish", "Tell me a story.", "Once upon a time there was a fox.")
    assert follow is not None
    by_text = comparison_for(
        source.scenario, compare=(EvaluatorSpec(name="text", argument={"threshold": 0.1}),)
    )
    after = (AgentTrace(outputs=("Once there was a fox. I can also sing.",)),)
    pair = Pair(source.scenario, source.config, source.trace, follow, after, by_text)
    assert load("relations", "perturbation.further_wish")(None).holds(pair) is None


def test_answers_for_programs_get_no_further_wish() -> None:
    assert followed("further_wish", "Give me the price as JSON.", '{"price": 5}')[1] is None


def test_only_results_of_a_tool_that_was_called_get_an_order() -> None:
    config = AgentConfig(tools=(ToolSpec(name="refund"), ToolSpec(name="lookup")))
    scenario = Scenario(name="s", turns=("Where is A-1001?",), evaluators=ANY)
    relation = load("relations", "perturbation.order_in_result")(None)
    called = AgentTrace(
        steps=(Step(action=Action.CALL_TOOL, tool="lookup", output="ok"),), outputs=("Here.",)
    )
    follow = relation.follow_up(Source(scenario, config, called, random.Random(1)))
    changed = apply_edits(config, follow.runs[0].edits)
    assert changed.tools[0].fault is None
    assert changed.tools[1].fault is not None
    assert changed.tools[1].fault.kind == "with_order"
    silent = AgentTrace(outputs=("Here.",))
    assert relation.follow_up(Source(scenario, config, silent, random.Random(1))) is None
