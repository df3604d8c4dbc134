"""Relations that do not ask for the same facts: harder requests, limits, negations."""

import random
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import JsonValue

from agentmut.judging.facts.comparison import comparison_for
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.relation import FollowUp, Pair, Source
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Action, AgentTrace, Check, Step
from agentmut.seams.plugins import load

CONFIG = AgentConfig(
    prompt="You help the customers of a shop.",
    tools=tuple(ToolSpec(name=name) for name in ("issue_refund", "lookup_order")),
)


def said(text: str, *tools: str) -> AgentTrace:
    calls = tuple(Step(action=Action.CALL_TOOL, tool=tool, arguments={"order": "A-1"}) for tool in tools)
    return AgentTrace(steps=calls, outputs=(text,))


def followed(
    name: str, asked: Sequence[JsonValue], source: AgentTrace, argument: JsonValue = None, seed: int = 0
) -> tuple[Any, Source, FollowUp | None]:
    scenario = Scenario(
        name="s",
        turns=tuple(asked),
        evaluators=(
            EvaluatorSpec(name="contains", argument="30 days"),
            EvaluatorSpec(name="not_contains", argument="sorry"),
        ),
    )
    relation = load("relations", f"perturbation.{name}")(argument)
    at = Source(scenario, CONFIG, source, random.Random(seed))
    return relation, at, relation.follow_up(at)


def judged(relation: Any, source: Source, follow: FollowUp, *traces: AgentTrace) -> Check | None:
    comparison = comparison_for(source.scenario)
    check: Check | None = relation.holds(
        Pair(source.scenario, source.config, source.trace, follow, traces, comparison)
    )
    return check


GOOD, HALF, BAD = said("It is 30 days."), said("It is 9 days."), said("I am sorry.")


@pytest.mark.parametrize(("before", "after", "holds"), [
    (GOOD, (GOOD, GOOD, GOOD, GOOD), True),
    (GOOD, (HALF, BAD, HALF, BAD), True),
    (HALF, (GOOD, GOOD, GOOD, HALF), True),  # not better in one of them
    (HALF, (GOOD, GOOD, GOOD, GOOD), False),
    (BAD, (HALF, GOOD, HALF, HALF), False),
])  # fmt: skip
def test_a_run_is_worse_than_its_harder_versions_where_all_of_them_score_better(
    before: AgentTrace, after: tuple[AgentTrace, ...], holds: bool
) -> None:
    relation, source, follow = followed("difficulty", ["Until when can goods be returned?"], before)
    assert follow is not None
    assert len(follow.runs) == 4
    check = judged(relation, source, follow, *after)
    assert check is not None
    assert check.passed is holds


def test_a_harder_version_has_the_request_in_one_piece() -> None:
    asked = "Until when can goods be returned?"
    for seed in range(20):
        _, _, follow = followed("difficulty", [asked], GOOD, seed=seed)
        assert follow is not None
        texts = [str(run.turns[0]) for run in follow.runs if run.turns]
        assert len(set(texts)) == 4
        assert all(asked in text and len(text) > len(asked) + 20 for text in texts)


def words(scenario: Scenario, trace: AgentTrace) -> float:
    return float(len(trace.text.split()))


def test_difficulty_takes_a_score_of_the_projects_own(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    from types import ModuleType

    module = ModuleType("own_scores")
    module.__dict__["words"] = words
    monkeypatch.setitem(sys.modules, "own_scores", module)
    relation, source, follow = followed(
        "difficulty", ["Why is it late?"], said("a b"), {"score": "own_scores:words"}
    )
    assert follow is not None
    longer = judged(relation, source, follow, *[said("a b c")] * 4)
    assert longer is not None
    assert not longer.passed
    assert "scores 2, and 3, 3, 3, 3" in longer.reason


LONG = said(
    "Goods can be returned within 30 days of their delivery, and the return is free of charge for you."
)


def test_a_limit_is_added_to_the_last_turn_and_fits_the_answer_without_it() -> None:
    limits = set()
    for seed in range(80):
        _, _, follow = followed(
            "added_constraint", ["I have a tent.", "How long can I return it?"], LONG, seed=seed
        )
        assert follow is not None
        (run,) = follow.runs
        assert run.turns is not None
        assert run.turns[0] == "I have a tent."
        limits.add(str(run.turns[1]).removeprefix("How long can I return it? "))
    # The answer has 19 words.
    assert {
        "Answer in at most 10 words.", "Answer in at most 14 words.", "Answer in one sentence.",
        "Answer with the number only.", "Please use no more than 19 words.",
    } <= limits  # fmt: skip


@pytest.mark.parametrize(("after", "direction", "obeys"), [
    ("Within 30 days.", True, True),
    ("Goods can be returned within 30 days of their delivery, and the return is free of charge for you.", True, False),
    ("I keep it short. " * 12, False, False),
])  # fmt: skip
def test_a_limit_must_not_make_the_answer_longer_and_may_have_to_be_kept(
    after: str, direction: bool, obeys: bool
) -> None:
    for argument, expected in ((None, direction), ("obey", obeys)):
        relation, source, follow = followed("added_constraint", ["Can I return it?"], LONG, argument)
        assert follow is not None
        follow = follow.model_copy(update={"expected": {"kind": "words", "words": 10}})
        check = judged(relation, source, follow, said(after))
        assert check is not None
        assert check.passed is expected


@pytest.mark.parametrize("source", [AgentTrace(), said('{"days": 30}'), AgentTrace(outputs=({"days": 30},))])
def test_no_limit_is_set_to_an_answer_that_is_no_prose(source: AgentTrace) -> None:
    assert followed("added_constraint", ["Can I return it?"], source)[2] is None


def test_a_request_that_speaks_of_length_gets_no_further_limit() -> None:
    relation, source, follow = followed("added_constraint", ["Please answer in three sentences."], LONG)
    assert follow is None
    assert relation.lack(source.scenario, CONFIG) == "the user speaks of how long the answer is to be"


@pytest.mark.parametrize(("asked", "negated"), [
    ("Please refund my order A-1.", "Please do not refund my order A-1."),
    ("Refund my order A-1, I am lee@example.com.", "Do not refund my order A-1, I am lee@example.com."),
    ("I would like a refund for order A-1.", "I do not want a refund for order A-1."),
    ("I want you to refund order A-1.", "I do not want you to refund order A-1."),
    ("Could you please refund order A-1?", "Please do not refund order A-1."),
    ("The tent leaks. Please refund it.", "The tent leaks. Please do not refund it."),
])  # fmt: skip
def test_a_request_is_negated_and_its_tool_must_not_be_called(asked: str, negated: str) -> None:
    relation, source, follow = followed(
        "negation", [asked], said("Refunded.", "lookup_order", "issue_refund")
    )
    assert follow is not None
    assert [run.turns for run in follow.runs] == [(negated,)]
    kept = judged(relation, source, follow, said("All right.", "lookup_order"))
    broken = judged(relation, source, follow, said("As you wish.", "lookup_order", "issue_refund"))
    assert kept is not None
    assert kept.passed
    assert broken is not None
    assert not broken.passed
    assert "issue_refund was called all the same" in broken.reason


def test_what_was_turned_down_anyway_is_not_negated() -> None:
    relation, source, follow = followed("negation", ["Please refund order A-1."], said("No.", "lookup_order"))
    assert follow is None
    assert relation.lack(source.scenario, CONFIG) == ""


@pytest.mark.parametrize("asked", [
    "Can it be returned?",  # "Can it not be returned?" asks the same
    "Please refund it. Can you help me with that?",  # with what is left open
    "Please refund all of them.", "I want a refund because it leaks.",  # not all, or not for that reason?
    "Please do not refund it.", "Where is my order?", "Please refund it, or was the refund sent already?",
    "I was told that refund requests are rare.", "Until when can goods be returned?",
])  # fmt: skip
def test_what_has_no_sure_negation_is_left_alone(asked: str) -> None:
    relation, source, follow = followed("negation", [asked], said("Done.", "issue_refund"))
    assert follow is None
    assert relation.lack(source.scenario, CONFIG) == (
        "no turn has a request or a question that can be negated for sure"
    )


def test_a_request_whose_tool_is_not_known_is_named() -> None:
    relation, source, follow = followed(
        "negation", ["Please cancel order A-1."], said("Done.", "issue_refund")
    )
    assert follow is None
    assert "no tool is named after what is asked for" in relation.lack(source.scenario, CONFIG)


def test_a_question_for_which_things_is_negated_and_its_answer_must_differ() -> None:
    told = said("Tents and stoves.")
    relation, source, follow = followed("negation", ["Which goods can be returned?"], told)
    assert relation.lack(source.scenario, CONFIG) == ""
    assert follow is not None
    assert [run.turns for run in follow.runs] == [("Which goods cannot be returned?",)]


@pytest.mark.parametrize(("before", "after", "holds"), [
    ("I am sorry, I have no information about that.", "I am sorry, I have no information about that.", None),
    ("I cannot say which.", "Gift cards cannot be returned.", None),
    ("Tents can be returned within 30 days.", "Tents can be returned within 30 days.", False),
    ("Tents can be returned. I cannot tell you how glad I am.", "Tents can be returned. I do not know why.", False),
])  # fmt: skip
def test_an_answer_that_is_not_known_need_not_differ_from_that_to_the_contrary(
    before: str, after: str, holds: bool | None
) -> None:
    relation, source, follow = followed("negation", ["Which goods can be returned?"], said(before))
    assert follow is not None
    runs = [said(before), said(f"Hello! {before}"), said(f"{before} Bye."), said(before), said(before)]
    comparison = comparison_for(source.scenario, runs)
    pair = Pair(source.scenario, source.config, source.trace, follow, (said(after),), comparison)
    check: Check | None = relation.holds(pair)
    assert (check and check.passed) is holds
