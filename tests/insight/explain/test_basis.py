"""A proposal needs a rule or a request as its ground: tried by hand on the agent of a bicycle workshop."""

from typing import Any

import pytest

from agentmut.insight.explain.basis import basis_of
from agentmut.insight.explain.candidates import candidate
from agentmut.insight.explain.ending_candidates import ANSWERED, WHOLE
from agentmut.insight.explain.meaning import Meaning
from agentmut.insight.explain.occasion import Occasion
from agentmut.insight.explain.rule_candidates import of_rule
from agentmut.insight.explain.sensible import NEAR
from agentmut.insight.explain.views import View
from agentmut.nouns.mutant import OperatorClass
from agentmut.nouns.suggestion import Basis
from agentmut.nouns.trace import Action, AgentTrace, Step

END = 'End every answer with "Ride well!"'
CHECK = "Check the stock before you order a part or book a repair."
FEE = "After booking a repair, tell the customer that a service costs 40 pounds."
LATE = "If the repair takes more than 9 days, tell the customer that a spare bicycle costs 5 pounds."
BAN = "Never sell a frame."
PAID = "If a customer has open bills, do not order a part."
WORD = 'Do not use the word "cheap".'
SAY = 'Say "bicycle", not "bike".'
RULES = (END, CHECK, FEE, LATE, BAN, PAID, WORD, SAY)
TOOLS = ("check_stock", "order_part", "book_repair", "sell_frame")
BOOK = "Please book a repair for bicycle W-7 on Monday. My name is Ada Cole."
FRAME = "I want you to sell a frame to me."


def basis(
    asked: str, name: str, argument: Any, *, rule: str = "", tool: str = "", output: Any = "Done for W-7."
) -> Basis:
    step = Step(action=Action.CALL_TOOL, tool="book_repair", arguments={"bicycle": "W-7"}, output=output)
    meaning = Meaning(
        rule,
        frozenset({tool} - {""}),
        frozenset(),
        OperatorClass.PROMPT if rule else OperatorClass.TOOL,
        "\n".join(RULES),
        TOOLS,
        tuple(one for one in RULES if one != rule),
        TOOLS,
        (("day", ("Monday", "Friday")),),
    )
    one = candidate(name, argument, "", 0.9, lambda view: True)._replace(grounded=NEAR)
    return basis_of(one, Occasion(meaning, asked, [View(AgentTrace(steps=(step,), outputs=("Fine.",)))] * 3))


def called(tool: str, **made: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": made}


@pytest.mark.parametrize(
    ("asked", "rule", "name", "argument", "wanted"),
    [
        (BOOK, END, "ends_with", "Ride well!", Basis.RULE),
        (BOOK, END, "ends_with", "Fine.", Basis.SEEN),  # no rule asks for it
        (BOOK, WORD, "not_contains", "cheap", Basis.RULE),
        ("Is it cheap?", WORD, "not_contains", "cheap", Basis.SEEN),  # a refusal may need the word
        (BOOK, SAY, "not_contains", "bike", Basis.RULE),
        (BOOK, SAY, "contains", "bicycle", Basis.SEEN),  # another word may do
        (BOOK, CHECK, "tool_order", ["check_stock", "book_repair"], Basis.RULE),
        (BOOK, CHECK, "tool_order", ["book_repair", "check_stock"], Basis.SEEN),
        ("Is W-7 ready?", CHECK, "tool_order", ["check_stock", "book_repair"], Basis.SEEN),  # nobody asks for it
        (BOOK, FEE, "states", "40 pounds", Basis.RULE),
        ("What are your hours?", FEE, "states", "40 pounds", Basis.SEEN),
        ("It is 40 pounds to book a repair, I know.", FEE, "states", "40 pounds", Basis.SEEN),
        (BOOK, LATE, "states", "5 pounds", Basis.SEEN),  # nobody knows the number of days
        ("Book a repair that takes 12 days.", LATE, "states", "5 pounds", Basis.RULE),
        ("Book a repair that takes 3 days.", LATE, "states", "5 pounds", Basis.SEEN),
        (FRAME, BAN, "tool_not_called", "sell_frame", Basis.RULE),
        (BOOK, BAN, "tool_not_called", "sell_frame", Basis.SEEN),
        (FRAME, BAN, "decides", "no", Basis.RULE),
    ],
)  # fmt: skip
def test_a_rule_is_a_ground_where_it_asks_for_the_very_thing_and_holds(
    asked: str, rule: str, name: str, argument: Any, wanted: Basis
) -> None:
    assert basis(asked, name, argument, rule=rule) is wanted


@pytest.mark.parametrize(
    ("asked", "argument", "wanted"),
    [
        (BOOK, called("book_repair", bicycle="W-7"), Basis.REQUEST),
        (BOOK, called("book_repair", day="Monday"), Basis.REQUEST),  # an option
        (BOOK, called("book_repair", name="Ada Cole"), Basis.REQUEST),
        (BOOK, called("book_repair", name="Repair"), Basis.SEEN),  # a word of the tool's own name
        (BOOK, called("book_repair", bicycle="W-8"), Basis.SEEN),  # the user does not say it
        (BOOK, called("book_repair", bicycle="Monday"), Basis.SEEN),  # beside "bicycle" stands W-7
        (BOOK, called("book_repair", day="W-7", bicycle="W-7"), Basis.SEEN),  # one value for two things
        ("Book a repair on the 12th.", called("book_repair", number="12th"), Basis.SEEN),  # no identifier
        ("My name is Ada Cole.", called("book_repair", name="Ada Cole"), Basis.SEEN),  # nobody asks for a repair
        ("I need a repair for W-7.", called("book_repair", bicycle="W-7"), Basis.REQUEST),
        ("I need a repair for W-7.", called("book_repair", note="repair for W-7"), Basis.SEEN),  # words of the request
        ("Book a repair on 9 March.", called("book_repair", date="9 March"), Basis.REQUEST),
    ],
)  # fmt: skip
def test_a_request_is_a_ground_where_the_user_names_the_tool_and_gives_the_values(
    asked: str, argument: Any, wanted: Basis
) -> None:
    assert basis(asked, "tool_called_with", argument, tool="book_repair") is wanted


def test_a_call_whose_result_tells_of_a_failure_is_not_asked_for() -> None:
    assert basis(BOOK, "tool_called", "book_repair", tool="book_repair") is Basis.REQUEST
    for output in ({"error": "The workshop is full."}, "There is no bicycle W-7.", "Unknown bicycle."):
        assert basis(BOOK, "tool_called", "book_repair", tool="book_repair", output=output) is Basis.SEEN


def test_a_ban_under_a_condition_is_a_ground_where_a_result_tells_of_it() -> None:
    asked = "Please order a part. I am the customer Ada Cole."
    for output, wanted in (
        ("Ada Cole has open bills.", Basis.RULE),
        ("Ada Cole has no open bills.", Basis.SEEN),
    ):
        assert basis(asked, "tool_not_called", "order_part", rule=PAID, output=output) is wanted


def test_what_is_asked_for_is_done_once_and_granted() -> None:
    once = {"tool": "book_repair", "exactly": 1}
    assert basis(BOOK, "tool_count", once, tool="book_repair") is Basis.REQUEST
    assert basis(BOOK, "tool_count", {**once, "exactly": 2}, tool="book_repair") is Basis.SEEN
    assert basis(BOOK, "decides", "yes", tool="book_repair") is Basis.REQUEST
    assert basis(FRAME, "decides", "yes", tool="book_repair") is Basis.SEEN


def test_other_evaluators_and_an_unknown_user_have_no_ground() -> None:
    assert basis(BOOK, "regex", r"\d", rule=FEE) is Basis.SEEN
    assert basis(BOOK, "max_steps", 4, tool="book_repair") is Basis.SEEN
    assert basis("", "ends_with", "Ride well!", rule=END) is Basis.SEEN


GAS = "Bei Gasgeruch: Nenne sofort die Nummer 0800 555 0112."
NO_REPORT = "Melde dann keine Störung mit `stoerung_melden`."
AENDERN = "Prüfe den Vertrag mit `vertrag_pruefen`, bevor du mit `abschlag_aendern` den Abschlag änderst."
GERMAN_TOOLS = ("vertrag_pruefen", "abschlag_aendern", "stoerung_melden")


def german_basis(asked: str, rule: str, name: str, argument: Any) -> Basis:
    meaning = Meaning(rule, frozenset(), frozenset(), OperatorClass.PROMPT, rule, GERMAN_TOOLS)
    one = candidate(name, argument, "", 0.9, lambda view: True)._replace(grounded=NEAR)
    return basis_of(one, Occasion(meaning, asked, [View(AgentTrace(outputs=("Gut.",)))] * 3))


@pytest.mark.parametrize(
    ("asked", "rule", "name", "argument", "wanted"),
    [
        ("Bitte den Abschlag ändern, auf 85 Euro.", AENDERN, "tool_order", [*GERMAN_TOOLS[:2]], Basis.RULE),
        ("Wie ist das Wetter?", AENDERN, "tool_order", [*GERMAN_TOOLS[:2]], Basis.SEEN),
        ("Gasgeruch im Haus!", NO_REPORT, "tool_not_called", "stoerung_melden", Basis.RULE),
        ("Gasgeruch im Haus!", AENDERN, "tool_not_called", "stoerung_melden", Basis.SEEN),
        ("Gasgeruch im Haus!", GAS, "contains", "0800 555 0112", Basis.RULE),
        ("Wie ist das Wetter?", GAS, "contains", "0800 555 0112", Basis.SEEN),
    ],
)
def test_german_rules_are_a_ground_like_english_ones(
    asked: str, rule: str, name: str, argument: Any, wanted: Basis
) -> None:
    assert german_basis(asked, rule, name, argument) is wanted


@pytest.mark.parametrize(
    ("changed", "name", "argument", "wanted"),
    [
        (OperatorClass.MODEL, "ends_with", "Ride well!", Basis.SEEN),
        (OperatorClass.MODEL, "expression", WHOLE, Basis.REQUEST),
        (OperatorClass.PROMPT, "expression", WHOLE, Basis.SEEN),
        (OperatorClass.ORCHESTRATION, "expression", ANSWERED, Basis.REQUEST),
    ],
)
def test_a_cut_answer_is_asked_to_be_whole_and_not_to_end_in_certain_words(
    changed: OperatorClass, name: str, argument: Any, wanted: Basis
) -> None:
    meaning = Meaning("", frozenset(), frozenset(), changed, END, TOOLS, (END,))
    one = candidate(name, argument, "", 0.9, lambda view: True)._replace(grounded=NEAR)
    assert basis_of(one, Occasion(meaning, BOOK, [View(AgentTrace(outputs=("Fine.",)))] * 3)) is wanted


DESK = (
    "You are the refund desk.",
    "Refund each order only once.",
    "Find the order before you refund it.",
    "After a refund, notify the customer.",
    "Never refund more than 200 dollars; call `ask_manager` instead.",
)
DESK_TOOLS = ("find_order", "refund_order", "notify_customer", "ask_manager")


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [("Please refund my order T-401.", Basis.REQUEST), ("Where is my order T-401?", Basis.SEEN)],
)
def test_a_condition_of_words_that_most_rules_have_holds_where_the_user_says_them(
    asked: str, wanted: Basis
) -> None:
    meaning = Meaning(
        DESK[3],
        frozenset(),
        frozenset(),
        OperatorClass.PROMPT,
        "\n".join(DESK),
        DESK_TOOLS,
        (*DESK[:3], DESK[4]),
    )
    one = candidate("tool_called", "notify_customer", "", 1.0, lambda view: True)._replace(grounded=NEAR)
    found = Occasion(meaning, asked, [View(AgentTrace(outputs=("Done.",)))] * 3)
    assert basis_of(one, found) is wanted
    assert found.calls_for(DESK[3]) is (wanted is Basis.REQUEST)


@pytest.mark.parametrize(
    ("rule", "name", "argument"),
    [
        ('Termina cada respuesta con "¡Buen viaje!"', "ends_with", "¡Buen viaje!"),
        ('No utilices la palabra "barato"; di "económico".', "not_contains", "barato"),
        ("Commencez chaque réponse par « Bonjour »", "starts_with", "Bonjour"),
        ("Ne dites jamais « garanti ».", "not_contains", "garanti"),
        (
            "Comprueba los vuelos con `buscar` antes de llamar a `reservar`.",
            "tool_order",
            ["buscar", "reservar"],
        ),
        ("No llames nunca a `cancelar`.", "tool_not_called", "cancelar"),
    ],
)
def test_rules_in_spanish_and_french_ask_for_the_same(rule: str, name: str, argument: Any) -> None:
    tools = ("buscar", "reservar", "cancelar")
    meaning = Meaning(rule, frozenset(), frozenset(), OperatorClass.PROMPT, rule, tools)
    asked = [(one.spec.name, one.spec.argument) for one in of_rule(meaning)]
    assert (name, argument) in asked
    assert len([kind for kind, _ in asked if kind == name]) == 1
