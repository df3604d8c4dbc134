"""Agents that hang on a day, on a condition that is not met, and on the language that the user asks for."""

import re
from typing import Any

from agentmut.nouns.config import AgentConfig
from tests.quality.faulty_agents.cases import Case
from tests.quality.faulty_agents.harness import ask, at_length
from tests.quality.faulty_agents.perturbation import ORDERS, reads_all_notations
from tests.quality.faulty_agents.shop import TOOLBOX

_BOOKED = "Please book a kayak for 22 November 2026."
_CANCEL = {
    "name": "cancel",
    "input": "Please cancel order A-3100.",
    "evaluators": [{"tool_called": "cancel_order"}],
}
_WISH = re.compile(r" Please answer in [A-Z][a-z]+\.")


def remembers_its_example(config: AgentConfig, input: Any) -> str:
    """Books the day that the example in its code has, whatever the user says."""
    return at_length(ask(config, "Please book a kayak for 2026-11-22.", toolbox=TOOLBOX))


def drops_conditions(config: AgentConfig, input: Any) -> str:
    """Sends the first sentence, in which the request stands."""
    return at_length(ask(config, str(input).split(". ")[0] + ".", toolbox=TOOLBOX))


def minds_conditions(config: AgentConfig, input: Any) -> str:
    """Offers the model nothing that changes an order where the user sets a condition: a person checks it."""
    conditional = re.search(r"\bonly (?:if|go ahead)\b", str(input), re.I)
    offered = [tool for tool in config.tools if not (conditional and tool.name.startswith("cancel"))]
    return at_length(ask(config, str(input), offered=offered, toolbox=TOOLBOX))


def english_only(config: AgentConfig, input: Any) -> str:
    """Turns down whoever asks for another language."""
    if _WISH.search(str(input)):
        return at_length("I am sorry, we serve our customers in English.")
    return at_length(ask(config, str(input), toolbox=TOOLBOX))


def speaks_languages(config: AgentConfig, input: Any) -> str:
    """Does the work in English, and would have the answer translated."""
    return at_length(ask(config, _WISH.sub("", str(input)), toolbox=TOOLBOX))


CASES = (
    Case("perturbation.time_shift", "books the day of its example", remembers_its_example, reads_all_notations,
         ({"name": "booking", "input": _BOOKED, "evaluators": [{"tool_called": "book_kayak"}]},),
         "You rent out kayaks.", tools="tests.quality.faulty_agents.shop:RENTAL"),
    Case("perturbation.false_guard", "drops conditions", drops_conditions, minds_conditions,
         (_CANCEL,), ORDERS, tools="tests.quality.faulty_agents.shop:DESK"),
    Case("perturbation.answer_language", "serves in English only", english_only, speaks_languages,
         (_CANCEL,), ORDERS, tools="tests.quality.faulty_agents.shop:DESK"),
)  # fmt: skip
