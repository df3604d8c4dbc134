"""Nothing is proposed that the original does against its prompt or the user's words: tried on the agent of a mover."""

from typing import Any

import pytest
from pydantic import JsonValue

from agentmut.insight.explain.bounds import is_missed
from agentmut.insight.explain.candidates import candidate
from agentmut.insight.explain.meaning import Meaning, meaning_of
from agentmut.insight.explain.misplaced import is_misplaced
from agentmut.insight.explain.occasion import Occasion
from agentmut.insight.explain.rule_candidates import of_rule
from agentmut.insight.explain.sensible import NEAR, is_sensible
from agentmut.insight.explain.views import View
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.mutant import Intent, Mutant, OperatorClass, Reach
from agentmut.nouns.trace import Action, AgentTrace, Step

ASKED = "Please quote a move of 12 boxes. The distance is 80 miles. Offer number OF-5."
BAN = "Never send a quote when the customer gives a distance."
CHECKED = "Never send a quote before checking the distance."
LARGE = "If the move has more than 30 boxes, send a surveyor and mention a survey."
NAMES = ("boxes", "miles", "offer_number", "survey_number")


def quoted(boxes: int, miles: int) -> tuple[View, ...]:
    call = Step(
        action=Action.CALL_TOOL,
        tool="send_quote",
        arguments={"boxes": boxes, "miles": miles},
        output={"price": "960 dollars"},
    )
    return (View(AgentTrace(steps=(call,), outputs=("It is 960 dollars.",))),) * 3


def sensible(
    name: str,
    argument: Any,
    *,
    rule: str = "",
    other: str = "",
    runs: tuple[View, ...] | None = None,
    near: int = NEAR,
) -> bool:
    names = ("send_quote", "send_surveyor")
    tools = frozenset() if rule else frozenset({"send_quote"})
    prompt, rest = f"{rule}{other}", (other,) if other else ()
    of = OperatorClass.PROMPT if rule else OperatorClass.TOOL
    meaning = Meaning(rule, tools, frozenset(), of, prompt, names, rest, names)
    one = candidate(name, argument, "", 0.5, lambda view: True)._replace(grounded=NEAR)
    return is_sensible(one, Occasion(meaning, ASKED, quoted(12, 80) if runs is None else runs))


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("boxes", 12, False),
        ("boxes", 80, True),  # the user says miles
        ("miles", 12, True),
        ("miles", 80.0, False),
        ("offer_number", "OF-5", False),
        ("survey_number", "OF-5", True),
        ("city", "OF-5", True),
        ("boxes", 7, False),  # the user does not say it
    ],
)
def test_a_value_is_misplaced_where_the_user_gives_it_for_another_parameter(
    name: str, value: Any, wanted: bool
) -> None:
    assert is_misplaced(name, value, ASKED, NAMES) is wanted


def test_no_call_with_a_misplaced_value_and_none_of_its_data_is_proposed() -> None:
    right, wrong = quoted(12, 80), quoted(80, 12)
    for runs, boxes, wanted in ((right, 12, True), (wrong, 80, False)):
        made = {"tool": "send_quote", "arguments": {"boxes": boxes}}
        assert sensible("tool_called_with", made, runs=runs) is wanted
        assert sensible("states", "960 dollars", runs=runs) is wanted
        assert sensible("tool_called", "send_quote", runs=runs)


def test_a_call_that_a_rule_forbids_here_is_not_asked_for() -> None:
    assert sensible("tool_called", "send_quote")
    assert not sensible("tool_called", "send_quote", other=BAN)
    assert sensible("tool_called", "send_quote", other=CHECKED), "checked first, it is allowed"
    assert sensible("tool_not_called", "send_quote", other=BAN)


@pytest.mark.parametrize(
    ("condition", "said", "wanted"),
    [
        ("the move has more than 30 boxes", ASKED, True),
        ("the move has more than 10 boxes", ASKED, False),
        ("the move has fewer than 10 boxes", ASKED, True),
        ("there are more than 30 rooms", ASKED, False),  # the user gives no rooms
        ("mehr als 80 Kubikmeter", "Es sind 45 Kubikmeter und 120 Kilometer.", True),
        ("more than 30 boxes", "12 boxes today and 45 boxes tomorrow", False),
    ],
)
def test_a_bound_is_missed_where_the_users_numbers_are_on_the_other_side(
    condition: str, said: str, wanted: bool
) -> None:
    assert is_missed(condition, said) is wanted


def test_a_rule_whose_bound_is_missed_demands_nothing_and_bans_its_tool() -> None:
    assert not sensible("contains", "survey", rule=LARGE)
    assert not sensible("tool_called", "send_surveyor", rule=LARGE)
    assert sensible("tool_not_called", "send_surveyor", rule=LARGE)


def test_a_sentence_that_is_added_to_the_prompt_bears_on_no_decision() -> None:
    for of, wanted in ((OperatorClass.PROMPT, False), (OperatorClass.MODEL, True)):
        meaning = Meaning("", frozenset(), frozenset(), of, "", ("send_quote",), (), ("send_quote",))
        one = candidate("decides", "yes", "", 0.5, lambda view: True)
        assert is_sensible(one, Occasion(meaning, ASKED, quoted(12, 80))) is wanted


def test_an_option_is_refused_where_the_user_names_another_one() -> None:
    options = (("cause", ("theft", "storm", "water")),)
    tools = frozenset({"file_claim"})
    for asked, cause, wanted in (
        ("File a claim for theft.", "storm", False),
        ("File a claim for theft.", "theft", True),
        ("File a claim for a pipe that burst.", "water", True),  # no option is named: the agent has to tell
        ("File a claim: it was a storm, or theft.", "theft", True),
    ):
        meaning = Meaning(
            "",
            tools,
            frozenset(),
            OperatorClass.TOOL,
            "",
            ("file_claim",),
            (),
            ("file_claim",),
            options=options,
        )
        argument: JsonValue = {"tool": "file_claim", "arguments": {"cause": cause}}
        one = candidate("tool_called_with", argument, "", 0.5, lambda view: True)
        assert is_sensible(one._replace(grounded=NEAR), Occasion(meaning, asked, ())) is wanted, asked


def test_a_figure_answers_the_question_and_not_the_words_around_it() -> None:
    result = "Patient W-3 weighs 14 kg. The next vaccination is due on 2026-03-04."
    call = Step(action=Action.CALL_TOOL, tool="find_patient", arguments={}, output=result)
    runs = (View(AgentTrace(steps=(call,), outputs=(result,))),) * 3
    meaning = Meaning(
        "",
        frozenset({"find_patient"}),
        frozenset(),
        OperatorClass.TOOL,
        "",
        ("find_patient",),
        (),
        ("find_patient",),
    )
    for asked, figure, wanted in (
        ("When is the next vaccination due? It is about patient W-3.", "2026-03-04", True),
        ("When is the next vaccination due? It is about patient W-3.", "14 kg", False),
        ("Who gives the next vaccination?", "2026-03-04", False),
    ):
        one = candidate("states", figure, "", 0.5, lambda view: True)
        assert is_sensible(one, Occasion(meaning, asked, runs)) is wanted, (asked, figure)


def test_a_decoy_is_of_the_tool_beside_which_it_stands() -> None:
    mutant = Mutant(
        id="a", operator="tool.decoy", version=1, operator_class=OperatorClass.TOOL, intent=Intent.DEGRADE,
        reach=Reach.SENT, description="", edits=(), subject="find_patient",
    )  # fmt: skip
    config = AgentConfig(tools=[{"name": "find_patient", "description": "Find it."}])
    assert meaning_of(mutant, config).tools == {"find_patient"}
    assert meaning_of(mutant.model_copy(update={"subject": "waiting room"}), config).tools == frozenset()


def test_a_word_of_a_rules_condition_is_not_forbidden() -> None:
    told = "If a customer wants storage, tell the customer that a warehouse is near."
    assert sensible("not_contains", "warehouse", rule=told)
    assert not sensible("not_contains", "customer wants", rule=told)
    assert sensible("not_contains", "warehouse", rule="Never speak of the warehouse.")


def test_a_unit_and_an_echo_are_no_text_to_ask_for() -> None:
    rule = "If the move has boxes, tell the customer that a box costs 9 dollars a day at the warehouse."
    assert sensible("contains", "warehouse", rule=rule)
    assert not sensible("contains", "day", rule=rule)
    assert not sensible("contains", "distance move", rule="Tell the distance of the move.")


def test_a_unit_that_the_user_says_is_no_occasion_for_a_tool() -> None:
    texts = ("send_quote Send a quote, in dollars.", "hire_van Hire a van.")
    meaning = Meaning(
        "", frozenset(), frozenset(), OperatorClass.TOOL, "", ("send_quote", "hire_van"), (), texts
    )
    assert not Occasion(meaning, "My lost box was worth 60 dollars.", ()).speaks_of("send_quote")
    assert Occasion(meaning, "Please send a quote.", ()).speaks_of("send_quote")


def test_a_ban_that_says_how_it_is_allowed_forbids_no_tool() -> None:
    names = ("send_quote", "check_distance")
    for rule, wanted in (
        (CHECKED, False),
        ("Send a quote only after a call.", False),
        ("Never send a quote.", True),
    ):
        meaning = Meaning(rule, frozenset(), frozenset(), OperatorClass.PROMPT, rule, names)
        assert ("tool_not_called" in {one.spec.name for one in of_rule(meaning)}) is wanted, rule


def test_no_answer_in_a_form_says_its_form() -> None:
    assert not sensible("contains", "numbered steps", rule="Describe the move as numbered steps.")
    assert not sensible("contains", "describe", rule="Describe the move as numbered steps.")
    assert sensible("contains", "checklist", rule="Tell the customer in two sentences of the checklist.")


def test_a_ban_of_a_deed_forbids_no_words() -> None:
    assert not sensible("not_contains", "offer discounts", rule="Do not offer discounts.")
    assert sensible("not_contains", "discounts", rule="Never mention discounts.")


def test_one_word_rather_than_another_is_a_ban_of_the_other() -> None:
    for rule in ('Say "sailing", not "trip".', "Write 'sailing' instead of 'trip'."):
        meaning = Meaning(rule, frozenset(), frozenset(), OperatorClass.PROMPT, rule, (), (), ())
        assert [(one.spec.name, one.spec.argument) for one in of_rule(meaning)] == [("not_contains", "trip")]


def test_a_tool_is_banned_where_the_user_might_be_thought_to_ask_for_it() -> None:
    assert sensible("tool_not_called", "send_quote")
    assert not sensible("tool_not_called", "send_surveyor")


def test_nearly_any_answer_has_a_number() -> None:
    one = candidate("regex", r"\d", "the answer has a number", 0.2, lambda view: True)
    meaning = Meaning(
        "", frozenset({"send_quote"}), frozenset(), OperatorClass.TOOL, "", ("send_quote",), (), ()
    )
    assert not is_sensible(one, Occasion(meaning, ASKED, ()))
    money = candidate("regex", r"\$\d", "the answer has an amount of money", 0.7, lambda view: True)
    assert is_sensible(money, Occasion(meaning, "What amount of money is it?", ()))
