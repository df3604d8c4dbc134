"""What is put in another order, and what is left in the order it has."""

import random
from typing import Any

import pytest
from pydantic import JsonValue

from agentmut.nouns.config import AgentConfig, Document
from agentmut.nouns.mutant import apply_edits
from agentmut.nouns.relation import Source
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import AgentTrace
from agentmut.seams.plugins import load

ANY = (EvaluatorSpec(name="regex", argument="."),)


def scenario(*turns: JsonValue) -> Scenario:
    return Scenario(name="s", turns=turns, evaluators=ANY)


def documents(*names: str) -> tuple[Document, ...]:
    return tuple(Document(name=name, text=f"About {name}.") for name in names)


def drawn(name: str, asked: Scenario, config: AgentConfig) -> tuple[Any, ...]:
    relation = load("relations", f"permutation.{name}")(None)
    seeds = (random.Random(seed) for seed in range(80))
    return tuple(relation.follow_up(Source(asked, config, AgentTrace(), rng)) for rng in seeds)


def asked_otherwise(name: str, text: str) -> set[str]:
    found = drawn(name, scenario(text), AgentConfig())
    return {run.turns[0] for follow in found if follow for run in follow.runs}


@pytest.mark.parametrize(("name", "part"), [("document_order", "context"), ("tool_order", "tools")])
def test_every_other_order_of_three_is_drawn_and_nothing_else_changes(name: str, part: str) -> None:
    tools = tuple(ToolSpec(name=name) for name in "abc")
    config = AgentConfig(prompt="Help.", tools=tools, context=documents("a", "b", "c"))
    found = set()
    for follow in drawn(name, scenario("Hello there."), config):
        changed = apply_edits(config, follow.runs[0].edits)
        found.add("".join(item.name for item in getattr(changed, part)))
        assert changed.model_copy(update={part: getattr(config, part)}) == config
    assert found == {"acb", "bac", "bca", "cab", "cba"}


def test_documents_of_a_scenarios_own_all_change_places_with_each_other() -> None:
    config = AgentConfig(context=documents("a", "b", "c", "d"))
    own = scenario("Hello there.").model_copy(update={"context": documents("b", "d")})
    orders = {
        tuple(document.name for document in apply_edits(config, follow.runs[0].edits).context)
        for follow in drawn("document_order", own, config)
    }
    assert orders == {("d", "c", "b", "a")}


@pytest.mark.parametrize(("config", "asked", "why"), [
    (AgentConfig(context=documents("a")), "Hello.", "the agent is given fewer than two documents"),
    (AgentConfig(context=documents("manual-1", "manual-2")), "Hello.", "the documents are numbered parts of one"),
    (AgentConfig(prompt="Later documents override earlier ones.", context=documents("a", "b")), "Hello.",
     "the order of the documents is spoken of"),
    (AgentConfig(context=documents("a", "b")), "What does the first document say?",
     "the order of the documents is spoken of"),
])  # fmt: skip
def test_documents_whose_order_may_matter_keep_it(config: AgentConfig, asked: str, why: str) -> None:
    assert load("relations", "permutation.document_order")(None).lack(scenario(asked), config) == why
    assert set(drawn("document_order", scenario(asked), config)) == {None}


def test_tools_whose_order_may_matter_keep_it() -> None:
    relation = load("relations", "permutation.tool_order")(None)
    two = (ToolSpec(name="a"), ToolSpec(name="b"))
    assert (
        relation.lack(scenario("Hello."), AgentConfig(tools=two[:1])) == "the agent has fewer than two tools"
    )
    spoken = AgentConfig(prompt="Always try the first tool before the others.", tools=two)
    assert relation.lack(scenario("Hello."), spoken) == "the order of the tools is spoken of"
    assert (
        relation.lack(scenario("Hello."), AgentConfig(prompt="Use tools in order to help.", tools=two)) == ""
    )


@pytest.mark.parametrize(("text", "others"), [
    ("When do you open? What does a card cost?", {"What does a card cost? When do you open?"}),
    ("Hello. When do you open? What does a card cost? Many thanks.",
     {"Hello. What does a card cost? When do you open? Many thanks."}),
    ("- When do you open?\n- What does a card cost?", {"- What does a card cost?\n- When do you open?"}),
])  # fmt: skip
def test_questions_that_need_nothing_of_each_other_change_places(text: str, others: set[str]) -> None:
    assert asked_otherwise("question_order", text) == others


@pytest.mark.parametrize("text", [
    "Where is my order? When does it arrive?",
    "Do you have a tent? What does the tent cost?",
    "Where is my order? And what does a card cost?",
    "When do you open? I live nearby. What does a card cost?",
    "When do you open? What does a card cost? Answer that first.",
    "When do you open? Why?",
    "When do you open?",
    "When do you open? Which other shops are there?",
    "What is 5 plus 3? What is the result times two?",
    "What do you sell? Do you sell shoes?",
    "Can I return shoes? How long do I have?",
    "Can you refund A-1007? Can you cancel A-1007?",
    "Do you ship to Peru? Which parcel is cheaper?",
])  # fmt: skip
def test_questions_that_may_need_each_other_stay(text: str) -> None:
    assert asked_otherwise("question_order", text) == set()


@pytest.mark.parametrize(("text", "one", "count"), [
    ("Is it Basic, Pro or Max?", "Is it Max, Pro or Basic?", 5),
    ("Which is better, Basic or Pro?", "Which is better, Pro or Basic?", 1),
    ("Do you have the tent or the stove?", "Do you have the stove or the tent?", 1),
    ("Choose one:\n- a kayak\n- a raft", "Choose one:\n- a raft\n- a kayak", 1),
    ("Which is right?\nA) yes\nB) no\nC) both", "Which is right?\nC) both\nB) no\nA) yes", 5),
    ('Is it "soft", "hard" or "dry"?', 'Is it "dry", "hard" or "soft"?', 5),
])  # fmt: skip
def test_options_change_places(text: str, one: str, count: int) -> None:
    found = asked_otherwise("option_order", text)
    assert one in found
    assert len(found) == count


@pytest.mark.parametrize("text", [
    "Is it open a day or a night?",
    "Which hotel in New York or Paris is cheapest?",
    "Is it cheaper in New York or Paris?",
    "Tell me sooner or later.",
    "Do these steps in order, and choose a colour:\n1. Open it.\n2. Paint it.",
    "I did:\n- one thing\n- another thing",
    "Choose:\n- a kayak\n- as above, in red",
    "Send it to Alice or Bob, preferring the former.",
    "Can I pay with PayPal, Visa or Amex? I prefer the latter.",
    "Try Visa, then Mastercard or Amex.",
    "Do you have a red or a blue one? Take the first that is free.",
    "Book Rome, Milan or Paris for me, in that order of preference.",
])  # fmt: skip
def test_what_is_no_sure_list_of_options_stays(text: str) -> None:
    assert asked_otherwise("option_order", text) == set()


def test_options_whose_place_a_later_turn_speaks_of_stay() -> None:
    asked = scenario("Is it Basic, Pro or Max?", "The first one, please.")
    assert set(drawn("option_order", asked, AgentConfig())) == {None}
