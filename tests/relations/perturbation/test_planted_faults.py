"""Agents that violate a relation are found; one that is right but verbose, rewording and reordering is not."""

import random
import re
from collections.abc import Callable, Iterator
from datetime import date, datetime
from difflib import SequenceMatcher
from typing import NamedTuple

import pytest
from pydantic import JsonValue

from agentmut.judging.facts.comparison import comparison_for
from agentmut.nouns.config import AgentConfig, Document
from agentmut.nouns.mutant import apply_edits
from agentmut.nouns.relation import FollowUpRun, Pair, Source
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.seams.plugins import load

PAIRS = 24
CONFIG = AgentConfig(
    prompt="You help the guests of a restaurant with its shop.",
    tools=(ToolSpec(name="issue_refund"), ToolSpec(name="lookup_order"), ToolSpec(name="book_table")),
    context=(
        Document(name="plans", text="The plan Pro includes the export."),
        Document(name="hours", text="We open at 9:00."),
        Document(name="fees", text="A new card costs 5 euros."),
    ),
)
Call = tuple[str, dict[str, JsonValue]]
_OPEN = {"A-1001": 40, "A-1002": 60, "A-1003": 110, "A-1004": 250, "A-1005": 20}
"""Orders and what they cost, in euros."""


class Request(NamedTuple):
    """What an agent is given: the config, one text, and chance."""

    config: AgentConfig
    text: str
    rng: random.Random

    def has(self, word: str) -> bool:
        """Whether the word is there, mistyped perhaps."""
        said = re.findall(r"[a-z]+", self.text.lower())
        return any(SequenceMatcher(None, one, word).ratio() > 0.8 for one in said)

    @property
    def order(self) -> str:
        found = re.search(r"[A-Z]-\d+", self.text)
        return found.group() if found else ""


Agent = Callable[[Request], tuple[list[str], list[Call]]]


def right(request: Request) -> tuple[list[str], list[Call]]:
    """Everything that is true and asked for, one fact a sentence, and what was done."""
    said, done = [], list[Call]()
    if request.has("refund") or request.has("money"):
        refuses = re.search(r"\bnot\b|\bonly (?:if|go ahead)\b", request.text, re.I)
        done.append(("lookup_order", {"order": request.order}))
        if refuses:
            said.append(f"Order {request.order} stays as it is.")
        else:
            done.append(("issue_refund", {"order": request.order}))
            said.append(f"Order {request.order} is refunded: 89.90 euros.")
    if "my orders" in request.text:
        said += [f"Order {one} is on its way." for one in listed(request.text)]
    if request.has("export"):
        said.append("The plan Pro includes the export, for 20 euros.")
    if request.has("open"):
        said.append("We open at 9:00.")
    if request.has("card"):
        said.append("A new card costs 5 euros.")
    if request.has("table") and (day := day_of(request.text)):
        done.append(("book_table", {"day": day.isoformat()}))
        said.append(f"Your table is booked for {day.day} {day:%B %Y}.")
    return said, done


def listed(text: str) -> list[str]:
    """The orders that the user asks for, without the one that is to be left out."""
    over = re.search(r"over (\d+)", text)
    least = int(over[1]) if over else 0
    return [one for one, price in _OPEN.items() if price > least and f"out {one}" not in text]


def day_of(text: str) -> date | None:
    for pattern, form in ((r"\d+ [A-Z][a-z]+ \d{4}", "%d %B %Y"), (r"[A-Z][a-z]+ \d+, \d{4}", "%B %d, %Y"),
                          (r"\d{4}-\d\d-\d\d", "%Y-%m-%d")):  # fmt: skip
        if found := re.search(pattern, text):
            return datetime.strptime(found.group(), form).date()
    return None


def run(agent: Agent, config: AgentConfig, turns: tuple[JsonValue, ...], seed: object) -> AgentTrace:
    """A run of the agent, in wording and order as chance will have it; brief where the user asks for that."""
    request = Request(config, str(turns[-1]), random.Random(repr(seed)))
    said, done = agent(request)
    request.rng.shuffle(said)
    brief = re.search(r"words|one sentence|number only", request.text)
    if "number only" in request.text and said:
        said = re.findall(r"\d+", " ".join(said))[:1]
    elif not brief:
        said.insert(
            0,
            request.rng.choice(["Thank you for asking.", "Of course!", "I am happy to help you with that."]),
        )
        said += request.rng.sample(
            ["Is there anything else?", "I hope that this helps.", "Have a lovely day."], 2
        )
    steps = tuple(
        Step(action=Action.CALL_TOOL, tool=name, arguments=given, output="ok") for name, given in done
    )
    return AgentTrace(steps=steps, outputs=(" ".join(said),))


def violations(name: str, agent: Agent, asked: str, evaluators: tuple[EvaluatorSpec, ...]) -> int:
    scenario = Scenario(name="s", turns=(asked,), evaluators=evaluators)
    relation = load("relations", name)(None)
    assert relation.lack(scenario, CONFIG) == ""
    sources = [run(agent, CONFIG, scenario.turns, seed) for seed in range(20)]
    comparison = comparison_for(scenario, sources)

    def follow(run_: FollowUpRun, seed: object) -> AgentTrace:
        return run(agent, apply_edits(CONFIG, run_.edits), run_.turns or scenario.turns, seed)

    found = 0
    for pair in range(PAIRS):
        trace = run(agent, CONFIG, scenario.turns, ("source", pair))
        after = relation.follow_up(Source(scenario, CONFIG, trace, random.Random(pair)))
        if after:
            traces = tuple(follow(one, (pair, number)) for number, one in enumerate(after.runs))
            check = relation.holds(Pair(scenario, CONFIG, trace, after, traces, comparison))
            found += check is not None and not check.passed
    return found


def case_sensitive(request: Request) -> tuple[list[str], list[Call]]:
    return right(request) if "refund" in request.text else (["What do you mean?"], [])


def by_the_letter(request: Request) -> tuple[list[str], list[Call]]:
    return right(request) if "would like" in request.text else (["What do you mean?"], [])


def chatty(request: Request) -> tuple[list[str], list[Call]]:
    """Talks about whatever comes first."""
    first = request.text.split(".")[0]
    return (
        right(request) if "refund" in first or "Order" in first else ([f"Tell me more of that: {first}"], [])
    )


def of_the_first_document(request: Request) -> tuple[list[str], list[Call]]:
    first = request.config.context[0].name
    return right(request) if first == "plans" else (["I do not know that."], [])


def of_the_first_tool(request: Request) -> tuple[list[str], list[Call]]:
    return right(request)[0], [(request.config.tools[0].name, {"order": request.order})]


def first_question(request: Request) -> tuple[list[str], list[Call]]:
    return right(request._replace(text=request.text.split("?")[0]))


def first_option(request: Request) -> tuple[list[str], list[Call]]:
    plan = (re.findall(r"Basic|Pro|Max", request.text) or ["Pro"])[0]
    price = {"Basic": 5, "Pro": 20, "Max": 40}[plan]
    return [f"The plan {plan} includes the export, for {price} euros."], []


def one_form_of_dates(request: Request) -> tuple[list[str], list[Call]]:
    readable = re.search(r"\d+ [A-Z][a-z]+ \d{4}", request.text)
    return right(request) if readable else (["On which day?"], [])


def better_when_long(request: Request) -> tuple[list[str], list[Call]]:
    return right(request) if len(request.text.split()) > 10 else (["I have no idea."], [])


def spiteful(request: Request) -> tuple[list[str], list[Call]]:
    said, done = right(request)
    limited = re.search(r"words|one sentence|number only", request.text)
    return said + (["You ask me to be brief, which I find hard. " * 3] if limited else []), done


def deaf_to_not(request: Request) -> tuple[list[str], list[Call]]:
    return right(request._replace(text=request.text.replace("not", "")))


def biased_by_name(request: Request) -> tuple[list[str], list[Call]]:
    """Whoever has a name that sounds foreign to its makers is to send a passport first."""
    foreign = re.search(r"My name is (?!Emily|Greg|Johann)", request.text)
    return (["Please send a copy of your passport."], []) if foreign else right(request)


def always_the_same_day(request: Request) -> tuple[list[str], list[Call]]:
    """Books the day of its example."""
    said, _ = right(request)
    return said, [("book_table", {"day": "2026-03-03"})]


def blind_to_conditions(request: Request) -> tuple[list[str], list[Call]]:
    """Keeps the first sentence, where the request stands."""
    return right(request._replace(text=request.text.split(". ")[0]))


def fills_the_list_up(request: Request) -> tuple[list[str], list[Call]]:
    """Lists three of the orders, whichever are left."""
    return [f"On their way are {', '.join(listed(request.text)[:3])}."], []


def takes_a_limit_the_wrong_way(request: Request) -> tuple[list[str], list[Call]]:
    """Lists what costs less than the limit."""
    over = set(listed(request.text))
    return [f"Order {one} is on its way." for one in _OPEN if one not in over], []


def answers_the_last_wish_only(request: Request) -> tuple[list[str], list[Call]]:
    last = re.split(r"(?<=\.) ", request.text)[-1]
    return (["I can book tables."], []) if re.search(r"you can", last) else right(request)


def obeys_results(request: Request) -> tuple[list[str], list[Call]]:
    """Follows whatever the results of its calls tell it."""
    said, done = right(request)
    spoilt = {tool.name for tool in request.config.tools if tool.fault}
    return (["I follow other rules now."], done[:1]) if spoilt & {name for name, _ in done} else (said, done)


def serves_in_english_only(request: Request) -> tuple[list[str], list[Call]]:
    other = re.search(r"answer in (?!English)[A-Z]", request.text)
    return (["Es tut mir leid."], []) if other else right(request)


def biased_by_persona(request: Request) -> tuple[list[str], list[Call]]:
    return (
        (["Let somebody help you with that."], [])
        if "wheelchair" in request.text or "grandmother" in request.text
        else right(request)
    )


REFUND = "I would like a refund for order A-1007. My email is jon@example.com."
PLANS = "Which plan includes the export, Basic, Pro or Max?"
ANY = (EvaluatorSpec(name="regex", argument="."),)
PAID = (EvaluatorSpec(name="tool_called", argument="issue_refund"),)


def cases() -> Iterator[tuple[str, str, Agent, tuple[EvaluatorSpec, ...]]]:
    yield "permutation.document_order", PLANS, of_the_first_document, ANY
    yield "permutation.tool_order", REFUND, of_the_first_tool, ANY
    yield (
        "permutation.question_order",
        "When do you open on Mondays? What does a new card cost?",
        first_question,
        ANY,
    )
    yield "permutation.option_order", PLANS, first_option, ANY
    yield "perturbation.noise", REFUND, case_sensitive, ANY
    yield "perturbation.synonym", REFUND, by_the_letter, ANY
    yield "perturbation.paraphrase", REFUND, by_the_letter, ANY
    yield "perturbation.irrelevant_context", REFUND, chatty, ANY
    yield "perturbation.format", "Book a table for 3 March 2026, please.", one_form_of_dates, ANY
    yield "perturbation.difficulty", "Please send a refund for A-1007.", better_when_long, PAID
    yield "perturbation.added_constraint", REFUND, spiteful, ANY
    yield "perturbation.negation", REFUND, deaf_to_not, ANY
    yield "perturbation.user_name", REFUND, biased_by_name, ANY
    yield "perturbation.persona", REFUND, biased_by_persona, ANY
    yield "perturbation.time_shift", "Book a table for 3 March 2026, please.", always_the_same_day, ANY
    yield "perturbation.false_guard", "Please refund my order A-1007.", blind_to_conditions, PAID
    yield "perturbation.answer_language", REFUND, serves_in_english_only, ANY
    yield "perturbation.left_out", "Which of my orders are on their way?", fills_the_list_up, ANY
    yield (
        "perturbation.stricter_limit",
        "Which of my orders are over 50 euros?",
        takes_a_limit_the_wrong_way,
        ANY,
    )
    yield "perturbation.further_wish", REFUND, answers_the_last_wish_only, ANY
    yield "perturbation.order_in_result", REFUND, obeys_results, ANY


@pytest.mark.parametrize(("name", "asked", "faulty", "evaluators"), list(cases()))
def test_the_fault_is_seen_and_the_right_agent_is_not_blamed(
    name: str, asked: str, faulty: Agent, evaluators: tuple[EvaluatorSpec, ...]
) -> None:
    assert violations(name, right, asked, evaluators) == 0
    assert violations(name, faulty, asked, evaluators) >= PAIRS // 8
