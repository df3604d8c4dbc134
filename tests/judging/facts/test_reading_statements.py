"""Statements: what is affirmed and what is denied, and which contradiction makes a difference."""

import pytest

from agentmut.judging.facts.comparison import comparison_for
from agentmut.judging.facts.registry import build_extractor
from agentmut.language.extractors.statements import Statements
from agentmut.language.vocabulary.predicates import statements
from agentmut.nouns.fact import Extractor
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import Action, AgentTrace, Step

SCENARIO = Scenario(name="one", turns=("hi",), evaluators=(EvaluatorSpec(name="contains", argument="a"),))


def run(answer: str) -> AgentTrace:
    return AgentTrace(outputs=(answer,))


def difference(extractor: Extractor, one: AgentTrace, other: AgentTrace) -> str:
    assert isinstance(extractor, Statements)
    return extractor.difference(SCENARIO, one, other)


def contradicts(one: str, other: str) -> bool:
    return difference(build_extractor(EvaluatorSpec(name="statements")), run(one), run(other)) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Your order has shipped.", "Your order has not shipped."),
        ("It has been shipped.", "It hasn't been shipped yet."),
        ("It was shipped.", "It has not yet been shipped."),
        ("It was shipped.", "It was never shipped."),
        ("The plan includes export.", "The plan does not include export."),
        ("The plan includes export.", "The plan excludes export."),
        ("We are open on Sundays.", "We are closed on Sundays."),
        ("It is in stock.", "It is out of stock."),
        ("Shipping is free.", "Shipping is not free."),
        ("You will receive a refund.", "You will not receive a refund."),
        ("You will receive a refund.", "You will receive no refund."),
        ("You get your money back.", "You don't get your money back."),
        ("You must pay the fee.", "You need not pay the fee."),
        ("Correct.", "Incorrect."),
        ("approved: true", "approved: false"),
        ("We are able to ship it.", "We are unable to ship it."),
        ("It is refundable.", "It is non-refundable."),
    ],
)
def test_the_contrary_is_a_contradiction_either_way_round(one: str, other: str) -> None:
    assert contradicts(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Your order has not shipped.", "Your order has shipped."),
        ("It hasn't been shipped yet.", "It has been shipped."),
        ("The plan does not include export.", "The plan includes export."),
        ("You don't get your money back.", "You get your money back."),
    ],
)
def test_what_was_denied_and_is_affirmed_is_a_contradiction(one: str, other: str) -> None:
    assert contradicts(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Your order has shipped.", "Your order is on its way, no problem!"),
        ("You will not receive a refund.", "You will receive no refund."),
        ("Your order can't be refunded.", "Refund: declined."),
        ("It can't be refunded.", "Your refund is refused."),
        ("We are not unable to ship it.", "We are able to ship it."),
        ("It is not closed.", "It is open."),
        ("It has shipped.", "It has shipped. If it has not shipped, ask. Has it not shipped?"),
        ("It was shipped; a refund is on the way.", "It was shipped. No further questions."),
    ],
)
def test_other_words_courtesies_questions_and_conditions_contradict_nothing(one: str, other: str) -> None:
    assert not contradicts(one, other)


def test_of_a_clause_with_a_negation_only_what_it_denies_counts() -> None:
    assert [(one.written, one.holds) for one in statements("Order A-1 was not shipped and not packed.")] == [
        ("shipped", False),
        ("packed", False),
    ]


SAID = ["Order A-1042 has shipped.", "A-1042 was shipped already.", "Good news: A-1042 is on its way!"]


def test_beside_a_stable_id_a_negated_answer_makes_a_difference() -> None:
    found = comparison_for(SCENARIO, [run(SAID[i % 3]) for i in range(20)])
    assert found.kinds == ("statements", "ids")
    assert found.differences(SCENARIO, run(SAID[0]), run(SAID[2])) == ()
    assert found.differences(SCENARIO, run(SAID[2]), run("A-1042 has not shipped.")) == (
        "'shipped' is denied only in the follow-up",
    )


def test_an_agent_that_says_both_by_itself_is_not_held_to_either() -> None:
    both = [run(f"A-1042 has {'not ' if i % 4 else ''}shipped.") for i in range(20)]
    assert comparison_for(SCENARIO, both).differences(SCENARIO, both[0], both[1]) == ()


def test_what_few_runs_say_is_no_measure_where_runs_contradict_one_another_in_such_words() -> None:
    words = ["ship", "bill", "pack", "weigh", "track"]
    runs = [run(f"We {word} it.") for word in words for _ in range(4)]
    calm = Statements().calibrated(SCENARIO, tuple(runs))
    assert difference(calm, runs[0], run("We do not bill it.")) == "'bill' is denied only in the follow-up"
    odd = [run("We do not ship it."), run("We do not bill it."), run("We do not pack it.")]
    loud = Statements().calibrated(SCENARIO, (*runs, *odd))
    assert difference(loud, runs[0], run("We do not track it.")) == ""
    assert isinstance(loud, Statements) and not loud.says_something


def test_long_texts_that_go_to_tools_are_read_too() -> None:
    def mailed(body: str) -> AgentTrace:
        return AgentTrace(
            steps=(Step(action=Action.CALL_TOOL, tool="mail", arguments={"body": body}),), outputs=("Sent.",)
        )

    one, other = mailed("Please send it to the card."), mailed("Please do not send it to the card.")
    assert comparison_for(SCENARIO).differences(SCENARIO, one, other) == (
        "'send' is denied to mail only in the follow-up",
    )
