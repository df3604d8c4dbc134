"""Follow-ups that would mean something else are not made: code, ranges, values, complaints, consent."""

import random
from typing import Any

import pytest
from pydantic import JsonValue

from agentmut.nouns.config import AgentConfig
from agentmut.nouns.relation import Source
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.relations.turns import is_prose
from agentmut.seams.plugins import load

CONFIG = AgentConfig(prompt="Help.", tools=(ToolSpec(name="issue_refund"),))
REFUNDED = AgentTrace(outputs=("Done.",), steps=(Step(action=Action.CALL_TOOL, tool="issue_refund"),))


def follow_ups(name: str, *turns: JsonValue, argument: JsonValue = None, seeds: int = 60) -> set[Any]:
    """The turns that may be run, as tuples."""
    relation = load("relations", f"perturbation.{name}")(argument)
    asked = Scenario(name="s", turns=turns, evaluators=(EvaluatorSpec(name="regex", argument="."),))
    sources = (Source(asked, CONFIG, REFUNDED, random.Random(seed)) for seed in range(seeds))
    found = (relation.follow_up(source) for source in sources)
    return {run.turns for follow in found if follow for run in follow.runs}


@pytest.mark.parametrize("text", [
    '{"action":"status","order":"A-1042"}',
    '"please tell me where my order is"',
    '[1, "please tell me where it is"]',
    "<order>please tell me where it is</order>",
    "SELECT * FROM orders WHERE id = 1007;",
    "Please run SELECT name FROM orders WHERE the id is 1007.",
    "def f(x):\n    return the_sum(x) and that is it",
    'My request is this:\n{"a": 1}',
])  # fmt: skip
def test_json_markup_and_code_are_no_prose(text: str) -> None:
    assert not is_prose(text)
    names = ("irrelevant_context", "noise", "paraphrase", "added_constraint", "difficulty", "synonym")
    assert not [name for name in names if follow_ups(name, text, seeds=3)]


@pytest.mark.parametrize("text", [
    "Can I select a plan from your list, please?",
    "```python\nprint(1)\n```\nPlease explain this code.",
    "Please call me (soon).",
])  # fmt: skip
def test_requests_that_have_words_of_code_are_prose(text: str) -> None:
    assert is_prose(text)


@pytest.mark.parametrize("text", [
    "Can I get it within 2 to 3 weeks?",
    "Is it open from 6 to 7 pm?",
    "Book me a table between 6-7 pm.",
    "I need between 2 and 3 hours of help.",
    "The company has a budget of €20 million, which plan do you recommend?",
    "I paid $1200 million for it, what is the fee?",
    "I have 1 hour 30 minutes to spare, can I do it?",
    "I have 2 hours and a half to spare.",
    "I want to run 5 x 10 km this week.",
    "I would like to stay one to two weeks.",
    "Is it open from 3 to 5 March 2026?",
    "How many minutes are 2 hours?",
    "How do I convert 2 weeks into days for you?",
])  # fmt: skip
def test_figures_of_a_range_and_before_a_million_keep_their_form(text: str) -> None:
    assert follow_ups("format", text) == set()


@pytest.mark.parametrize("text", [
    "Order A-1042 is late, and I want it now.",
    "Order A-1042 arrived broken.",
    "Choose one:\n1. Red\n2. Blue",
])  # fmt: skip
def test_what_is_no_order_is_not_put_as_one(text: str) -> None:
    said = {turns[0] for turns in follow_ups("paraphrase", text)}
    lead = text.split(maxsplit=1)[0].lower()
    assert not [one for one in said if f" {lead}" in one]


@pytest.mark.parametrize(("text", "value"), [
    ("My password is swordfish and my user name is johnsmith, please log me in.", "johnsmith"),
    ("My user name: johnsmith, please log me in.", "johnsmith"),
    ("Please set my status to resolved and priority to urgent.", "resolved"),
    ("What does the function getuser return when it is called?", "getuser"),
    ("Search for the word quality in my notes for me.", "quality"),
    ("Please send it to the folder named archive on my drive.", "archive"),
    ("Set the variable counter to active, please.", "active"),
    ("my friend alice lives in toronto and i want to ship a parcel to her", "toronto"),
    ("my friend alice lives in toronto and i want to ship a parcel to her", "alice"),
])  # fmt: skip
def test_values_in_small_letters_are_not_mistyped(text: str, value: str) -> None:
    assert not [one for one in follow_ups("noise", text, seeds=150) if value not in str(one)]


def test_fillers_and_smiles_stay_outside_of_lists() -> None:
    found = follow_ups("noise", "Choose one:\n1. Red\n2. Blue", argument=["filler", "emoji"])
    assert not [one for one in found if "1. Red\\n2. Blue" not in str(one)]


@pytest.mark.parametrize(("turns", "negated"), [
    (("Hi", "Please refund order A-1007."), True),
    (("Please refund order A-1007.", "What does shipping cost?"), True),
    (("Hi", "Please refund order A-1007.", "Yes, please."), False),
    (("Please refund order A-1007.", "Thank you. Go ahead."), False),
    (("Please refund order A-1007.", {"confirmed": True}), False),
])  # fmt: skip
def test_requests_that_are_consented_to_later_are_not_negated(
    turns: tuple[JsonValue, ...], negated: bool
) -> None:
    assert bool(follow_ups("negation", *turns, seeds=3)) is negated
