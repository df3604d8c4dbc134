"""Judgements that were wrong on the real agents of tests/quality, and are right now."""

from typing import Any

import pytest

from agentmut.judging.facts.comparison import Comparison, comparison_for
from agentmut.language.extractors.decisions import decisions
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.relation import SAME_AGAIN, FollowUp, FollowUpRun, Pair, Source
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Action, AgentTrace, Check, Step
from agentmut.relations.base import call, run, source
from agentmut.relations.composition.retry import Retry
from agentmut.relations.oracle.constraints import ConstraintPreservation
from agentmut.relations.oracle.no_change import NoChange
from agentmut.relations.oracle.tool_arguments import ToolArguments

NOTHING = FollowUp(description="nothing is run")
TWICE = FollowUp(runs=(FollowUpRun(),), description="sent twice")
NO_FACTS = Comparison(())
ASKED_MODEL = Step(action=Action.REASON, output="")


def judged(
    relation: Any, asked: Source, *after: AgentTrace, follow_up: FollowUp = NOTHING,
    comparison: Comparison = NO_FACTS,
) -> Check | None:  # fmt: skip
    said: Check | None = relation.holds(
        Pair(asked.scenario, asked.config, asked.trace, follow_up, after, comparison)
    )
    return said


def holds(said: Check | None) -> bool | None:
    return None if said is None else said.passed


def test_a_word_is_what_stands_between_spaces() -> None:
    asked = "What does it cost? Answer in at most 7 words."
    fits = "A well-known price: **12.90 euros** – it's fair."
    assert holds(judged(ConstraintPreservation(), source(asked, answer=fits))) is True
    assert holds(judged(ConstraintPreservation(), source(asked, answer=f"{fits} Really."))) is False


@pytest.mark.parametrize(
    ("says", "expected"),
    [
        ("Pays money back, the amount in euros.", False),
        ("Pays money back, the amount in cents of euros.", True),
        ("Pays money back.", True),
    ],
)
def test_a_hundred_times_the_amount_is_wrong_where_the_tool_takes_euros(says: str, expected: bool) -> None:
    config = AgentConfig(prompt="Help.", tools=(ToolSpec(name="pay_back", description=says),))
    paid = run("Done.", steps=[call("pay_back", order_id="A-1042", amount=8995.0)])
    asked = source("Pay back 89.95 euros for A-1042.", answer=paid, config=config)
    assert holds(judged(ToolArguments(), asked)) is expected


DESK = AgentConfig(prompt="Help.", tools=(ToolSpec(name="issue_refund", description="Refund an order."),))


def refund(note: str, output: object = "ok") -> Step:
    return call("issue_refund", output, order_id="A-1042", note=note)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([refund("broken"), refund("wrote again")], False),
        ([refund("broken")], True),
        ([refund("broken", {"success": False}), refund("broken")], True),
        ([refund("broken", {"status": "failed"}), refund("again")], True),
        ([refund("broken", {"success": True}), refund("broken", {"success": True})], False),
    ],
)
def test_a_deed_done_again_in_other_words_is_seen_where_no_call_says_its_turn(
    steps: list[Step], expected: bool
) -> None:
    asked = source("Refund A-1042.", answer=run("Done.", steps=[ASKED_MODEL, refund("broken")]), config=DESK)
    after = run("Done.", "Done.", steps=[ASKED_MODEL, *steps, ASKED_MODEL])
    assert holds(judged(Retry(), asked, after, follow_up=TWICE)) is expected


@pytest.mark.parametrize(
    "said", ["We do not accept returns of worn boots.", "We no longer take worn boots back."]
)
def test_what_a_shop_does_not_do_is_refused(said: str) -> None:
    assert decisions(said) == {"no"}


@pytest.mark.parametrize(
    "said", ["You do not pay for returns.", "You do not have to return it.", "Do not worry."]
)
def test_what_one_need_not_do_is_no_refusal(said: str) -> None:
    assert decisions(said) == frozenset()


def test_a_flaky_agent_contradicts_itself_though_nothing_of_it_is_stable() -> None:
    said = [f"Goods can be returned within {14 if number % 2 else 30} days." for number in range(20)]
    asked = source("How long?", answer=said[0])
    found = comparison_for(asked.scenario, [run(one) for one in said])
    changed, same = (
        judged(NoChange(), asked, run(one), follow_up=SAME_AGAIN, comparison=found) for one in said[1:3]
    )
    assert changed is not None and "30 days became 14 days" in changed.reason
    assert (holds(changed), holds(same)) == (False, True)


def test_a_number_of_its_own_in_each_run_is_no_contradiction() -> None:
    said = [f"Your ticket is T-{4000 + 7 * number}, and you pay 20 euros." for number in range(20)]
    asked = source("How much?", answer=said[0])
    found = comparison_for(asked.scenario, [run(one) for one in said])
    after = run("You pay 20 euros, and your ticket is T-9123.")
    assert holds(judged(NoChange(), asked, after, follow_up=SAME_AGAIN, comparison=found)) is True


def test_a_number_that_only_some_answers_mention_is_no_contradiction() -> None:
    said = [f"Goods can be returned{' within 30 days' if number % 2 else ''}." for number in range(20)]
    asked = source("How long?", answer=said[0])
    found = comparison_for(asked.scenario, [run(one) for one in said])
    assert holds(judged(NoChange(), asked, run(said[1]), follow_up=SAME_AGAIN, comparison=found)) is True


def test_what_each_answer_affirms_or_denies_is_contradicted_where_half_of_them_do() -> None:
    said = [f"Your order has {'not ' * (number % 2)}shipped." for number in range(20)]
    asked = source("Where is it?", answer=said[0])
    found = comparison_for(asked.scenario, [run(one) for one in said])
    again = [
        holds(judged(NoChange(), asked, run(one), follow_up=SAME_AGAIN, comparison=found)) for one in said[:2]
    ]
    assert again == [True, False]


def test_two_figures_that_answers_mention_now_and_then_are_of_two_things() -> None:
    both = ["It arrives in 5 days.", "You can return it within 30 days."]
    said = [" ".join(["Fine.", *both[: number % 3], *both[1 : number % 2 + 1]]) for number in range(20)]
    asked = source("And now?", answer=both[0])
    found = comparison_for(asked.scenario, [run(one) for one in said])
    after = run(both[1])
    assert holds(judged(NoChange(), asked, after, follow_up=SAME_AGAIN, comparison=found)) is True
