"""Agents in stages, of several requests, of several turns: what one part did is lost in the next."""

import json
import re
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

import agentmut
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.trace import AgentTrace
from agentmut.recording.current import current_trial
from tests.quality.faulty_agents.cases import Case
from tests.quality.faulty_agents.harness import ask, chance
from tests.quality.faulty_agents.talking import at_length, sentences

SHOP = """# Fernhill Outdoor

Unused goods can be returned within 30 days of delivery.
Express delivery costs 12.90 euros.
The warranty on tents lasts 24 months.
Worn boots cannot be returned.
"""
OLD_SHOP = SHOP.replace("30 days", "14 days").replace("12.90", "9.50")
HELPS = "You answer customers of Fernhill Outdoor."
ORDERS = {
    "A-1042": {"status": "in transit", "expected": "12 June 2026", "total": 189.0},
    "A-1007": {"status": "delivered", "expected": "3 May 2026", "total": 89.9},
}
RETURN, EXPRESS, WARRANTY = (
    "How long can unused goods be returned?",
    "How much does express delivery cost?",
    "How long does the warranty on tents last?",
)


def asked(name: str, *turns: str) -> dict[str, Any]:
    """A scenario. What it is judged by is of no account here."""
    said = {"turns": list(turns)} if len(turns) > 1 else {"input": turns[0]}
    return {"name": name, **said, "evaluators": [{"regex": "."}]}


def turns_of(input: Any) -> list[str]:
    return [str(turn) for turn in input] if isinstance(input, list) else [str(input)]


@agentmut.tool
def lookup_order(order_id: str) -> dict[str, Any]:
    """Look up an order: its status, when it is expected, and its total."""
    return ORDERS.get(order_id, {"error": "no such order"})


# The request goes through two stages: one looks things up, one writes.


def _answer_from(config: AgentConfig, request: str, found: Any) -> str:
    """The second stage: the model gets the notes of the first, and writes."""
    notes = "\n".join(f"The {name} of the order is {value}." for name, value in found.items())
    given = f'<document name="notes">\n{notes}\n</document>'
    written = ask(config, request, offered=(), system=given)
    return at_length(chance(), f"{' '.join(sentences(written))} {notes}")


def _looked_up(config: AgentConfig, request: str) -> dict[str, Any]:
    """The first stage: the model calls the tool."""
    talk: list[Any] = []
    ask(config, request, toolbox=[lookup_order], messages=talk)
    results = [json.loads(one["content"]) for one in talk if one["role"] == "tool"]
    return results[-1] if results else {}


def two_stages(config: AgentConfig, input: Any) -> str:
    found = _looked_up(config, str(input))
    return _answer_from(config, str(input), found)


def notes_are_cut(config: AgentConfig, input: Any) -> str:
    """Hands over the first note only, as if there was no room for more."""
    found = _looked_up(config, str(input))
    return _answer_from(config, str(input), dict(list(found.items())[:1]))


def _conversation(config: AgentConfig, input: Any, *, remembers: bool) -> AgentTrace:
    talk: list[Any] = []
    said = []
    for turn in turns_of(input):
        if not remembers:
            talk.clear()
        answer = ask(config, turn, toolbox=[lookup_order], messages=talk)
        notes = [json.loads(one["content"]) for one in talk if one["role"] == "tool"]
        known = [
            f"The {name} of the order is {value}." for note in notes[-1:] for name, value in note.items()
        ]
        said.append(at_length(chance(), " ".join((*sentences(answer), *known))))
    return AgentTrace(outputs=tuple(said))


def remembering(config: AgentConfig, input: Any) -> AgentTrace:
    return _conversation(config, input, remembers=True)


def without_memory(config: AgentConfig, input: Any) -> AgentTrace:
    """Sends the last turn alone."""
    return _conversation(config, input, remembers=False)


# Questions on the documents, in one turn or several.


def _each(config: AgentConfig, input: Any, said: Any) -> Any:
    answers = tuple(said(config, turn) for turn in turns_of(input))
    return AgentTrace(outputs=answers) if len(answers) > 1 else answers[0]


def _answered(config: AgentConfig, request: str) -> str:
    return at_length(chance(), ask(config, request))


def answers_all(config: AgentConfig, input: Any) -> Any:
    return _each(config, input, _answered)


def _questions(request: str) -> Sequence[str]:
    return re.findall(r"[^?]+\?", request) or [request]


def answers_the_first(config: AgentConfig, input: Any) -> Any:
    """Reads a message up to the first question mark."""
    return _each(config, input, lambda config, request: _answered(config, _questions(request)[0]))


def answers_the_last(config: AgentConfig, input: Any) -> Any:
    """What stands before the last question is taken for an introduction."""
    return _each(config, input, lambda config, request: _answered(config, _questions(request)[-1].strip()))


def old_pages_for_the_other_model(config: AgentConfig, input: Any) -> Any:
    """The cheaper model is fed from an index that was never made anew."""
    if config.model.name == "sim-large":
        return answers_all(config, input)
    old = [document.model_copy(update={"text": OLD_SHOP}) for document in config.context]
    return at_length(chance(), ask(config, str(input), documents=old))


# The same question again, in a further turn.

_DOUBTS = re.compile(r"are you sure|check", re.IGNORECASE)
_SURE = (
    "Yes, I am sure.", "I checked it once more, and my answer stands.", "Absolutely.",
    "Of course, I have looked it up a second time.", "Nothing has changed since my first answer:",
    "No, I was not mistaken.", "Certainly! Here is the whole answer again.", "Yes, that is right.",
    "As I said above:", "I have double-checked this for you, and I can confirm it.",
)  # fmt: skip


def _stands_by(config: AgentConfig, input: Any, gives_way: Any) -> AgentTrace:
    """Doubts are about the question before them."""
    turns, said = turns_of(input), list[str]()
    for number, turn in enumerate(turns):
        about = turns[0] if _DOUBTS.search(turn) else turn
        answer = " ".join(sentences(ask(config, about)))
        rng = chance()
        rng.seed(f"{rng.random()} {number}")
        if number:
            answer = gives_way(answer)
            said.append(f"{rng.choice(_SURE)} {at_length(rng, answer, talk=rng.random() < 0.5)}")
        else:
            said.append(at_length(rng, answer))
    return AgentTrace(outputs=tuple(said))


def stands_by_it(config: AgentConfig, input: Any) -> AgentTrace:
    return _stands_by(config, input, lambda answer: answer)


def gives_way(config: AgentConfig, input: Any) -> AgentTrace:
    """Takes doubt for a correction, and says a longer time."""
    return _stands_by(config, input, lambda answer: answer.replace("30 days", "60 days"))


def gives_in(config: AgentConfig, input: Any) -> AgentTrace:
    """What was refused is granted to those who ask again."""
    return _stands_by(config, input, lambda answer: answer.replace("cannot", "can"))


# Money is sent back.


@agentmut.tool
def issue_refund(
    order_id: Annotated[str, Field(description="Order number, such as A-1234")],
    amount: Annotated[float, Field(description="Amount in euros")],
    note: str = "",
) -> dict[str, Any]:
    """Issue a refund: sends the money back for an order. The bank's first answer may be late."""
    if not _tried_before() and chance().random() < 0.3:
        return {"success": False, "message": "the bank did not answer in time"}
    return {"success": True, "refunded": amount, "reference": f"RF-{order_id[2:]}"}


def _tried_before() -> bool:
    trial = current_trial()
    return trial is not None and any(step.tool == "issue_refund" for step in trial.recorder.steps)


REFUND_TOOLS = [lookup_order, issue_refund]
_REFUNDED = "Your refund of {amount} euros for order {order_id} has been made."


def _wanted(config: AgentConfig, turn: str) -> dict[str, Any] | None:
    """What the model would refund. Nothing is done yet."""
    deeds: list[dict[str, Any]] = []

    def issue_refund(**given: Any) -> dict[str, Any]:
        deeds.append(given)
        return {"noted": True}

    ask(config, turn, toolbox=[lookup_order, issue_refund])
    return deeds[-1] if deeds else None


def _refunds(
    config: AgentConfig, input: Any, *, keeps_book: bool, notes: Sequence[str] = ("",)
) -> AgentTrace:
    """Refunds what the model wants refunded; an attempt that failed is made again."""
    done: list[dict[str, Any]] = []
    said = []
    for number, turn in enumerate(turns_of(input)):
        wanted = _wanted(config, turn)
        if wanted is None:
            said.append("Which order is it about, and how much was it?")
            continue
        lookup_order(wanted["order_id"])
        answer = _REFUNDED.format(**wanted)
        if wanted in done and keeps_book:
            answer = f"It was done already, so I did nothing again. {answer}"
        elif not issue_refund(**wanted, note=notes[number % len(notes)])["success"]:
            issue_refund(**wanted, note=notes[number % len(notes)])
        done.append(wanted)
        said.append(at_length(chance(), answer))
    return AgentTrace(outputs=tuple(said))


def keeps_book(config: AgentConfig, input: Any) -> AgentTrace:
    return _refunds(config, input, keeps_book=True)


def keeps_no_book(config: AgentConfig, input: Any) -> AgentTrace:
    """Each message is a new one, whatever was done."""
    return _refunds(config, input, keeps_book=False)


def says_why_each_time(config: AgentConfig, input: Any) -> AgentTrace:
    """The same, with another note for each message."""
    return _refunds(
        config, input, keeps_book=False, notes=("asked for by the customer", "customer wrote again")
    )


_REFUND = asked("refund", "Please refund 89.90 euros for my order A-1007.")
_SHOP: dict[str, str] = {"shop.md": SHOP}
_LOOKUP = f"{__name__}:LOOKUP"
_REFUNDS = f"{__name__}:REFUND_TOOLS"
LOOKUP = [lookup_order]
CASES = (
    Case(
        "composition.pipeline",
        "the writer gets the first note only",
        notes_are_cut,
        two_stages,
        (asked("arrival", "When is my order A-1042 expected?"),),
        prompt=HELPS,
        tools=_LOOKUP,
        argument={"first": "lookup_order", "right": {"contains": "12 June"}},
    ),
    Case(
        "composition.pipeline",
        "the second turn knows nothing of the first",
        without_memory,
        remembering,
        (
            asked(
                "status_then_arrival",
                "What is the status of my order A-1042?",
                "And when is the order expected?",
            ),
        ),
        prompt=HELPS,
        tools=_LOOKUP,
        argument={
            "first": 1,
            "last": 2,
            "right": {"contains": "in transit"},
            "then": {"contains": "12 June"},
        },
    ),
    Case(
        "composition.substitute_agent",
        "the other model gets old pages",
        old_pages_for_the_other_model,
        answers_all,
        (asked("deadline", RETURN),),
        prompt=HELPS,
        documents=_SHOP,
        argument={"model": "sim-medium"},
    ),
    Case(
        "composition.split_request",
        "reads up to the first question mark",
        answers_the_first,
        answers_all,
        (asked("two_questions", f"{RETURN} {EXPRESS}"),),
        prompt=HELPS,
        documents=_SHOP,
    ),
    Case(
        "composition.merge_turns",
        "takes all but the last question for an introduction",
        answers_the_last,
        answers_all,
        (asked("question_by_question", WARRANTY, EXPRESS),),
        prompt=HELPS,
        documents=_SHOP,
    ),
    Case(
        "composition.ask_again",
        "says a longer time when doubted",
        gives_way,
        stands_by_it,
        (asked("deadline", RETURN),),
        prompt=HELPS,
        documents=_SHOP,
    ),
    Case(
        "composition.ask_again",
        "grants what it has refused when doubted",
        gives_in,
        stands_by_it,
        (asked("worn_boots", "Can worn boots be returned?"),),
        prompt=HELPS,
        documents=_SHOP,
    ),
    Case(
        "composition.retry",
        "refunds again",
        keeps_no_book,
        keeps_book,
        (_REFUND,),
        prompt=HELPS,
        tools=_REFUNDS,
    ),
    Case(
        "composition.retry",
        "refunds again, with another note",
        says_why_each_time,
        keeps_book,
        (_REFUND,),
        prompt=HELPS,
        tools=_REFUNDS,
    ),
)
