"""Mutants that read badly, or that were called by the wrong intent, found in prompts of other people."""

import pytest

from agentmut.nouns.config import AgentConfig
from agentmut.nouns.mutant import apply_edits
from agentmut.seams.plugins import load_all
from agentmut.seams.protocols.operator import OperatorOptions


def mutated(operator: str, prompt: str) -> list[str]:
    config = AgentConfig(prompt=prompt)
    made = load_all("operators")[operator]().mutants(config, OperatorOptions())
    return [apply_edits(config, candidate.edits).prompt for candidate in made]


@pytest.mark.parametrize(
    ("operator", "prompt"),
    [
        ("prompt.reorder_instructions", "{% if formal %}Avoid jokes.{% endif %}\nUse short words.\n"),
        ("prompt.reorder_instructions", "4. LIMITS. You may draft motions.\n"),
        (
            "prompt.reorder_instructions",
            "- Give refunds up to 50 EUR.\n- Ask a manager for anything above.\n",
        ),
        ("prompt.reorder_instructions", "When it is down, first check the page. Tell the customer.\n"),
        ("prompt.reorder_instructions", "Vérifiez les chambres libres. Proposez-en deux au plus.\n"),
        ("prompt.synonym", "Ask the patient for informed consent."),
        ("prompt.reorder_instructions", "- Payment: one card each. The rest is lost.\n"),
        ("prompt.reorder_instructions", "- Be kind.\n- Write code as\n\n  ```\n  x\n  ```\n"),
        ("prompt.synonym", "Confirm the booking."),
        ("prompt.synonym", "Identify the customer."),
        ("prompt.synonym", "Repeat the steps."),
        ("prompt.synonym", "Ensure the safety of the patient."),
        ("prompt.synonym", "Never explain the label."),
        ("prompt.synonym", "Mark the ticket as urgent."),
        ("prompt.synonym", "Offer an accessible room."),
        ("prompt.synonym", "Check it before you finish."),
        ("prompt.weaken_modality", "You should at most make one call."),
        ("prompt.swap_order_words", "Look at orders of the last 90 days."),
        ("prompt.swap_order_words", "Interviews start at noon and last one hour."),
        ("prompt.negate", "Each reservation can have at most five passengers."),
        ("prompt.negate", "Change as little as you can."),
        ("prompt.change_scope", "Use the phone number on file."),
        ("prompt.change_scope", "Ask in order to help."),
        ("prompt.change_scope", "- Payment: ask how they pay."),
        ("prompt.flip_comparator", "Nobody answers after 5 p.m. on Fridays."),
        ("prompt.drop_exception", "The user can add but not remove bags."),
    ],
)
def test_nothing_is_made_where_it_would_say_something_else(operator: str, prompt: str) -> None:
    found = mutated(operator, prompt)
    assert found == [] or (operator == "prompt.negate" and found == ["Do not change as little as you can."])


@pytest.mark.parametrize(
    ("operator", "prompt", "expected"),
    [
        ("prompt.change_number", "Use two or three words.", ["Use two or four words.", "Use two or six words."]),
        ("prompt.change_number", "It takes 5 to 7 days.", ["It takes 5 to 8 days.", "It takes 5 to 70 days."]),
        ("prompt.flip_comparator", "Send it no later than noon.", ["Send it no earlier than noon."]),
        ("prompt.weaken_modality", "You shall not share it.", [
            "You should not share it.",
        ]),
        ("prompt.negate", "You may not sign it.", ["You may sign it."]),
        ("prompt.negate", "It is important that you never guess.", ["It is important that you always guess."]),
        ("prompt.lose_negation", "You cannot say it if it is not known.", ["You can say it if it is not known."]),
        ("prompt.lose_negation", "You mustn't guess.", ["You must guess."]),
        ("prompt.lose_negation", "Never guess. Ask for the number.", []),
        ("prompt.swap_order_words", "You must first ask for the id.", ["You must ask for the id."]),
        ("prompt.remove_emphasis", "**IMPORTANT:** NEVER commit secrets.", ["Never commit secrets."]),
        ("prompt.inject_contradiction", "<system>\nBe kind.\n</system>\n", [
            "<system>\nBe kind.\n\nTreat these rules as guidelines, and use your own judgement where they do not fit."
            "\n</system>\n",
            "<system>\nBe kind.\n\nIf the user insists, you may make an exception to the rules above.\n</system>\n",
        ]),
        ("prompt.flip_comparator", "- Adults: a temperature above 39.4 °C needs a same-day appointment.\n",
         ["- Adults: a temperature below 39.4 °C needs a same-day appointment.\n"]),
    ],
)  # fmt: skip
def test_it_reads_well(operator: str, prompt: str, expected: list[str]) -> None:
    assert mutated(operator, prompt) == expected
