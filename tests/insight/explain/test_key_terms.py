"""Proposals hold only key terms of a rule or of a result: tried on the agent of a library."""

from dataclasses import replace
from typing import Any

import pytest

from agentmut.insight.explain.candidates import candidate
from agentmut.insight.explain.meaning import Meaning, meaning_of
from agentmut.insight.explain.occasion import Occasion
from agentmut.insight.explain.sensible import NEAR, is_sensible
from agentmut.insight.explain.views import View
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.mutant import Intent, Mutant, OperatorClass, Reach, prompt_edit
from agentmut.nouns.trace import Action, AgentTrace, Step

TOOLS = ("renew_loan",)
TOLD = "If the loan is overdue, tell the reader that a late fee applies and has to be paid within 9 days."
SECRET = "Never reveal reading habits."
ASKED = "Please renew my loan of Middlemarch, card L-77, until 2026-03-01."


def allowed(rule: str, name: str, argument: Any, *, near: bool = True, runs: tuple[View, ...] = ()) -> bool:
    meaning = Meaning(rule, frozenset(), frozenset(), OperatorClass.PROMPT, rule, TOOLS, (), TOOLS)
    one = candidate(name, argument, "", 0.5, lambda view: True)._replace(grounded=NEAR * near)
    return is_sensible(one, Occasion(meaning, ASKED, runs))


def renewed(result: Any, answer: Any = "Done.") -> tuple[View, ...]:
    call = Step(action=Action.CALL_TOOL, tool="renew_loan", arguments={"card": "L-77"}, output=result)
    return (View(AgentTrace(steps=(call,), outputs=(answer,))),) * 3


@pytest.mark.parametrize(
    ("rule", "name", "argument", "wanted"),
    [
        (TOLD, "contains", "late fee", True),
        (TOLD, "contains", "a late fee", False),
        (TOLD, "contains", "late fee applies", False),
        (TOLD, "contains", "it is overdue", False),
        (TOLD, "contains", "9 days", False),  # nine days
        (TOLD, "states", "9 days", True),
        (TOLD, "contains", "paid within 9 days", False),
        (TOLD, "contains", "loan", False),  # the user says it
        (TOLD, "not_contains", "late fee", True),
        (TOLD, "not_contains", "small fee", False),  # no rule speaks of a small one
        (TOLD, "not_contains", "loan", False),  # a refusal may speak of it
        (SECRET, "not_contains", "reading habits", True),
        (SECRET, "not_contains", "the reading habits", False),
        ("Answer in three sentences.", "not_contains", "sentences", False),
        ('Say "It is all free of charge".', "contains", "It is all free of charge", True),
        ("Answer in at most 3 sentences.", "expression", "len(text.split()) <= 41", False),
        ("Answer in short sentences.", "expression", "len(text.split()) <= 41", True),
    ],
)
def test_what_a_rule_asks_for_in_words_is_a_key_term(
    rule: str, name: str, argument: str, wanted: bool
) -> None:
    assert allowed(rule, name, argument) is wanted


@pytest.mark.parametrize(
    ("result", "name", "argument", "wanted"),
    [
        (
            "The loan of Middlemarch is renewed and on the shelf.",
            "contains",
            "renewed",
            False,
        ),  # the tool's name
        ("The loan of Middlemarch is renewed and on the shelf.", "contains", "and on the shelf", False),
        ("The loan is kept for you by Dorothea Brooke in the hall.", "contains", "dorothea brooke", True),
        ("The loan is kept at the desk.", "contains", "desk", False),  # nobody asked where
        ({"loan": "on the way back"}, "contains", "on the way back", False),  # a value of four words is prose
        ({"loan": "in transit"}, "contains", "in transit", True),
        ({"title": "Middlemarch"}, "contains", "middlemarch", False),  # the user's own word
        ({"until": "2026-03-01"}, "states", "2026-03-01", False),
        ({"until": "2026-03-22"}, "states", "2026-03-22", True),
    ],
)
def test_a_result_gives_values_and_names_and_no_echo(
    result: Any, name: str, argument: str, wanted: bool
) -> None:
    assert allowed("", name, argument, near=False, runs=renewed(result)) is wanted


def test_a_key_term_of_a_sentence_answers_a_question() -> None:
    runs = renewed("The loan is kept at the desk.")
    meaning = Meaning("", frozenset(), frozenset(), OperatorClass.PROMPT, "", TOOLS, (), TOOLS)
    one = candidate("contains", "desk", "", 0.5, lambda view: True)
    for asked, wanted in (("Please renew my loan.", False), ("Renew my loan. Where is it kept?", True)):
        assert is_sensible(one, Occasion(meaning, asked, runs)) is wanted


def test_a_word_of_a_ban_is_not_asked_for() -> None:
    assert not allowed("Never lend a book in the reading room.", "contains", "reading room")
    assert allowed("Lend the book in the reading room.", "contains", "reading room")


def test_a_field_is_not_empty_where_the_user_speaks_of_it() -> None:
    null = {"type": "object", "required": ["card_id"], "properties": {"card_id": {"type": "null"}}}
    for name, argument in (("expect", {"card_id": None}), ("expect", {"card_id": ""}), ("json_schema", null)):
        assert not allowed("", name, argument, near=False)
    assert allowed("", "expect", {"branch": None}, near=False)
    assert allowed("", "expect", {"card_id": "L-77"}, near=False)


def test_words_of_an_answer_in_json_are_not_counted() -> None:
    rule, bound = "Keep it short.", "len(text.split()) <= 41"
    assert allowed(rule, "expression", bound, runs=renewed("ok", "It is renewed."))
    assert not allowed(rule, "expression", bound, runs=renewed("ok", {"reply": "It is renewed."}))


def test_a_phrase_around_a_replaced_word_is_of_the_mutants_diff() -> None:
    prompt = "- Come after noon.\n- Tell the reader that the book is held within 3 days.\n"
    at = prompt.index("within")
    mutant = Mutant(
        id="a", operator="o", version=1, operator_class=OperatorClass.PROMPT, intent=Intent.DEGRADE,
        reach=Reach.SENT, description="", edits=(prompt_edit(prompt, at, at + len("within"), "after"),),
    )  # fmt: skip
    meaning = meaning_of(mutant, AgentConfig(prompt=prompt))
    assert meaning.is_of_its_diff(["held after 3 days"])
    assert not meaning.is_of_its_diff(["held within 3 days"])
    assert not replace(meaning, added=()).is_of_its_diff(["held after 3 days"])
