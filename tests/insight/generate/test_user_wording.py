"""What a user asks for, in the language of the tools."""

import pytest

from agentmut.insight.generate.user_wording import request
from agentmut.nouns.tools import ToolSpec


@pytest.mark.parametrize(
    ("name", "description", "asked"),
    [
        ("urlaub_beantragen", "Reicht einen Urlaubsantrag ein.", "Urlaub beantragen. Order id: A-1."),
        ("buscarVuelos", "Busca vuelos entre dos ciudades en una fecha.", "Buscar vuelos. Order id: A-1."),
        (
            "fortschritt_speichern",
            "Speichert, welche Aufgabe gelöst wurde.",
            "Fortschritt speichern. Order id: A-1.",
        ),
        ("cancel_order", "Cancel an order.", "Please cancel an order. The order id is A-1."),
        ("cancel_order", "", "Please cancel order. The order id is A-1."),
    ],
)
def test_a_tool_in_another_language_is_asked_for_without_an_english_sentence(
    name: str, description: str, asked: str
) -> None:
    assert request(ToolSpec(name=name, description=description), {"order_id": "A-1"}) == asked


def test_descriptions_of_parameters_tell_the_language_too() -> None:
    schema = {"type": "object", "properties": {"ab": {"type": "string", "description": "Der früheste Tag."}}}
    tool = ToolSpec(name="termine_suchen", description="Sucht freie Termine.", parameters=schema)
    assert request(tool, {"ab": "Montag"}) == "Termine suchen. Ab: Montag."
