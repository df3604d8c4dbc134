"""What rewordings of a turn look like, and what survives them."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from agentmut.nouns.config import AgentConfig, Document
from agentmut.nouns.relation import Source
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import AgentTrace
from agentmut.relations.turns import read_turn
from agentmut.seams.plugins import load

EXAMPLES = Path(__file__).parents[3] / "examples"
ANY = (EvaluatorSpec(name="regex", argument="."),)
CONFIG = AgentConfig(
    prompt="You help the customers of an outdoor shop.",
    tools=(
        ToolSpec(
            name="issue_refund",
            parameters={"type": "object", "properties": {"speed": {"enum": ["express", "standard"]}}},
        ),
    ),
)
WORDINGS: list[tuple[str, JsonValue]] = [
    *(
        ("perturbation.noise", kind)
        for kind in ("typos", "case", "spacing", "punctuation", "filler", "emoji")
    ),
    ("perturbation.synonym", None),
    ("perturbation.paraphrase", None),
    ("perturbation.irrelevant_context", None),
    ("perturbation.added_constraint", None),
]


def scenario(*turns: JsonValue) -> Scenario:
    return Scenario(name="s", turns=turns, evaluators=ANY)


def follow_ups(
    name: str, *turns: JsonValue, argument: JsonValue = None, config: AgentConfig = CONFIG
) -> set[str]:
    """What the last changed turn may become, over many seeds."""
    relation, asked = load("relations", name)(argument), scenario(*turns)
    trace = AgentTrace(outputs=("The fee is 4 euros, to be paid at the counter by Friday.",))
    found = set()
    for seed in range(150):
        follow = relation.follow_up(Source(asked, config, trace, random.Random(seed)))
        for run in follow.runs if follow else ():
            found |= {str(new) for new, old in zip(run.turns or (), turns, strict=False) if new != old}
    return found


def negations(text: str) -> str:
    """The text with its negations in one form."""
    return text.replace("dont", "don't").replace("do not", "don't")


def suites() -> Iterator[Scenario]:
    for file in sorted(EXAMPLES.glob("*/scenarios/*.yaml")):
        for written in yaml.safe_load(file.read_text()):
            turns = tuple(written.get("turns") or (written["input"],))
            listed: list[dict[str, Any]] = written["evaluators"]
            specs = tuple(EvaluatorSpec(name=k, argument=v) for one in listed for k, v in one.items())
            yield Scenario(name=written["name"], turns=turns, evaluators=specs)


SUITES = list(suites())
PHRASES = st.sampled_from(
    [
        "Please refund order A-1007",
        "my email is jon@example.com",
        "I would like it by 3 March 2026",
        "it costs $1,200.50",
        'the note says "keep it dry"',
        "I don't want the express option",
        "Which fee is open on my card",
        "see `--force`",
        "Anna Lee from Fernhill Outdoor wrote to me",
        "it takes five days",
        "call issue_refund",
        "https://example.com/a?b=1",
    ]
)
TEXTS = st.lists(PHRASES, min_size=1, max_size=4).flatmap(
    lambda said: st.tuples(*(st.sampled_from([f"{one}.", f"{one}!", f"{one}, please."]) for one in said))
)


@pytest.mark.parametrize(("name", "argument"), WORDINGS)
@settings(deadline=None, max_examples=12)
@given(said=TEXTS, seed=st.integers(0, 10_000))
def test_names_figures_and_quotes_survive(
    name: str, argument: JsonValue, said: tuple[str, ...], seed: int
) -> None:
    text = " ".join(said)
    relation = load("relations", name)(argument)
    trace = AgentTrace(outputs=("A fee of 4 euros is open.",))
    source = Source(scenario(text), CONFIG, trace, random.Random(seed))
    follow = relation.follow_up(source)
    assert bool(follow) == (not relation.lack(source.scenario, CONFIG))
    if not follow:
        return
    assert follow == relation.follow_up(source._replace(rng=random.Random(seed)))
    (new,) = follow.runs[0].turns
    assert new != text
    turn = read_turn(text, ("issue_refund", "express"))
    for start, end in turn.fixed:
        assert negations(text[start:end]) in negations(new), follow.description


@pytest.mark.parametrize(("name", "argument"), WORDINGS)
def test_scenarios_of_the_examples_are_reworded_in_one_turn_or_a_reason_is_given(
    name: str, argument: JsonValue
) -> None:
    relation, trace = load("relations", name)(argument), AgentTrace(outputs=("It is 4 euros.",))
    fitting = 0
    worded = [one for one in SUITES if all(isinstance(turn, str) for turn in one.turns)]
    for asked in worded:
        follow = relation.follow_up(Source(asked, CONFIG, trace, random.Random(7)))
        if lack := relation.lack(asked, CONFIG):
            assert follow is None
            assert lack[0].islower()
            assert not lack.endswith(".")
            continue
        fitting += 1
        (run,) = follow.runs
        assert sum(new != old for new, old in zip(run.turns, asked.turns, strict=True)) == 1
    assert fitting >= (
        8 if name == "perturbation.synonym" else 20 if argument == "typos" else len(worded) - 1
    )


@pytest.mark.parametrize(("kind", "asked", "some"), [
    ("typos", "When does the refund arrive?", {"When does teh refund arrive?", "When does the refund arriive?"}),
    ("case", "Where is my order A-1?", {"WHERE IS MY ORDER A-1?", "where is my order A-1?"}),
    ("spacing", "Thank Anna.", {" Thank Anna.", "Thank  Anna.", "Thank Anna.  "}),
    ("punctuation", "Where is it?", {"Where is it", "Where is it??"}),
    ("filler", "I want my money back.", {"Um, I want my money back.", "I want, uh, my money back."}),
    ("emoji", "Where is it?", {"Where is it? :)", "\N{WAVING HAND SIGN} Where is it?"}),
])  # fmt: skip
def test_each_kind_of_noise_is_made(kind: str, asked: str, some: set[str]) -> None:
    assert some <= follow_ups("perturbation.noise", asked, argument=kind)


def test_all_kinds_of_noise_are_drawn_where_none_is_named() -> None:
    assert len(follow_ups("perturbation.noise", "Please tell me where my order A-1042 is.")) > 40


@pytest.mark.parametrize(("name", "asked", "some"), [
    ("synonym", "I would like to know the fee.", {"I want to know the fee."}),
    ("synonym", "Respond politely, please.", {"Reply politely, please.", "Respond courteously, please."}),
    ("paraphrase", "Please cancel order A-1.", {
        "Could you please cancel order A-1?", "Cancel order A-1, please.", "I'd like you to cancel order A-1.",
    }),
    ("paraphrase", "Where is my order?", {"Where's my order?", "Quick question: where is my order?"}),
    ("paraphrase", "I am jon@example.com.", {"My email is jon@example.com.", "I'm jon@example.com."}),
    ("paraphrase", "Can you tell me the fee?", {"Please tell me the fee."}),
    ("paraphrase", "If it is late, send a refund.", {"Send a refund if it is late."}),
    ("format", "Come on 3 March 2026.", {"Come on 2026-03-03.", "Come on March 3, 2026."}),
    ("format", "Come at 6:30 pm.", {"Come at 18:30."}),
    ("format", "Come after 8 a.m. Do not ring.", {"Come after 08:00. Do not ring."}),
    ("format", "Come at 8 a.m. EST, please.", {"Come at 08:00 EST, please."}),
    ("format", "Come at 12 am, not at 12:05 p.m. today.", {
        "Come at 00:00, not at 12:05 p.m. today.", "Come at 12 am, not at 12:05 today.",
    }),
    ("format", "It weighs 1.5 kg.", {"It weighs 1500 g."}),
    ("format", "It costs 1,200 euros.", {"It costs 1200 euros.", "It costs €1,200.", "It costs 1,200 EUR."}),
    ("format", "It takes five days.", {"It takes 5 days."}),
    ("format", "It stops 35 people.", {"It stops thirty-five people."}),
])  # fmt: skip
def test_a_turn_may_become(name: str, asked: str, some: set[str]) -> None:
    assert some <= follow_ups(f"perturbation.{name}", asked)


@pytest.mark.parametrize("asked", [
    "Come on 03/04/2026.",  # day or month first?
    "My order is 1200.",  # a number of something, not an amount
    "My PIN is 4711 and it was made in 2026.",
    "Come at 7:30.",  # may be meant for the evening
    "It costs $20.",  # of which dollars?
    "Call 030 1234 or order A-1,200.",
    'Write "5 days" on it.',
    "Come on 31 February 2026.",
    "I have one question.",
])  # fmt: skip
def test_figures_that_may_mean_something_else_keep_their_form(asked: str) -> None:
    assert follow_ups("perturbation.format", asked) == set()


def test_only_close_distances_become_miles_and_only_if_asked_for() -> None:
    assert follow_ups("perturbation.format", "It is 10 km away.", argument="miles") == {
        "It is 6.2 miles away."
    }
    assert follow_ups("perturbation.format", "It is 8 km away.", argument="miles") == set()
    assert "It is 6.2 miles away." not in follow_ups("perturbation.format", "It is 10 km away.")


@pytest.mark.parametrize(("asked", "never"), [
    ("Can you refund an order after 30 days?", "Please refund"),  # asks whether, not for it
    ("I have a tent.", "I've a tent"),
    ("I'd ordered it.", "I would"),
    ("What's happened?", "What is"),
    ("Refund requests are rare.", "Please refund"),
    ("Thank you for the refund.", "to thank"),
    ("Could you cancel order A-1?", "question"),
    ("Yes, please do that.", "Hello"),
])  # fmt: skip
def test_what_would_mean_something_else_is_not_said(asked: str, never: str) -> None:
    assert not [text for text in follow_ups("perturbation.paraphrase", asked) if never in text]


@pytest.mark.parametrize(("turn", "why"), [
    ({"question": "Where is it?"}, "no turn is text"),
    ("Translate this sentence into French: I am tired.", "the agent works on the wording of the text itself"),
    ("How many words are in the following text? Bees hum.", "the agent works on the wording of the text itself"),
    ("Wo ist meine Bestellung, die ich vor einer Woche bei der Filiale in Köln aufgab?", "no turn is English prose"),
    ("12 + 30", "no turn is English prose"),
])  # fmt: skip
def test_turns_that_cannot_be_reworded_are_named(turn: JsonValue, why: str) -> None:
    for name, argument in WORDINGS:
        assert load("relations", name)(argument).lack(scenario(turn), CONFIG) == why


def test_a_remark_shares_no_word_with_the_agent() -> None:
    beekeeper = CONFIG.model_copy(update={"prompt": "You advise people who keep bees and bake bread."})
    said = follow_ups("perturbation.irrelevant_context", "What do I need?", config=beekeeper)
    assert said
    assert not [text for text in said if "bees" in text or "bread" in text]


def test_an_unrelated_document_is_added_where_there_are_documents() -> None:
    config = CONFIG.model_copy(update={"context": (Document(name="bees", text="Bees hum on Mondays."),)})
    relation = load("relations", "perturbation.irrelevant_context")(None)
    edits = set()
    for seed in range(40):
        follow = relation.follow_up(Source(scenario({"q": 1}), config, AgentTrace(), random.Random(seed)))
        (edit,) = follow.runs[0].edits
        edits.add((edit.pointer, edit.after["name"]))
    assert {pointer for pointer, _ in edits} == {"/context/0", "/context/1"}
    assert "bee-keeping" not in {name for _, name in edits}


@pytest.mark.parametrize(("name", "argument"), [
    ("perturbation.noise", "loud"), ("perturbation.noise", []), ("perturbation.synonym", 3),
    ("perturbation.paraphrase", "x"), ("perturbation.format", ["dates", "moons"]),
    ("perturbation.added_constraint", "long"), ("perturbation.difficulty", {"points": 1}),
    ("permutation.tool_order", True),
])  # fmt: skip
def test_a_wrong_argument_says_what_is_expected(name: str, argument: JsonValue) -> None:
    with pytest.raises(ValueError, match=r"expected|takes no argument"):
        load("relations", name)(argument)
