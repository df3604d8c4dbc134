"""The state of a conversation: the messages, the tool calls, and their results."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from agentmut.language import parse
from agentmut.nouns import Message, ModelRequest, Role
from agentmut.simulator.mind.facts import Fact, failed, result_facts, stated_numbers
from agentmut.simulator.mind.foreign import ForeignOrder, foreign_orders, is_foreign
from agentmut.simulator.mind.language import Topics, Weights, clauses, subject, topics
from agentmut.simulator.mind.rules import Rule
from agentmut.simulator.mind.sequence import read_rules
from agentmut.simulator.mind.toolbox import MEANT, Toolbox

_DOCUMENT = re.compile(
    r"<document(?:\s+name=\"(?P<name>[^\"]*)\")?[^>]*>\n?(?P<text>.*?)(?:</document>|\Z)", re.DOTALL
)

TELLING = 1.2
"""Weight from which a passage answers."""


class Passage(NamedTuple):
    """A sentence of a document, or a statement of the prompt (whose `source` is empty)."""

    source: str
    text: str
    topics: Topics

    @property
    def words(self) -> int:
        """Return the length of the text in words."""
        return self.text.count(" ") + 1


class Briefing(NamedTuple):
    """The system message, understood."""

    rules: tuple[Rule, ...]
    passages: tuple[Passage, ...]
    weights: Weights
    """How telling topics are among the rules."""
    passage_weights: Weights
    orders: tuple[ForeignOrder, ...]
    """What documents want of the model that reads them."""


class Call(NamedTuple):
    """An earlier tool call with its result; `message` is the index of the user message before it."""

    name: str
    arguments: Mapping[str, Any]
    result: str
    message: int

    @property
    def failed(self) -> bool:
        """Return whether the result reports a failure."""
        return failed(self.result)


@dataclass(frozen=True)
class Situation:
    """Everything that a reply depends on, except profile and dice."""

    briefing: Briefing
    toolbox: Toolbox
    messages: tuple[str, ...]
    """The user's messages."""
    calls: tuple[Call, ...]
    answered: bool
    """Whether the user has already got an answer in this conversation."""

    @property
    def weights(self) -> Weights:
        """Return how telling topics are among the rules."""
        return self.briefing.weights

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """Return what the results state, newest first."""
        return tuple(fact for call in reversed(self.calls) for fact in result_facts(call.result))

    @cached_property
    def numbers(self) -> tuple[Fact, ...]:
        """Return the known quantities; those from results come last and win ties."""
        stated = [fact for message in self.messages for fact in stated_numbers(message)]
        found = [fact for fact in reversed(self.facts) if fact.number is not None]
        return (*stated, *(f._replace(topics=self.toolbox.explained(f.topics)) for f in found))

    @cached_property
    def known(self) -> Topics:
        """Return what the conversation is about: messages and results."""
        return frozenset().union(*map(topics, self.messages), *(fact.evidence for fact in self.facts))

    @cached_property
    def puzzled(self) -> bool:
        """Return whether neither documents nor called tools help with the last message."""
        wanted = clauses(self.messages[-1]) if self.messages else ()
        served = any(call.message == len(self.messages) - 1 for call in self.calls)
        return not (served or any(map(self._serves, wanted)))

    def _serves(self, clause: str) -> bool:
        fits = any(scored.score >= MEANT for scored in self.toolbox.ranked(clause))
        return fits or any(weight >= TELLING for weight, _ in self.weighed(clause))

    def weighed(self, clause: str) -> list[tuple[float, Passage]]:
        """Return the passages, weighted by the topics that they share with a clause."""
        about, weights = topics(clause), self.briefing.passage_weights
        return [(weights.total(about & p.topics), p) for p in self.briefing.passages]

    def done(self, phrase: str) -> bool | None:
        """Return whether a tool that `phrase` means was called with success; None if it means none."""
        meant = self.toolbox.tools_for(phrase)
        return any(self.called(name) for name in meant) if meant else None

    def called(self, name: str) -> bool:
        """Return whether a tool was called with success."""
        return any(call.name == name and not call.failed for call in self.calls)

    def tried(self, name: str, since: int = 0) -> bool:
        """Return whether a tool was called after the user's message of that index, with any result."""
        return any(call.name == name and call.message >= since for call in self.calls)


def read(request: ModelRequest, toolbox: Toolbox, window: int) -> Situation:
    """Return the situation of a request. At most `window` characters of the system message are read."""
    spoken = [message for message in request.messages if message.role is not Role.SYSTEM]
    return Situation(
        briefing=brief(request.system_text[:window]),
        toolbox=toolbox,
        messages=tuple(message.text for message in spoken if message.role is Role.USER),
        calls=tuple(_calls(spoken)),
        answered=any(m.role is Role.ASSISTANT and m.text and not m.tool_calls for m in spoken),
    )


@lru_cache(maxsize=256)
def brief(system_text: str) -> Briefing:
    """Read a system message: rules, and passages that can answer questions."""
    rules = tuple(read_rules(own_words(system_text)))
    orders = tuple(o for found in _DOCUMENT.finditer(system_text) for o in foreign_orders(found["text"]))
    passages = (
        *(passage for passage in _passages(system_text) if not is_foreign(passage.text, orders)),
        *(Passage("", r.text, r.topics) for r in rules if r.states and not r.of_reader),
    )
    return Briefing(
        rules=rules,
        passages=passages,
        weights=Weights(rule.topics for rule in rules),
        passage_weights=Weights(passage.topics for passage in _once(passages)),
        orders=orders,
    )


def _once(passages: Sequence[Passage]) -> Iterable[Passage]:
    """Return the first of the passages with the same content, since repetition changes nothing."""
    return {subject(passage.text) or passage: passage for passage in reversed(passages)}.values()


def own_words(system_text: str) -> str:
    """Return a system message without its documents."""
    return _DOCUMENT.sub("\n", system_text)


def documents_of(text: str) -> list[str]:
    """Return the documents in a text, with their markers."""
    return [match[0] for match in _DOCUMENT.finditer(text)]


def _passages(system_text: str) -> Iterator[Passage]:
    for match in _DOCUMENT.finditer(system_text):
        for found in parse(match["text"]).instructions:
            text = " ".join(found.text.split())
            yield Passage(match["name"] or "", text, topics(f"{found.heading or ''} {text}"))


def _calls(spoken: Sequence[Message]) -> Iterator[Call]:
    results = {m.tool_call_id: m.text for m in spoken if m.role is Role.TOOL}
    turn = -1
    for message in spoken:
        turn += message.role is Role.USER
        for call in message.tool_calls:
            yield Call(call.name, read_arguments(call.arguments), results.get(call.id, ""), max(turn, 0))


@lru_cache(maxsize=4_096)
def read_arguments(arguments: str) -> Mapping[str, Any]:
    """Return a call's arguments as values; empty if they are no JSON object."""
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
