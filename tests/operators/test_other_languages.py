"""A prompt that is not English: what it gets, and that it is said."""

import pytest

from agentmut.mutation.generation import Generation, generate
from agentmut.nouns.config import AgentConfig
from agentmut.seams.plugins import load_all
from agentmut.seams.protocols.operator import NeedsEnglish, OnDemand, Operator, OperatorOptions

GERMAN = """Du bist der Assistent eines Fahrradladens.

- Gib nie mehr als 10 Prozent Rabatt.
- Storniere keine Bestellung, die schon verschickt ist.
- Antworte in höchstens 50 Wörtern.
"""
ENGLISH = """You are the assistant of a bicycle shop.

- Never give more than 10 per cent off.
- Do not cancel an order that has been sent.
- Answer in at most 50 words.
"""
OPERATORS: list[Operator] = [
    kind() for name, kind in load_all("operators").items() if name.startswith("prompt.")
]
USUAL = [one for one in OPERATORS if not isinstance(one, OnDemand)]
NEED_ENGLISH = [one.id for one in USUAL if isinstance(one, NeedsEnglish)]


def of(prompt: str) -> Generation:
    return generate(AgentConfig(prompt=prompt), USUAL, OperatorOptions())


def test_operators_that_need_english_say_that_the_prompt_is_not() -> None:
    reasons = {one.operator: one.reason for one in of(GERMAN).empty}
    assert set(NEED_ENGLISH) <= set(reasons)
    assert {reasons[name].rpartition("because ")[2] for name in NEED_ENGLISH} == {"the prompt is not English"}
    assert reasons["prompt.drop_section"].endswith("it found no place in this config")


def test_operators_that_drop_and_move_text_find_mutants_in_every_language() -> None:
    found = {mutant.operator for mutant in of(GERMAN).mutants}
    assert {"prompt.drop_instruction", "prompt.reorder_instructions", "prompt.truncate"} <= found
    assert sum(mutant.operator == "prompt.drop_instruction" for mutant in of(GERMAN).mutants) == 4


def test_a_note_says_what_a_german_prompt_misses() -> None:
    (note,) = of(GERMAN).notes
    assert note.startswith(
        f"the prompt is not English: {len(NEED_ENGLISH)} operators that need English words leave it"
    )
    assert len(NEED_ENGLISH) >= 10


def test_a_note_counts_the_german_part_of_a_mixed_prompt() -> None:
    (note,) = of(ENGLISH + GERMAN).notes
    assert note.startswith("4 of 8 instructions of the prompt are not English")


def test_an_english_prompt_with_one_foreign_line_has_no_note() -> None:
    assert of(ENGLISH).notes == ()
    assert of(f"{ENGLISH}- Sage am Ende immer auf Wiedersehen und alles Gute.\n").notes == ()


def test_no_note_where_no_operator_needs_english() -> None:
    drops = [one for one in USUAL if one.id == "prompt.drop_instruction"]
    assert generate(AgentConfig(prompt=GERMAN), drops, OperatorOptions()).notes == ()


@pytest.mark.parametrize("one", OPERATORS, ids=lambda one: one.id)
def test_operators_that_need_english_find_nothing_in_german(one: Operator) -> None:
    found = list(one.mutants(AgentConfig(prompt=GERMAN), OperatorOptions()))
    assert not (found and isinstance(one, NeedsEnglish))
