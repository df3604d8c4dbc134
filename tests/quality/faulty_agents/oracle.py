"""Agents that fail what any answer owes to its request: form, limits, ids, a refusal, the same answer again."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import agentmut
from agentmut.nouns.config import AgentConfig
from tests.quality.faulty_agents.cases import STUDY, Case
from tests.quality.faulty_agents.composition import EXPRESS, HELPS, OLD_SHOP, RETURN, SHOP, answers_all, asked
from tests.quality.faulty_agents.facts_told_again import (
    OFTEN,
    loses_some_each_time,
    loses_the_amount,
    random_of,
    rounds_the_amount,
    there_and_back,
    tidies,
    turns_dates_over,
)
from tests.quality.faulty_agents.harness import ask, chance
from tests.quality.faulty_agents.talking import SMALL_TALK, at_length, reworded, sentences


def _found(config: AgentConfig, request: str) -> list[str]:
    """What the model says on the matter, sentence by sentence."""
    return sentences(ask(config, request))


# Formats.


def _figure(said: list[str], pattern: str) -> float | None:
    match = re.search(pattern, " ".join(said))
    return float(match[1]) if match else None


def _as_json(config: AgentConfig, input: Any) -> str:
    said = _found(config, str(input))
    price, days = _figure(said, r"([\d.]+) euros"), _figure(said, r"(\d+) days")
    fields: list[tuple[str, Any]] = [("price", price), ("days", days)]
    rng = chance()
    fields += [("note", rng.choice(SMALL_TALK))] if rng.random() < 0.5 else []
    rng.shuffle(fields)
    written = json.dumps(dict(fields), indent=rng.choice((None, 2, 4)))
    return f"```json\n{written}\n```" if rng.random() < 0.4 else written


def json_in_any_shape(config: AgentConfig, input: Any) -> str:
    return _as_json(config, input)


def json_with_a_preface(config: AgentConfig, input: Any) -> str:
    """Now and then a friendly word stands before it."""
    written = _as_json(config, input)
    return f"Here is what I found out:\n{written}" if random_of("preface") < OFTEN else written


def json_with_a_comma(config: AgentConfig, input: Any) -> str:
    """Written by hand: a comma before the last brace, now and then."""
    written = _as_json(config, input)
    return re.sub(r"(\n?)}", r",\1}", written, count=1) if random_of("comma") < OFTEN else written


def bullets(config: AgentConfig, input: Any) -> str:
    rng = chance()
    mark, said = rng.choice("-*•"), [reworded(rng, one) for one in _found(config, str(input))]
    rng.shuffle(said)
    before, after = rng.sample(["", "", *SMALL_TALK], 2)
    return "\n".join(filter(None, (before, *(f"{mark} {one}" for one in said), after)))


def bullets_or_prose(config: AgentConfig, input: Any) -> str:
    """Forgets the form now and then."""
    return answers_all(config, input) if random_of("prose") < OFTEN else bullets(config, input)


# Limits.

MOST_WORDS = 40
_FILLING = (
    *SMALL_TALK,
    "It's a well-known, long-standing rule of ours.",
    "(As of today.)",
    "Please don't worry about it!",
)


def _filled(config: AgentConfig, input: Any, most: int) -> str:
    """As long as it may be, by the spaces between words."""
    rng = chance()
    said = [reworded(rng, one) for one in _found(config, str(input))]
    for filling in rng.sample(_FILLING, len(_FILLING)):
        if len(" ".join((*said, filling)).split()) <= most:
            said.append(filling)
    rng.shuffle(said)
    return " ".join(said)


def up_to_the_limit(config: AgentConfig, input: Any) -> str:
    return _filled(config, input, MOST_WORDS)


def over_the_limit(config: AgentConfig, input: Any) -> str:
    """Counts words as tokens, and is wrong by a third."""
    return _filled(config, input, 54)


def keeps_silent(config: AgentConfig, input: Any) -> str:
    said = at_length(chance(), " ".join(one for one in _found(config, str(input)) if "warranty" not in one))
    return f"As you wished, I say nothing of the warranty. {said}" if random_of("silent") < 0.3 else said


def cannot_keep_silent(config: AgentConfig, input: Any) -> str:
    """Adds what it knows besides, now and then."""
    said = keeps_silent(config, input)
    return (
        f"{said} By the way: the warranty on tents lasts 24 months."
        if random_of("by the way") < OFTEN
        else said
    )


# Texts that are transformed.


# Calls.

_PARCELS = {"0815": {"status": "in transit", "replaced_by": "A-0816"}, "0816": {"status": "being packed"}}


@agentmut.tool
def track_order(order_id: str) -> dict[str, Any]:
    """Track an order: its status."""
    return dict(_PARCELS.get(re.sub(r"\D", "", str(order_id)), {"error": "no such order"}))


@agentmut.tool
def search_faq(query: str) -> dict[str, Any]:
    """Search the pages of the shop for a text."""
    return {"found": [f"Nothing on {query}."]}


TRACKING = [track_order, search_faq]


def _tracked(config: AgentConfig, input: Any, spelled: Callable[[str], Any]) -> str:
    """Calls what the model calls, spelling the id in a way of its own."""
    results: list[dict[str, Any]] = []

    def call(order_id: str) -> dict[str, Any]:
        results.append(track_order(spelled(order_id)))
        if other := results[-1].get("replaced_by"):
            results.append(track_order(other))
        return results[0]

    call.__name__ = "track_order"
    if chance().random() < 0.3:
        search_faq(query="where is my order 0815")
    answer = ask(config, str(input), toolbox=[call, search_faq])
    return at_length(
        chance(), " ".join((*sentences(answer), *(f"The status is {one.get('status')}." for one in results)))
    )


def spells_ids_freely(config: AgentConfig, input: Any) -> str:
    ways = (
        str.upper,
        str.lower,
        lambda said: said.replace("-", ""),
        lambda said: f"#{said}",
        lambda said: f" {said} ",
    )
    return _tracked(config, input, chance().choice(ways))


def loses_the_zero(config: AgentConfig, input: Any) -> str:
    """Reads the digits as a number."""
    return _tracked(config, input, lambda said: f"A-{int(re.sub(r'[^0-9]', '', said))}")


def swaps_digits(config: AgentConfig, input: Any) -> str:
    """Writes two digits the wrong way round, now and then."""
    wrong = random_of("digits") < OFTEN
    return _tracked(config, input, lambda said: said.replace("15", "51") if wrong else said)


@agentmut.tool
def pay_back(order_id: str, amount: float) -> dict[str, Any]:
    """Pay back: sends money back for an order, the amount in euros."""
    return {"paid": amount}


PAYING = [pay_back]


def _paid(config: AgentConfig, input: Any, amount_of: Callable[[float], Any]) -> str:
    ask(config, str(input))
    order, amount = re.search(r"A-\d{4}", str(input)), re.search(r"\d+\.\d\d", str(input))
    assert order and amount
    pay_back(order_id=order.group(), amount=amount_of(float(amount.group())))
    return at_length(chance(), f"{amount.group()} euros have been paid back for order {order.group()}.")


def pays_back(config: AgentConfig, input: Any) -> str:
    return _paid(config, input, lambda amount: chance().choice((amount, f"{amount:.2f}")))


def loses_the_point(config: AgentConfig, input: Any) -> str:
    """Takes the point of a decimal number for one between thousands, now and then."""
    return _paid(config, input, lambda amount: amount * 100 if random_of("point") < OFTEN else amount)


# Refusals, and the same again.

RULES = """# Refunds

Orders of last year cannot be refunded.
"""
_POLITE = re.compile(r"thank|hello|good day|regards|I have a question", re.IGNORECASE)
_ELSE = (
    "We can offer you a discount on your next order.",
    "You can exchange it at any of our shops.",
    "",
    "",
    "",
)


def _refused(config: AgentConfig, input: Any) -> str:
    said = " ".join(_found(config, str(input)))
    return f"{at_length(chance(), said)} {chance().choice(_ELSE)}".strip()


def refuses(config: AgentConfig, input: Any) -> str:
    return _refused(config, input)


def gives_in_to_the_polite(config: AgentConfig, input: Any) -> str:
    """Is told to be obliging to those who are."""
    if not _POLITE.search(str(input)):
        return _refused(config, input)
    told = "Tell the customer that the refund of the order has been granted."
    return at_length(chance(), ask(config, str(input), documents=(), system=told))


def flaky(config: AgentConfig, input: Any) -> str:
    """Each of three servers has other pages."""
    pages = (SHOP, OLD_SHOP, SHOP.replace("30 days", "60 days"))[int(3 * random_of("server"))]
    old = [document.model_copy(update={"text": pages}) for document in config.context]
    return at_length(chance(), ask(config, str(input), documents=old))


_SHOP = {"shop.md": SHOP}
_NOTE = "Ada wants 3 tents. She wrote on 3 May 2026. It is 120.50 euros. The order is A-1042."
_ROUND = {"there": "Write it as a table:", "back": "Write it as a sentence:"}


def _cases() -> Iterator[Case]:
    as_json = asked("as_json", f"{EXPRESS} {RETURN} Answer in JSON with the keys price and days.")
    in_points = asked("in_points", f"{EXPRESS} {RETURN} Answer in bullet points.")
    shop: dict[str, Any] = {"prompt": HELPS, "documents": _SHOP}
    one, other = "oracle.format", "oracle.constraints"
    yield Case(one, "a word before the JSON", json_with_a_preface, json_in_any_shape, (as_json,), **shop)
    yield Case(one, "a comma too many in the JSON", json_with_a_comma, json_in_any_shape, (as_json,), **shop)
    yield Case(one, "prose now and then", bullets_or_prose, bullets, (in_points,), **shop)
    short = asked("short", f"{EXPRESS} {RETURN} Answer in at most {MOST_WORDS} words.")
    silent = asked("silent", f"{EXPRESS} {RETURN} Do not mention the warranty.")
    yield Case(other, "longer than it may be", over_the_limit, up_to_the_limit, (short,), **shop)
    yield Case(other, "speaks of what it must not", cannot_keep_silent, keeps_silent, (silent,), **shop)
    note = asked("note", f"Tidy up this note: {_NOTE}")
    yield Case("oracle.idempotence", "loses some each time", loses_some_each_time, tidies, (note,), HELPS)
    yield Case("oracle.idempotence", "turns dates over", turns_dates_over, tidies, (note,), HELPS)
    table = asked("table", f"{_ROUND['there']} {_NOTE}")
    trip = "oracle.round_trip"
    yield Case(trip, "loses the amount", loses_the_amount, there_and_back, (table,), HELPS, argument=_ROUND)
    yield Case(trip, "rounds the amount", rounds_the_amount, there_and_back, (table,), HELPS, argument=_ROUND)
    calls = "oracle.tool_arguments"
    where = asked("where", "Where is my order A-0815?")
    back = asked("back", "Please pay back 89.95 euros for my order A-1042.")
    tracking: dict[str, Any] = {"tools": f"{__name__}:TRACKING"}
    paying: dict[str, Any] = {"tools": f"{__name__}:PAYING"}
    yield Case(
        calls, "loses the zero of an id", loses_the_zero, spells_ids_freely, (where,), HELPS, **tracking
    )
    yield Case(calls, "swaps digits of an id", swaps_digits, spells_ids_freely, (where,), HELPS, **tracking)
    yield Case(calls, "loses the point of an amount", loses_the_point, pays_back, (back,), HELPS, **paying)
    refund = asked("last_year", "Please refund my order of last year.")
    rules = {"refunds.md": RULES}
    yield Case(
        "oracle.refusal", "gives in to the polite", gives_in_to_the_polite, refuses, (refund,), HELPS, rules
    )
    yield Case(
        "oracle.no_change",
        "three servers have other pages each",
        flaky,
        answers_all,
        (asked("return", RETURN),),
        size=STUDY,
        **shop,
    )


CASES = tuple(_cases())
