"""Where the language operators find a place, and where what they would make reads wrong."""

from importlib.metadata import entry_points

import pytest

from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig
from agentmut.operators.prompt.conflict import conflicting
from agentmut.seams.protocols.operator import OperatorOptions


def made(name: str, prompt: str) -> list[str]:
    name = f"prompt.{name}"
    operator = entry_points(group="agentmut.operators", name=name)[name].load()()
    config = AgentConfig(prompt=prompt)
    return [mutant.apply(config).prompt for mutant in generate(config, [operator], OperatorOptions()).mutants]


@pytest.mark.parametrize(
    ("prompt", "scopes"),
    [
        ("Refund most customers.", ["Refund some customers.", "Refund all customers."]),
        ('Call the function "check_answer" first.', []),
        ("Call the function `check` first.", []),
        ("We sell 60 types of products.", []),
        ("Greet every customer.", ["Greet almost every customer.", "Greet the first customer."]),
        ("Check each item.", ["Check almost every item.", "Check the first item."]),
        ("Refund the order.", ["Refund the large order."]),
    ],
)
def test_scope_changes_once_a_phrase_and_where_it_reads_well(prompt: str, scopes: list[str]) -> None:
    assert made("change_scope", prompt) == scopes


@pytest.mark.parametrize(
    ("prompt", "contraries"),
    [
        (
            "Change flights: Basic economy cannot be changed.",
            ["Change flights: Basic economy can be changed."],
        ),
        ("Prefer trains over planes.", []),
        ("Prefer short answers.", ["Avoid short answers."]),
        ("Avoid jargon.", ["Prefer jargon."]),
        ("Decline legal questions.", ["Accept legal questions."]),
        ("Decline to guess.", ["Agree to guess."]),
        ("Only offer refunds to members.", ["Never offer refunds to members."]),
        ("Do not include any text.", ["Include any text."]),
        ("You may refund it if and only if it is late.", []),
        ("You must page them only if it burns.", []),
        ("If it is late, ASK for it.", ["If it is late, DO NOT ASK for it."]),
    ],
)
def test_a_contrary_is_a_contrary(prompt: str, contraries: list[str]) -> None:
    assert made("negate", prompt) == contraries


@pytest.mark.parametrize(
    ("rule", "reverse"),
    [
        ("You must log every call.", "You must never log any call."),
        ("You must sign all letters.", "You must never sign any letters."),
        ("Always check all of the dates.", "Never check any of the dates."),
        ("Always check all the dates.", "Never check any of the dates."),
        ("Always check everything.", None),
    ],
)
def test_the_reverse_of_every_is_not_any(rule: str, reverse: str | None) -> None:
    assert conflicting(rule) == reverse


def test_the_order_of_a_sorting_is_turned_round_once() -> None:
    prompt = "Sort by date, earliest first."
    assert made("swap_order_words", prompt) == []
    assert made("flip_comparator", prompt) == ["Sort by date, latest first."]


@pytest.mark.parametrize(
    ("prompt", "without"),
    [
        ("Refund unless it shipped.", ["Refund."]),
        ("Refund, except for gifts.", ["Refund."]),
        ("Refund everything but gifts.", ["Refund everything."]),
        ("Ask for a reason, otherwise issue it.", ["Ask for a reason."]),
        ("Page the engineer only if production is down.", ["Page the engineer."]),
        ("Say all you know but do not guess.", []),
    ],
)
def test_exceptions_of_short_and_other_forms_are_dropped(prompt: str, without: list[str]) -> None:
    assert made("drop_exception", prompt) == without


@pytest.mark.parametrize(
    ("prompt", "weaker", "contrary"),
    [
        ("Do it at least twice.", ["Do it about twice.", "Do it twice."], []),
        ("Guessing is not allowed.", ["Guessing is discouraged."], ["Guessing is allowed."]),
        ("Gifts are not eligible.", ["Gifts are usually not eligible."], ["Gifts are eligible."]),
        ("You cannot share it.", ["You should not share it."], ["You can share it."]),
        ("We will not refund it.", ["We may not refund it."], ["We will refund it."]),
    ],
)
def test_what_is_ruled_out_has_weaker_and_contrary_forms(
    prompt: str, weaker: list[str], contrary: list[str]
) -> None:
    assert made("weaken_modality", prompt) == weaker
    assert made("negate", prompt)[:1] == contrary


def test_a_step_before_another_comes_after_it() -> None:
    assert made("swap_order_words", "Do A before B.") == ["Do A after B."]


@pytest.mark.parametrize(
    ("prompt", "other"),
    [
        ("Your role is to be a tutor.", "Your role is to be an exam grader."),
        ("I want you to act as a patient tutor.", "I want you to act as an exam grader."),
    ],
)
def test_a_role_is_found_however_it_is_given(prompt: str, other: str) -> None:
    assert made("swap_persona", prompt) == [other]


def test_a_mutant_says_where_it_is() -> None:
    def described(name: str, prompt: str) -> list[str]:
        operator = entry_points(group="agentmut.operators", name=name)[name].load()()
        found = generate(AgentConfig(prompt=prompt), [operator], OperatorOptions()).mutants
        return [mutant.description for mutant in found]

    synonym = described("prompt.synonym", "Politely decline.")
    assert synonym == ['say "Courteously" for "Politely" in "Politely decline."']
    noise = described("prompt.inject_noise", "Be polite.\n\nBe kind.\n")
    assert [said.rsplit('" ')[-1] for said in noise] == ["at the end", "in the middle"] * 2
