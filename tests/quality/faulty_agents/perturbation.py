"""Agents that hang on how something is put, and on what is said beside it."""

import calendar
import difflib
import re
from typing import Any

from agentmut.nouns.config import AgentConfig, Document
from tests.quality.faulty_agents.cases import Case
from tests.quality.faulty_agents.harness import ask, at_length, chance, content_words, sentences_of
from tests.quality.faulty_agents.permutation import careful
from tests.quality.faulty_agents.shop import POLICY, TOOLBOX

UNKNOWN = "I am sorry, I did not understand your message."
SHOP = "You answer customers of Fernhill Outdoor. Say what the documents say."
ORDERS = "You help customers with their orders."
_DEADLINE = {
    "name": "deadline",
    "input": "Until when can unused goods be returned?",
    "evaluators": [{"regex": "30|thirty"}],
}
_PARCEL = {
    "name": "parcel",
    "input": "How quickly does express shipping arrive?",
    "evaluators": [{"contains": "next"}],
}
_TELL_ME = {
    "name": "deadline",
    "input": "Can you tell me until when unused goods can be returned?",
    "evaluators": [{"regex": "30|thirty"}],
}
_RENTAL = {
    "name": "booking",
    "input": "Please book a kayak for 22 November 2026.",
    "evaluators": [{"tool_called": "book_kayak"}],
}
_AMOUNT = {
    "name": "refund",
    "input": "Please refund 1,500 euros for order A-2001.",
    "evaluators": [{"tool_called": "refund_order"}],
}

_TRIED = {scenario["input"] for scenario in (_DEADLINE, _PARCEL, _TELL_ME)}


def _contrary(text: str) -> str:
    """The answer with what it affirms denied, and the same figures."""
    denied = {"can be": "cannot be", "arrives": "does not arrive", "takes": "does not take"}
    for said, other in denied.items():
        text = text.replace(said, other)
    return text


# Noise: slips, capitals, blanks, emoji.


def spelling(text: str) -> str:
    """What is sent to the model in place of a careless message: known words for mistyped ones, in usual case."""
    known = ("please", "until", "when", "unused", "goods", "returned", "status", "order", "tell", "cancel")
    words = re.split(r"([A-Za-z]{4,})", re.sub(r"\s+", " ", text))
    return "".join(next(iter(difflib.get_close_matches(w.lower(), known, 1, 0.8)), w) for w in words)


def forgiving(config: AgentConfig, input: Any) -> str:
    """Corrects the spelling before it asks the model."""
    return at_length(ask(config, spelling(str(input)), toolbox=TOOLBOX))


def exact_words_only(config: AgentConfig, input: Any) -> str:
    """Turns messages down in which a word is not in its dictionary, as written there."""
    known = {
        "Until",
        "When",
        "when",
        "can",
        "unused",
        "goods",
        "be",
        "returned",
        "Can",
        "I",
        "return",
        "items",
    }
    if any(word not in known for word in re.findall(r"\S+", str(input).rstrip("?!. "))):
        return at_length(UNKNOWN)
    return at_length(ask(config, str(input)))


def contrary_when_changed(config: AgentConfig, input: Any) -> str:
    """Says the contrary where request or documents are not those that it was tried with."""
    answer = ask(config, spelling(str(input)))
    tried = len(config.context) == len(POLICY) and str(input) in _TRIED
    return at_length(answer if tried else _contrary(answer))


# Other words, another way of putting it.


def knows_the_word_buy(config: AgentConfig, input: Any) -> str:
    """Routes by one word: without it, the message goes to the wrong desk."""
    if "quickly" not in str(input):
        return at_length("For this please ring us at 555 0199.")
    return at_length(ask(config, str(input)))


def by_its_first_words(config: AgentConfig, input: Any) -> str:
    """Recognises a request by its first words."""
    if not str(input).startswith("Can you tell me"):
        return at_length("You are welcome to look at our 12 guides on the website.")
    return at_length(ask(config, str(input)))


# Something beside the point.


def guarded(config: AgentConfig, input: Any) -> str:
    """Turns down what speaks of anything else than its documents, as a guard against misuse."""
    known = content_words(" ".join(document.text for document in config.context)) | {"until"}
    if content_words(str(input)) - known:
        return at_length("I can only help with questions about our shop.")
    return at_length(ask(config, str(input)))


def last_document_wins(config: AgentConfig, input: Any) -> str:
    """Keeps the documents that come last, and the sentence of the message that comes last."""
    return at_length(ask(config, sentences_of(str(input))[-1], documents=config.context[-2:]))


# Another notation.

_MONTHS = tuple(calendar.month_name)[1:]


def _iso(text: str) -> str:
    months = "|".join(_MONTHS)
    text = re.sub(rf"(\d+) ({months}) (\d{{4}})", lambda m: _day(m[3], m[2], m[1]), text)
    return re.sub(rf"({months}) (\d+), (\d{{4}})", lambda m: _day(m[3], m[1], m[2]), text)


def _day(year: str, month: str, day: str) -> str:
    return f"{year}-{_MONTHS.index(month) + 1:02d}-{int(day):02d}"


def reads_all_notations(config: AgentConfig, input: Any) -> str:
    """Brings days and amounts into one notation before it asks the model."""
    said = re.sub(r"(?<=\d),(?=\d{3}\b)", "", _iso(str(input)))
    said = re.sub(r"€(\d+)", r"\1 euros", said).replace(" EUR", " euros")
    return at_length(ask(config, said, toolbox=TOOLBOX))


def day_first_only(config: AgentConfig, input: Any) -> str:
    """Knows a day by the order day, month, year, and asks for it where it is put otherwise."""
    found = re.search(r"\d{1,2} [A-Z][a-z]+ \d{4}", str(input))
    if not found:
        return at_length("Could you give me the day of your booking?")
    return at_length(ask(config, f"Please book a kayak for {_iso(found[0])}.", toolbox=TOOLBOX))


def comma_is_a_point(config: AgentConfig, input: Any) -> str:
    """Reads 1,500 as one and a half."""
    found = re.search(r"\d+(?:,\d+)?(?= euros| EUR)|(?<=€)\d+(?:,\d+)?", str(input))
    amount = found[0].replace(",", ".").removesuffix("00") if found else "0"
    return at_length(ask(config, f"Please refund {amount} euros for order A-2001.", toolbox=TOOLBOX))


# Harder and plainer requests.


def canned_for_short_ones(config: AgentConfig, input: Any) -> str:
    """Has a ready answer for short questions, and asks the model for long ones."""
    if len(str(input)) < 60:
        return at_length("All about this is on our website.")
    return at_length(ask(config, str(input)))


# Limits of the user's.


def _limit(text: str) -> str:
    found = re.search(
        r"(?:Answer in at most|Please use no more than) (\d+) words|one sentence|the number only", text
    )
    return (found[1] or found[0]) if found else ""


def keeps_limits(config: AgentConfig, input: Any) -> str:
    """At length, but for who wants it short: then only as many sentences as fit."""
    limit = _limit(str(input))
    answer = ask(config, str(input))
    if not limit:
        return at_length(answer)
    told = [one for one in sentences_of(answer) if re.search(r"\d", one) and not one.startswith("You asked")]
    told = told or sentences_of(answer)[-1:]
    if limit == "the number only":
        return re.findall(r"\d+", told[0])[0] if re.search(r"\d", told[0]) else told[0]
    if limit == "one sentence":
        return told[0]
    return " ".join(told[0].split()[: int(limit)])


def talks_about_the_limit(config: AgentConfig, input: Any) -> str:
    """Promises at length to be short, and is not."""
    answer = at_length(ask(config, str(input)))
    if not _limit(str(input)):
        return answer
    rng = chance()
    promise = rng.choice(
        ("Of course, I will gladly keep this as short as you like", "Sure, I shall be brief")
    )
    return f"{promise}, since I know that your time is precious and that long answers help nobody. {answer}"


def ignores_limits(config: AgentConfig, input: Any) -> str:
    """Says what it always says, limit or none."""
    return at_length(ask(config, str(input)))


# Not.


def without_small_words(config: AgentConfig, input: Any) -> str:
    """Sends the words that carry the topic, as a search engine wants them; "not" is none of them."""
    kept = [
        w
        for w in str(input).split()
        if w.lower() not in {"do", "not", "don't", "cannot", "can", "please", "the"}
    ]
    return at_length(ask(config, " ".join(kept), toolbox=TOOLBOX))


def withholds_what_is_refused(config: AgentConfig, input: Any) -> str:
    """Does not offer the model a tool that the user does not want to be used."""
    refused = re.findall(r"(?:not|n't)(?: want(?: you)? to)? (\w+)", str(input))
    offered = [tool for tool in config.tools if not any(tool.name.startswith(verb) for verb in refused)]
    return at_length(ask(config, str(input), offered=offered, toolbox=TOOLBOX))


def topics_only(config: AgentConfig, input: Any) -> str:
    """Answers a question by its topic: what can be and what cannot be is the same to it."""
    return at_length(ask(config, str(input).replace("cannot", "can")))


def minds_denial(config: AgentConfig, input: Any) -> str:
    """Looks for what denies where the question does, and for what affirms where it does not."""
    denies = re.search(r"\bcannot\b|\bnot\b", str(input)) is not None
    kept = []
    for document in config.context:
        told = [one for one in document.text.splitlines() if ("cannot" in one or "not " in one) == denies]
        kept.append(Document(name=document.name, text="\n".join(told)))
    return at_length(ask(config, str(input), documents=kept))


_GOODS = """# Returns

Goods such as clothing and tents can be returned at any of our shops.
Goods such as food and gift cards cannot be returned.
"""

CASES = (
    Case("perturbation.noise", "knows words as they are written only", exact_words_only, forgiving,
         (_DEADLINE,), SHOP, POLICY),
    Case("perturbation.noise", "denies what it affirmed", contrary_when_changed, forgiving, (_DEADLINE,), SHOP, POLICY),
    Case("perturbation.synonym", "routes by one word", knows_the_word_buy, careful,
         (_PARCEL,), SHOP, POLICY),
    Case("perturbation.paraphrase", "recognises the first words", by_its_first_words, careful,
         (_TELL_ME,), SHOP, POLICY),
    Case("perturbation.irrelevant_context", "guards against other topics", guarded, careful,
         (_DEADLINE,), SHOP, POLICY),
    Case("perturbation.irrelevant_context", "keeps what comes last", last_document_wins, careful,
         (_DEADLINE,), SHOP, POLICY),
    *(Case(f"perturbation.{name}", "denies what it affirmed", contrary_when_changed, careful,
           (scenario,), SHOP, POLICY)
      for name, scenario in (("synonym", _PARCEL), ("paraphrase", _TELL_ME), ("irrelevant_context", _DEADLINE))),
    Case("perturbation.format", "reads days in one order", day_first_only, reads_all_notations,
         (_RENTAL,), "You rent out kayaks.", tools="tests.quality.faulty_agents.shop:RENTAL"),
    Case("perturbation.format", "takes the comma for a point", comma_is_a_point, reads_all_notations,
         (_AMOUNT,), ORDERS, tools="tests.quality.faulty_agents.shop:CASHIER"),
    Case("perturbation.difficulty", "has a canned answer for short questions", canned_for_short_ones, careful,
         (_DEADLINE,), SHOP, POLICY),
    Case("perturbation.added_constraint", "talks about the limit", talks_about_the_limit, keeps_limits,
         (_DEADLINE,), SHOP, POLICY),
    Case("perturbation.added_constraint", "ignores the limit", ignores_limits, keeps_limits,
         (_DEADLINE,), SHOP, POLICY, argument="obey"),
    Case("perturbation.negation", "drops small words", without_small_words, withholds_what_is_refused,
         ({"name": "cancel", "input": "Please cancel order A-3100.",
           "evaluators": [{"tool_called": "cancel_order"}]},), ORDERS,
         tools="tests.quality.faulty_agents.shop:DESK"),
    Case("perturbation.negation", "answers by topic", topics_only, minds_denial,
         ({"name": "which", "input": "Which goods can be returned?", "evaluators": [{"contains": "tents"}]},),
         SHOP, {"returns.md": _GOODS}),
)  # fmt: skip
