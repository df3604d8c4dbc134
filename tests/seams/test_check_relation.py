"""`agentmut.testing.check_relation` passes sound relations and names what is wrong with others."""

import random
from typing import Any

import pytest

from agentmut.nouns.mutant import Edit
from agentmut.nouns.relation import Expectation, FollowUp, FollowUpRun, Source
from agentmut.nouns.trace import Check
from agentmut.relations.base import run, source
from agentmut.seams import HasExampleArgument
from agentmut.seams.make_relation import plain_text, relation
from agentmut.seams.plugins import load_all
from agentmut.seams.protocols.relation import RelationExample
from agentmut.testing import check_relation

ASKED = source("What does it cost?", answer="It costs $20.")
EXAMPLES = [
    RelationExample(ASKED, (run("The price is 20 dollars."),), holds=True),
    RelationExample(ASKED, (run("It costs $2."),), holds=False),
]
PASSED = Check(evaluator="x", passed=True, reason="fine")
ARGUMENTS: dict[str, list[Any]] = {
    "composition.ask_again": ["Really?"],
    "composition.retry": [{"tools": ["issue_refund"]}],
    "composition.pipeline": [{"first": 1, "last": 2, "right": {"regex": "."}}],
    "composition.substitute_agent": [{"prompt": "Serve."}],
    "composition.split_request": [{"scenario": "sample", "parts": ["a", "b"]}],
    "oracle.constraints": [{"max_words": 3, "language": "German"}],
    "oracle.format": ["json", "table", "csv", {"json_schema": {"type": "object"}}],
    "oracle.idempotence": [{"after": "is"}],
    "oracle.round_trip": [{"there": "is", "back": "Back:", "exact": True}],
    "oracle.refusal": [{"wordings": ["Hi. {request}"]}],
}


def polite(source: Source) -> FollowUp:
    """A polite form."""
    turns = tuple(f"Please: {turn}" for turn in source.scenario.turns)
    return FollowUp(runs=(FollowUpRun(turns=turns),), description="politely")


def defined(follow: Any = polite, **changes: Any) -> Any:
    given: dict[str, Any] = {
        "why": "Politeness matters.",
        "examples": EXAMPLES,
        "lack": plain_text,
        **changes,
    }
    return relation(given.pop("id", "perturbation.polite"), **given)(follow)


@pytest.mark.parametrize(("name", "built_in"), load_all("relations").items(), ids=load_all("relations"))
def test_every_built_in_relation_is_sound(name: str, built_in: Any) -> None:
    check_relation(built_in, *ARGUMENTS.get(name, []))


def draws(source: Source) -> FollowUp:
    return polite(source).model_copy(update={"description": f"{random.random()}"})


def counts(source: Source) -> FollowUp:
    counts.calls += 1  # type: ignore[attr-defined]
    return polite(source).model_copy(update={"description": f"call {counts.calls}"})  # type: ignore[attr-defined]


counts.calls = 0  # type: ignore[attr-defined]


def spoils(source: Source) -> FollowUp:
    for step in source.trace.steps:
        (step.arguments or {}).clear()
    return polite(source)


def shouts(source: Source) -> FollowUp:
    turn: Any = source.scenario.turns[0]
    return FollowUp(runs=(FollowUpRun(turns=(turn.upper(),)),), description="in capitals")


def edits(source: Source) -> FollowUp:
    edit = Edit(pointer="/prompt", before="something else", after="x")
    return FollowUp(runs=(FollowUpRun(edits=(edit,)),), description="another prompt")


def says(follow_up: Any) -> Any:
    return lambda source: follow_up


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (defined(draws), "draws from a global random generator"),
        (defined(counts), "another follow-up the second time"),
        (defined(spoils), "changed the source"),
        (defined(edits), "edits do not apply"),
        (defined(says(FollowUp(description="nothing"))), "an invariant compares runs"),
        (defined(says(FollowUp(runs=(FollowUpRun(turns=()),), description="x"))), "has no turns"),
        (defined(says(FollowUp(runs=(FollowUpRun(),), description=""))), "description of its follow-up is empty"),
        (defined(says("again")), "must give a FollowUp or None"),
        (defined(says(None)), "so that there is nothing to judge"),
        (defined(shouts, lack=None), "has no attribute 'upper'"),
        (defined(examples=[]), "no example in which it holds"),
        (defined(examples=EXAMPLES[:1]), "no example in which it does not hold"),
        (defined(examples=[EXAMPLES[0]._replace(holds=False), EXAMPLES[1]]), "not what the example says"),
        (defined(examples=[EXAMPLES[0]._replace(traces=()), EXAMPLES[1]]), "asks for 1 runs, but it has 0 traces"),
        (defined(examples=[("a",)]), "raised TypeError"),
        (defined(lack=lambda scenario, config: "It does not fit.\n"), "a phrase of one line"),
        (defined(lack=lambda scenario, config: "It does not fit."), "without a full stop"),
        (defined(lack=lambda scenario, config: None), "lack() must be a phrase, got None"),
        (defined(lack=lambda scenario, config: 1 / 0), "lack() raised ZeroDivisionError"),
        (defined(holds=lambda pair: False), "does not hold of a run and the same"),
        (defined(holds=lambda pair: "yes"), "holds() must give a Check or None"),
        (defined(holds=lambda pair: pair.traces[0].outputs[0] == ""), "holds() raised IndexError"),
        (defined(holds=lambda pair: PASSED.model_copy(update={"reason": " "})), "its check has no reason"),
        (defined(holds=lambda pair: random.random() < 0.5), "judged the same pair otherwise"),
        (defined(version=0), "its version is 0"),
        (defined(why="Two\nlines"), "why must say in one line"),
    ],
)  # fmt: skip
def test_an_unsound_relation_is_refused_with_the_reason(kind: Any, said: str) -> None:
    with pytest.raises(AssertionError) as raised:
        check_relation(kind)
    assert said in str(raised.value)
    assert str(raised.value).startswith("perturbation.polite is no sound relation:")


def test_a_class_without_the_parts_of_a_relation_is_refused_with_what_is_missing() -> None:
    class Bare:
        id = "oracle.bare"

    with pytest.raises(AssertionError) as raised:
        check_relation(Bare)  # type: ignore[arg-type]
    assert "class attribute 'family' is missing" in str(raised.value)
    assert "method follow_up() is missing" in str(raised.value)


def test_family_and_id_must_agree() -> None:
    class Elsewhere(defined()):  # type: ignore[misc]
        id = "oracle.polite"

    with pytest.raises(AssertionError, match=r"expected perturbation\.name, after its family"):
        check_relation(Elsewhere)


def test_an_argument_is_refused_by_value_error_alone() -> None:
    class Careless(defined()):  # type: ignore[misc]
        def __init__(self, argument: Any = None) -> None:
            self.words = argument["words"] if argument else 3

    with pytest.raises(AssertionError, match="raise ValueError with what is expected"):
        check_relation(Careless)


def test_a_relation_that_needs_an_argument_says_which_its_examples_have() -> None:
    class Needy(defined()):  # type: ignore[misc]
        expectation = Expectation.INVARIANT

        def __init__(self, argument: Any = None) -> None:
            if argument != "so":
                raise ValueError("expects so")

    with pytest.raises(AssertionError, match="HasExampleArgument"):
        check_relation(Needy)
    check_relation(type("Named", (Needy, HasExampleArgument), {"example_argument": "so"}))
    with pytest.raises(AssertionError, match="with the argument 'thus' it refused to be built: expects so"):
        check_relation(type("Named", (Needy,), {"example_argument": "so"}), "thus")
