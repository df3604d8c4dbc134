"""No proposal speaks of another matter than the changed rule or tool: tried on the agent of a card desk."""

from dataclasses import replace
from typing import Any

import pytest

from agentmut.insight.explain.candidates import candidate
from agentmut.insight.explain.meaning import Meaning, tools_named
from agentmut.insight.explain.occasion import Occasion
from agentmut.insight.explain.sensible import NEAR, grounding, is_sensible
from agentmut.insight.explain.views import View
from agentmut.nouns.mutant import OperatorClass
from agentmut.nouns.trace import Action, AgentTrace, Step

FIND = "Find the account first."
BLOCK = "Lost cards: block the card."
PIN = "Never send a PIN by mail."
FEE = "If a card is replaced, tell the customer that a fee is due."
ORDER = "Travel: order the foreign cash and say when it is ready."
RULES = (FIND, BLOCK, PIN, FEE, ORDER)
TOOLS = {
    "find_account": "Find an account by its number.",
    "block_card": "Block a card at once.",
    "order_foreign_cash": "Order foreign cash at a branch.",
}
LOST = "I have lost my card, account C-12."
RUN = AgentTrace(
    steps=(
        Step(action=Action.CALL_TOOL, tool="find_account", arguments={"number": "C-12"}, output="Owner: Imre Nagy"),
        Step(action=Action.CALL_TOOL, tool="block_card", arguments={"account": "C-12"}, output="Block B-778 is set."),
    ),
    outputs=("Imre Nagy, block B-778 is set.",),
)  # fmt: skip


def sensible(asked: str, rule: str, name: str, argument: Any, *, changed: str = "") -> bool:
    others = tuple(one for one in RULES if one != rule)
    tools = frozenset({changed} - {""})
    texts = tuple(f"{tool} {text}" for tool, text in TOOLS.items())
    meaning = Meaning(
        rule,
        tools,
        frozenset(),
        OperatorClass.TOOL if changed else OperatorClass.PROMPT,
        "\n".join(RULES),
        tuple(TOOLS),
        others,
        texts,
    )
    one = candidate(name, argument, "", 0.5, lambda view: True)
    near = one._replace(grounded=grounding(one.spec, meaning))
    return is_sensible(near, Occasion(meaning, asked, [View(RUN)] * 3))


@pytest.mark.parametrize(
    ("rule", "changed", "name", "argument", "wanted"),
    [
        (BLOCK, "", "tool_called", "block_card", True),
        ("", "block_card", "tool_called", "block_card", True),
        ("", "block_card", "tool_called", "find_account", False),
        (
            "",
            "find_account",
            "tool_called",
            "block_card",
            True,
        ),  # what the user wants, and a lost look-up loses
        (PIN, "", "tool_called", "order_foreign_cash", False),
        ("", "block_card", "states", "B-778", True),
        ("", "find_account", "states", "B-778", False),
        (PIN, "", "states", "B-778", False),
        (BLOCK, "", "states", "B-778", True),
    ],
)
def test_calls_and_data_are_of_the_changed_rule_or_tool(
    rule: str, changed: str, name: str, argument: str, wanted: bool
) -> None:
    assert sensible(LOST, rule, name, argument, changed=changed) is wanted


def test_a_decision_is_proposed_only_where_the_change_bears_on_it() -> None:
    please = "Please block my lost card, account C-12."
    assert sensible(please, "", "decides", "yes", changed="block_card")
    assert sensible("Please send me the PIN by mail.", PIN, "decides", "no")
    assert not sensible(please, PIN, "decides", "yes")
    assert not sensible(please, FEE, "decides", "yes")
    # without the account, nothing is blocked
    assert sensible(please, "", "decides", "yes", changed="find_account")
    assert not sensible("Close account C-12.", "", "decides", "no", changed="find_account")


def test_of_a_result_in_sentences_only_what_is_asked_for_is_proposed() -> None:
    result = "The balance is 80 pounds. The card of Imre Nagy is valid until 2027-05-31."
    call = Step(action=Action.CALL_TOOL, tool="find_account", arguments={}, output=result)
    runs = [View(AgentTrace(steps=(call,), outputs=(result,)))] * 3
    meaning = Meaning(
        "", frozenset({"find_account"}), frozenset(), OperatorClass.TOOL, "", tuple(TOOLS), (), ()
    )
    tools = tuple(f"{tool} {text}" for tool, text in TOOLS.items())
    asked = Occasion(replace(meaning, tool_texts=tools), "What is the balance of my account?", runs)
    assert asked.is_given("80 pounds")
    assert not asked.is_given("2027-05-31")


def test_a_rule_on_an_order_holds_where_the_later_deed_is_spoken_of() -> None:
    rule = "Find the account before blocking the card."
    meaning = Meaning(rule, frozenset(), frozenset(), OperatorClass.PROMPT, rule, tuple(TOOLS), RULES)
    assert Occasion(meaning, "Please block my card.", ()).calls_for(rule)
    assert not Occasion(meaning, "What is the balance of my account?", ()).calls_for(rule)


def test_a_ban_of_a_tool_needs_a_user_who_speaks_of_it() -> None:
    assert sensible("Is my card lost, or can I still use it?", BLOCK, "tool_not_called", "block_card")
    assert not sensible("What is my balance?", BLOCK, "tool_not_called", "block_card")


def test_a_rule_under_a_topic_holds_only_where_the_user_speaks_of_it() -> None:
    meaning = Meaning("", frozenset(), frozenset(), OperatorClass.TOOL, "", tuple(TOOLS), RULES)
    lost = Occasion(meaning, LOST, ())
    assert [rule for rule in RULES if lost.calls_for(rule)] == [FIND, BLOCK, PIN, FEE]
    assert lost.calls_for("Tone: be friendly.")
    assert tools_named(ORDER, TOOLS) == [(8, "order_foreign_cash")]


def test_what_the_rules_say_is_no_figure_where_the_user_says_it_too() -> None:
    rule = "Tell the customer that the card is there within 3 days."
    figure = candidate("states", "3 days", "", 0.5, lambda view: True)._replace(grounded=NEAR)
    for asked, wanted in (("Send a new card.", True), ("Send a new card within 3 days.", False)):
        meaning = Meaning(rule, frozenset(), frozenset(), OperatorClass.PROMPT, rule, tuple(TOOLS))
        assert is_sensible(figure, Occasion(meaning, asked, [View(RUN)])) is wanted
