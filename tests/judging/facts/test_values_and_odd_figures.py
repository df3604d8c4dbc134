"""Values of arguments and fields, and figures that are easily taken for others."""

from typing import Any

import pytest

from agentmut.judging.facts.comparison import comparison_for
from agentmut.language.extractors.figures import figures
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import Action, AgentTrace, Step

SCENARIO = Scenario(name="one", turns=("hi",), evaluators=(EvaluatorSpec(name="contains", argument="a"),))


def called(value: Any) -> AgentTrace:
    return AgentTrace(
        steps=(Step(action=Action.CALL_TOOL, tool="book", arguments={"x": value}),), outputs=("ok",)
    )


def answered(output: Any) -> AgentTrace:
    return AgentTrace(outputs=(output,))


def differ(one: AgentTrace, other: AgentTrace) -> bool:
    return comparison_for(SCENARIO).differences(SCENARIO, one, other) != ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2026-03-03T10:00", "2026-03-03T11:00"),
        ("3 March 10:00", "3 March 11:00"),
        ("before 2026-03-03", "after 2026-03-03"),
        ("not 2026-03-03", "2026-03-03"),
        ("0042", "42"),
        ([{"id": 1, "n": 2}, {"id": 2, "n": 3}], [{"id": 1, "n": 3}, {"id": 2, "n": 2}]),
    ],
)
def test_another_value_of_an_argument_makes_a_difference(one: Any, other: Any) -> None:
    assert differ(called(one), called(other))
    assert differ(answered({"x": one}), answered({"x": other}))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2026-03-03", "3 March 2026"),
        ("2026-03-03T10:00", "March 3rd, 2026 10:00"),
        ("2026-03-03T00:00:00Z", "2026-03-03"),
        ("Tue, 3 March", "March 3rd"),
        ("before 3 March", "before March 3rd"),
        ([{"id": 1, "n": 2}, {"id": 2, "n": 3}], [{"n": 3, "id": 2}, {"n": 2, "id": 1}]),
    ],
)
def test_the_same_value_in_another_notation_makes_none(one: Any, other: Any) -> None:
    assert not differ(called(one), called(other))
    assert not differ(answered({"x": one}), answered({"x": other}))


def test_a_structured_answer_is_read_value_by_value_and_the_order_of_a_list_makes_no_difference() -> None:
    found = comparison_for(SCENARIO, [answered([1, 2, 3])] * 20)
    assert found.differences(SCENARIO, answered([1, 2, 3]), answered([3, 2, 1])) == ()
    # no fields: a footnote
    assert found.differences(SCENARIO, answered([1, 2, 3]), answered("[3, 2, 1]")) != ()
    assert found.differences(SCENARIO, answered([1, 2, 3]), answered([1, 2, 4])) != ()
    assert not differ(answered('[{"n": 1}, {"n": 2}]'), answered([{"n": 2}, {"n": 1}]))


def test_another_day_of_the_week_is_news_where_the_agent_names_one() -> None:
    found = comparison_for(SCENARIO, [answered("It arrives on Monday for $5.")] * 10)
    assert found.differences(SCENARIO, answered("On Monday, $5."), answered("On Tuesday, $5.")) != ()
    silent = comparison_for(SCENARIO, [answered("It costs $5.")] * 10)
    assert silent.differences(SCENARIO, answered("$5."), answered("$5, see you on Monday.")) == ()


def test_days_of_the_week_and_version_numbers_are_facts() -> None:
    assert figures("It arrives on Monday.").dates == {"Monday"}
    assert figures("on Tuesday, 3 March, or Tuesday the 3rd of March").dates == {"3 March"}
    assert figures("from v1.2.3 to 1.2.4, of 3.3.2026").ids == {"1.2.3", "1.2.4"}
    assert figures("1.200.000 euros").ids == set()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("You have 3 open orders.", "There are three open orders."),
        ("It costs $0.50.", "It costs 50 cents."),
        ("It costs £0.05", "five pence"),
    ],
)  # fmt: skip
def test_one_number_said_in_two_ways_is_one_number(one: str, other: str) -> None:
    assert figures(one).numbers == figures(other).numbers != set()


@pytest.mark.parametrize("text", ["one of them", "two of us", "three is enough", "One more thing"])
def test_a_number_in_words_that_counts_nothing_is_no_fact(text: str) -> None:
    assert figures(text).numbers == set()
