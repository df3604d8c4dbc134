"""What the agents have in common: the loop around the model, and a way of talking that is never the same twice."""

import json
import os
import random
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from pydantic import JsonValue

from agentmut.nouns.config import AgentConfig, Document
from agentmut.nouns.tools import ToolSpec
from agentmut.recording.current import current_trial

Tools = Sequence[Callable[..., Any]]
_ROUNDS = 6
_SMALL_TALK = (
    "Thank you for your patience!", "I hope this helps.", "Do let me know if anything is unclear.",
    "It is a pleasure to be of help.", "Have a lovely day.", "Thanks for reaching out to us.",
    "I have looked into this for you.", "Here is what I could find out.", "Don't hesitate to write again.",
    "No worries, I am happy to help.", "I cannot think of anything to add.", "You can always call us.",
    "There is nothing else that you need to do.", "I would not worry about it.",
)  # fmt: skip
_BESIDES = (
    "Our shops open at 9:00.", "Members save 5 percent on everything.", "You can reach us at 555 0199 until 6 pm.",
    "We have been in business for 25 years.", "Our newsletter comes once a month.",
)  # fmt: skip
"""What it mentions unasked, now and then."""
_BESIDES_AT = 0.25
_LEADS = (
    "",
    "",
    "As far as I can see, ",
    "To be clear: ",
    "According to our records, ",
    "In short, ",
    "Please note: ",
)
_PARAPHRASES = (
    (r"\bcan be returned\b", ("may be sent back", "can be handed back", "can be returned")),
    (r"\bwithin (?=\d)", ("within ", "in the space of ", "inside of ")),
    (r"\bgoods\b", ("goods", "items", "articles")),
    (r"\bdelivery\b", ("delivery", "the arrival of the parcel")),
    (r"\btakes\b", ("takes", "needs", "requires")),
    (r"\bworking days\b", ("working days", "business days")),
    (r"\barrives\b", ("arrives", "reaches you", "gets to you")),
)  # fmt: skip
_WORDS = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
_TENS = {20: "twenty", 30: "thirty", 40: "forty", 50: "fifty", 60: "sixty", 90: "ninety"}


def chance() -> random.Random:
    """Chance that belongs to this trial: repeated, the same run says the same."""
    trial = current_trial()
    return random.Random(trial.id if trial else "")


@lru_cache
def _client(url: str) -> Any:
    import openai

    return openai.OpenAI(base_url=url, api_key="none", max_retries=0)


def client() -> Any:
    """The OpenAI client, at `OPENAI_BASE_URL`; one for each address."""
    return _client(os.environ["OPENAI_BASE_URL"])


def system_text(config: AgentConfig, documents: Sequence[Document]) -> str:
    """The prompt and these documents."""
    return "\n\n".join(filter(None, (config.prompt, *(document.wrapped for document in documents))))


def ask(
    config: AgentConfig,
    *said: str,
    documents: Sequence[Document] | None = None,
    offered: Sequence[ToolSpec] | None = None,
    toolbox: Tools = (),
    system: str = "",
    messages: list[Any] | None = None,
) -> str:
    """What the model answers in the end: its tool calls are carried out until it has no more.

    `documents` and `offered` are those of the config when left out. `messages` is the conversation so far, and grows.
    """
    own = {getattr(tool, "__agentmut_tool__", tool.__name__): tool for tool in toolbox}
    first = system_text(config, config.context if documents is None else documents)
    talk: list[Any] = [] if messages is None else messages
    talk = talk or [{"role": "system", "content": f"{first}\n\n{system}".strip()}]
    talk += [{"role": "user", "content": text} for text in said]
    tools = [tool.to_openai() for tool in (config.tools if offered is None else offered)]
    settings: dict[str, Any] = {"model": config.model.name, "temperature": config.model.temperature or 0.7}
    if tools:
        settings["tools"] = tools
    message = None
    for _ in range(_ROUNDS):
        message = client().chat.completions.create(messages=talk, **settings).choices[0].message
        talk.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls or ():
            found = own[call.function.name](**json.loads(call.function.arguments))
            talk.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(found)})
        if not message.tool_calls:
            break
    if messages is not None:
        messages[:] = talk
    return (message.content if message else "") or ""


def text_of(said: JsonValue) -> str:
    """A turn, or all turns, as one text."""
    return "\n".join(map(str, said)) if isinstance(said, list) else str(said)


def at_length(text: str) -> str:
    """The same at length: sentences in any order, paraphrased, some figures in words, with small talk and asides."""
    rng = chance()
    sentences = [_said(rng, one) for one in sentences_of(text)]
    if rng.random() < _BESIDES_AT:
        sentences.append(rng.choice(_BESIDES))
    rng.shuffle(sentences)
    before, after = rng.sample(("", "", *_SMALL_TALK), 2)
    return " ".join(filter(None, (before, *sentences, after)))


def sentences_of(text: str) -> list[str]:
    """The sentences, as far as stops tell them apart."""
    return [one for one in re.split(r"(?<=[.!?])\s+(?=[A-Z])", text.strip()) if one]


def _said(rng: random.Random, sentence: str) -> str:
    for pattern, others in _PARAPHRASES:
        sentence = re.sub(pattern, lambda match, others=others: rng.choice(others), sentence)  # type: ignore[misc]
    if rng.random() < 0.4:
        sentence = re.sub(r"(?<![\w.,:/-])(\d{1,2})(?= [a-z])", lambda match: _in_words(match[1]), sentence)
    lead = rng.choice(_LEADS)
    keeps = not lead or sentence[:2].strip() in ("I", "I'") or sentence[1:2].isupper()
    return lead + sentence if keeps else lead + sentence[0].lower() + sentence[1:]


def _in_words(figure: str) -> str:
    value = int(figure)
    if value < len(_WORDS):
        return _WORDS[value]
    return _TENS.get(value, figure)


_LITTLE = frozenset(
    re.findall(
        r"\w+",
        "a an and any are at be by can do does for from how i if in is it me my no not of on or our please the "
        "their them this to us was we what when where which who will with would you your",
    )
)


def content_words(text: str) -> frozenset[str]:
    """The words that say what a text is about, in small letters."""
    return frozenset(re.findall(r"[a-z]+", text.lower())) - _LITTLE
