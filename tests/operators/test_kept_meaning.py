"""Operators that preserve: what they leave alone because it would mean something else."""

from importlib.metadata import entry_points

import pytest

from agentmut.language.prompt.document import parse
from agentmut.language.vocabulary.uses import uses
from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig
from agentmut.seams.protocols.operator import OperatorOptions


def made(name: str, prompt: str) -> list[str]:
    operator = entry_points(group="agentmut.operators", name=name)[name].load()()
    config = AgentConfig(prompt=prompt)
    return [mutant.apply(config).prompt for mutant in generate(config, [operator], OperatorOptions()).mutants]


@pytest.mark.parametrize(
    "prompt",
    [
        "When a refund is asked for:\n1. Look up the order.\n2. Tell them the date.\n",
        "To book a trip:\na) The dates are agreed on.\nb) The seats are chosen.\n",
        "**Refunds:**\n\n1. Look up the order.\n2. Tell them the date.\n",
        "Compare quotes. Choose the cheapest.",
        "1. Look up the order.\n2. Tell them the date.\n",
        "When a refund is asked for:\n- Look up the order.\n- Tell them the date.\n",
    ],
)
def test_steps_keep_their_order_where_nothing_calls_them_steps(prompt: str) -> None:
    assert made("prompt.reorder_instructions", prompt) == []


@pytest.mark.parametrize(
    ("prompt", "swapped"),
    [
        (
            "Follow these rules:\n1. Never guess.\n2. Be polite.\n",
            "Follow these rules:\n1. Be polite.\n2. Never guess.\n",
        ),
        ("Keep answers short. Use plain words.", "Use plain words. Keep answers short."),
        ("- Compare quotes.\n- Choose kind words.\n", "- Choose kind words.\n- Compare quotes.\n"),
    ],
)
def test_rules_still_trade_places(prompt: str, swapped: str) -> None:
    assert made("prompt.reorder_instructions", prompt) == [swapped]


@pytest.mark.parametrize(
    "prompt",
    ["Enable the customer to pay.", "Troubleshoot the modem.", "Log every complaint.", "Mention it."],
)
def test_words_without_a_true_synonym_stay(prompt: str) -> None:
    assert made("prompt.synonym", prompt) == []


def test_being_brief_has_a_contrary() -> None:
    document = parse("Be brief.")
    found = [use.replacement("opposite") for use in uses(document, document.instructions[0])]
    assert "long-winded" in found
    assert made("prompt.negate", "Be brief.") == ["Do not be brief.", "Be long-winded."]
