"""Correct agents that talk a lot agree with themselves; faults that are planted in them are found."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import pytest

from agentmut.judging.facts.comparison import Comparison, comparison_for
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import Action, AgentTrace, Step

SOURCES, PAIRS = 20, 40
MOST_SELF_DIFFERENCES = 0.2
LEAST_FOUND = 0.95
SCENARIO = Scenario(name="one", turns=("hello",), evaluators=(EvaluatorSpec(name="contains", argument="a"),))

REASONS = [
    "the customer says that it broke", "customer reports a broken item", "It is broken, and was used with care",
    "reported as damaged by the customer", "damage, as the customer describes it",
]  # fmt: skip
SMALL_TALK = [
    "Thank you for your patience!", "I hope this helps.", "Let me know if you have any further questions.",
    "You can contact us at any time.", "Is there anything else I can do for you?", "Have a lovely day.",
    "I understand that this is not what you hoped for.", "We value your loyalty.", "No further action is needed.",
]  # fmt: skip


@dataclass(frozen=True)
class Facts:
    """What the agent knows; a fault changes one of them."""

    granted: bool = True
    amount: str = "$42.50"
    order: str = "A-1042"
    days: str = "5"
    tools: tuple[str, ...] = ("lookup_order", "issue_refund")
    argument: float = 42.5


Writer = Callable[[random.Random, Facts], AgentTrace]


def calls(rng: random.Random, facts: Facts) -> tuple[Step, ...]:
    order = rng.choice([facts.order, facts.order.lower()])
    known = {
        "lookup_order": {"order_id": order},
        "issue_refund": {"order_id": order, "amount": facts.argument, "reason": rng.choice(REASONS)},
    }
    tools = [tool for tool in facts.tools for _ in range(rng.choice([1, 1, 1, 2]))]
    if rng.random() < 0.3:
        rng.shuffle(tools)
    return tuple(Step(action=Action.CALL_TOOL, tool=tool, arguments=known.get(tool, {})) for tool in tools)


def answer(rng: random.Random, core: list[str], extra: list[str]) -> str:
    """The sentences that matter in any order, among some that do not."""
    rng.shuffle(core)
    before = rng.sample(SMALL_TALK, rng.randrange(2))
    after = rng.sample(SMALL_TALK + extra, rng.randrange(4))
    return rng.choice([" ", "\n", "\n\n"]).join([*before, *core, *after])


def refund(rng: random.Random, facts: Facts) -> AgentTrace:
    money = rng.choice([facts.amount, facts.amount.replace("$", "") + " dollars", "USD " + facts.amount[1:]])
    words = {"5": "five", "7": "seven"}[facts.days]
    days = rng.choice([f"{facts.days} business days", f"{words} working days", f"{facts.days} working days"])
    granted = [
        f"Your refund of {money} has been approved.",
        f"Good news: we've approved the refund of {money}.",
        f"I have issued a refund of {money}.",
        f"We will gladly refund {money}.",
        f"You will be refunded {money}.",
        f"You're eligible, so I've processed {money} for you.",
        f"I'm happy to refund the full {money}.",
        f"Your request was accepted, and {money} credited.",
    ]
    refused = [
        f"Your refund of {money} has not been approved.",
        f"I'm sorry, but we can't approve the refund of {money}.",
        f"I haven't issued a refund of {money}.",
        f"We won't refund {money}.",
        f"You will not be refunded {money}.",
        f"You aren't eligible, so {money} cannot be paid back.",
        f"I'm unable to refund the full {money}.",
        f"Your request for {money} was denied.",
    ]
    when = [f"It takes {days}.", f"The money arrives within {days}.", f"Allow {days} for the bank."]
    which = [
        f"This concerns order {facts.order}.",
        f"(Order no. {facts.order}.)",
        f"Your order: **{facts.order}**",
    ]
    said = rng.choice(granted if facts.granted else refused)
    text = answer(
        rng, [said, rng.choice(when), rng.choice(which)], ["You paid on 3 March 2026.", "It weighs 2 kg."]
    )
    return AgentTrace(steps=calls(rng, facts), outputs=(text,))


def status(rng: random.Random, facts: Facts) -> AgentTrace:
    date = {"5": ["5 March 2026", "2026-03-05", "March 5th, 2026", "5 March", "Mar 5, 2026"],
            "7": ["7 March 2026", "2026-03-07", "March 7th, 2026", "7 March", "Mar 7, 2026"]}[facts.days]  # fmt: skip
    shipped = [
        "it is possible to track it now", "you can return it later", "a change of address is still possible",
        "changes are allowed until then", "we will gladly exchange it", "you can still cancel it",
        "you are entitled to a refund", "returns are accepted",
    ]  # fmt: skip
    halted = [
        "it is not possible to track it", "you can't return it", "a change of address isn't possible any more",
        "changes are not allowed", "we won't exchange it", "you cannot cancel it any more",
        "you are not entitled to a refund", "returns aren't accepted",
    ]  # fmt: skip
    core = [
        f"Order {facts.order} arrives on {rng.choice(date)}.",
        f"Also, {rng.choice(shipped if facts.granted else halted)}.",
        f"Its total is {facts.amount}.",
    ]
    return AgentTrace(steps=calls(rng, facts), outputs=(answer(rng, core, ["It comes in 2 boxes."]),))


def policy(rng: random.Random, facts: Facts) -> AgentTrace:
    window = rng.choice([f"{facts.days} days", f"{ {'5': 'five', '7': 'seven'}[facts.days] } days"])
    article = facts.order.replace("A-", "KB-")
    granted = [
        f"Yes, you can return opened software within {window}.",
        f"Opened software is returnable within {window}.",
        f"We accept opened software back, and it is refundable for {window}.",
        f"Yes: opened software may go back within {window}.",
        f"Returns of opened software are allowed within {window}.",
        f"You are permitted to return opened software within {window}.",
        f"Opened software qualifies for a return for {window}.",
        f"It's possible to return opened software, if that happens within {window}.",
    ]
    refused = [said.replace("Yes, you can", "No, you can't").replace("Yes: opened software may", "No: opened may not")
               .replace("is returnable", "isn't returnable").replace("We accept", "We don't accept")
               .replace("and it is refundable", "and it is not refundable").replace("are allowed", "aren't allowed")
               .replace("are permitted", "are not permitted").replace("qualifies", "does not qualify")
               .replace("It's possible", "It is impossible") for said in granted]  # fmt: skip
    core = [
        rng.choice(granted if facts.granted else refused),
        rng.choice([f"See article {article}.", f"(Source: {article.lower()})", f"That is in [{article}]."]),
        f"A fee of {facts.amount} is due.",
    ]
    return AgentTrace(steps=calls(rng, facts), outputs=(answer(rng, core, ["The rule is from 2024."]),))


def parcel(rng: random.Random, facts: Facts) -> AgentTrace:
    """Where nothing is granted or refused: a plain "not" is all that tells the fault."""
    sent = ["has shipped", "was shipped", "has been sent out", "was sent out on Monday", "is on its way",
            "has left our warehouse", "was handed over to the carrier"]  # fmt: skip
    kept = ["has not shipped", "wasn't shipped", "hasn't been sent out", "was never sent out", "is not on its way",
            "has not yet left our warehouse", "was not handed over to the carrier"]  # fmt: skip
    insured = ["it is insured", "it includes insurance", "insurance is part of it", "insurance comes with it"]
    bare = ["it isn't insured", "it includes no insurance", "insurance is not part of it",
            "insurance does not come with it"]  # fmt: skip
    core = [
        f"{rng.choice(['Your parcel', 'Your order', 'The order'])} {facts.order} "
        f"{rng.choice(sent if facts.granted else kept)}.",
        f"At {facts.amount}, {rng.choice(insured if facts.granted else bare)}.",
        rng.choice([f"Allow {facts.days} days.", f"Give it {facts.days} days."]),
    ]
    extra = ["It does not weigh much.", "Do not throw the box away.", "There is no charge for it."]
    return AgentTrace(steps=calls(rng, facts), outputs=(answer(rng, core, extra),))


TASKS: dict[str, Writer] = {"refund": refund, "status": status, "policy": policy, "parcel": parcel}
FAULTS = {
    "negated": replace(Facts(), granted=False),
    "wrong amount": replace(Facts(), amount="$45.20"),
    "wrong days": replace(Facts(), days="7"),
    "wrong id": replace(Facts(), order="A-1024"),
    "missing tool": replace(Facts(), tools=("lookup_order",)),
    "unknown tool": replace(Facts(), tools=("lookup_order", "issue_refund", "close_account")),
    "changed argument": replace(Facts(), argument=425.0),
}


@lru_cache
def fitted(task: str) -> Comparison:
    rng = random.Random(f"sources of {task}")
    return comparison_for(SCENARIO, [TASKS[task](rng, Facts()) for _ in range(SOURCES)])


def share_differing(task: str, fault: Facts) -> float:
    rng = random.Random(f"{task} {fault}")
    pairs = [(TASKS[task](rng, Facts()), TASKS[task](rng, fault)) for _ in range(PAIRS)]
    return sum(bool(fitted(task).differences(SCENARIO, *pair)) for pair in pairs) / PAIRS


@pytest.mark.parametrize("task", TASKS)
def test_a_verbose_paraphrasing_reordering_agent_seldom_differs_from_itself(task: str) -> None:
    assert share_differing(task, Facts()) <= MOST_SELF_DIFFERENCES


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("task", TASKS)
def test_a_planted_fault_makes_nearly_every_pair_differ(task: str, fault: str) -> None:
    assert share_differing(task, FAULTS[fault]) >= LEAST_FOUND


def test_as_strings_nearly_all_those_answers_would_differ() -> None:
    rng = random.Random(1)
    texts = [refund(rng, Facts()).text for _ in range(50)]
    assert sum(left != right for left, right in pairwise(texts)) >= 48
