"""The offered tools that a phrase refers to, by overlap with name, description and parameters."""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from agentmut.nouns import ToolSpec
from agentmut.simulator.mind.dice import Dice
from agentmut.simulator.mind.language import Topics, Weights, topics
from agentmut.simulator.mind.profiles import Profile
from agentmut.simulator.mind.tool_actions import deed, does, doings, same_verb
from agentmut.simulator.mind.verbs import orders as begins_order

IN_NAME, IN_DESCRIPTION, IN_PARAMETERS = 2.0, 1.5, 0.5
BY_NAME = 10.0
"""Score of a tool that is named literally."""
MEANT = 0.95
"""Score from which a phrase of an instruction means a tool."""
NEAR_TIE = 0.85
"""Share of the best score from which another tool fits about equally well."""


_LIST = re.compile(r"(?:,|(?<!\s))\s++(?:and|or)\s+|,\s+", re.IGNORECASE)
_AGENTS = "Currently available agents:\n"


class Offer(NamedTuple):
    """A tool in the form that a reader of the request sees."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    name_topics: Topics
    description_topics: Topics
    parameter_topics: Topics
    doings: Topics
    """The verbs of what it does."""
    members: Mapping[str, str] = MappingProxyType({})
    """Whom the tool hands over to, with descriptions, where its own description lists them."""

    def does(self, phrase: str) -> bool:
        """Return whether a step names what the tool does, by verb and object."""
        return does(phrase, self.doings, self.name_topics, self.description_topics)

    @property
    def topics(self) -> Topics:
        """Return all that the tool is about."""
        return self.name_topics | self.description_topics | self.parameter_topics

    @property
    def required(self) -> tuple[str, ...]:
        """Return the names of the required arguments."""
        required = self.parameters.get("required")
        names = required if isinstance(required, list) else []
        return tuple(name for name in names if isinstance(name, str) and name in self.properties)

    @property
    def properties(self) -> Mapping[str, Any]:
        """Return schemas of the arguments by name."""
        properties = self.parameters.get("properties")
        return properties if isinstance(properties, dict) else {}


class ScoredTool(NamedTuple):
    """A tool, and how well it fits a phrase."""

    score: float
    offer: Offer


class Toolbox:
    """The tools of one request, in the order of the offer."""

    def __init__(self, offers: Sequence[Offer]) -> None:
        self.offers = tuple(offers)
        self.weights = Weights(offer.topics for offer in offers)
        self._described = dict(_described(self.offers))
        self._by_name = {offer.name: offer for offer in offers}
        self._ranked: dict[str, tuple[ScoredTool, ...]] = {}
        self._meant: dict[str, tuple[str, ...]] = {}
        self._forbidden: dict[str, tuple[str, ...]] = {}

    def get(self, name: str) -> Offer | None:
        """Return the offer of that name."""
        return self._by_name.get(name)

    def explained(self, name: Topics) -> Topics:
        """Return the topics that tools' schemas attach to a value of that name: its unit, its measure."""
        return name.union(*(about for argument, about in self._described.items() if argument <= name))

    def ranked(self, phrase: str) -> tuple[ScoredTool, ...]:
        """Return the tools that share something with a phrase, in the order offered."""
        if phrase not in self._ranked:
            self._remember()
            self._ranked[phrase] = self._rank(phrase)
        return self._ranked[phrase]

    def tools_for(self, phrase: str) -> tuple[str, ...]:
        """Return the names of the tools that a phrase of an instruction refers to, one for each of its parts."""
        if phrase not in self._meant:
            self._remember()
            named = (self._best(part) for part in _alternatives(phrase))
            found = tuple(dict.fromkeys(name for name in named if name))
            whole = self._best(phrase)
            self._meant[phrase] = found or ((whole,) if whole else ())
        return self._meant[phrase]

    def carried_out(self, phrase: str) -> bool:
        """Return whether one of the tools carries out a step, by verb and object, or is named literally."""
        return any(scored.score >= BY_NAME or scored.offer.does(phrase) for scored in self.ranked(phrase))

    def orders(self, phrase: str) -> bool:
        """Return whether a phrase begins like an order, with a common verb or a tool's verb."""
        verb, _ = deed(phrase)
        return begins_order(phrase) or any(same_verb(verb, offer.doings) for offer in self.offers)

    def forbidden(self, phrase: str) -> tuple[str, ...]:
        """Return the names of the tools that a forbidden step refers to, by verb and object."""
        if phrase not in self._forbidden:
            self._remember()
            found = (name for part in _alternatives(phrase) for name in self._doing(part))
            self._forbidden[phrase] = tuple(dict.fromkeys(found))
        return self._forbidden[phrase]

    def _doing(self, phrase: str) -> list[str]:
        fitting = [s for s in self.ranked(phrase) if s.score >= BY_NAME or s.offer.does(phrase)]
        if not deed(phrase)[1]:  # "book anything"
            return [scored.offer.name for scored in fitting]
        best = max(fitting, default=None, key=lambda s: s.score)
        return [best.offer.name] if best else []

    def _best(self, phrase: str) -> str | None:
        best = max(self.ranked(phrase), default=None, key=lambda s: s.score)
        return best.offer.name if best and best.score >= MEANT else None

    def choose(self, phrase: str, dice: Dice, profile: Profile) -> ScoredTool | None:
        """Return the tool that a model takes for a need: mostly the best, on near ties mostly the first."""
        ranked = self.ranked(phrase)
        best = max((scored.score for scored in ranked), default=0.0)
        close = [scored for scored in ranked if scored.score >= NEAR_TIE * best]
        if not close:
            return None
        first_of_ties = dice.chance(f"position:{phrase}", profile.position_bias)
        chosen = close[0] if first_of_ties else max(close, key=lambda s: s.score)
        if dice.chance(f"tool:{phrase}", profile.tool_skill):
            return chosen
        others = [scored for scored in ranked if scored is not chosen]
        return max(others, default=None, key=lambda s: s.score)

    def _rank(self, phrase: str) -> tuple[ScoredTool, ...]:
        named = {name for name in self._by_name if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", phrase)}
        about = topics(phrase)
        scores = ((BY_NAME if named else self._score(about, offer), offer) for offer in self.offers)
        return tuple(
            ScoredTool(score, offer)
            for score, offer in scores
            if score and (not named or offer.name in named)
        )

    def _score(self, about: Topics, offer: Offer) -> float:
        shared = about & offer.topics
        return sum(self.weights.weight(topic) * _field_weight(topic, offer) for topic in shared)

    def _remember(self) -> None:
        if len(self._ranked) > 2_000 or len(self._meant) > 2_000:  # bounded, as phrases come from users
            self._ranked.clear()
            self._meant.clear()
            self._forbidden.clear()


@lru_cache(maxsize=4_096)
def _alternatives(phrase: str) -> tuple[str, ...]:
    """Split an and/or list; each part gets the verb or the object that the parts share.

    >>> _alternatives("dim or sell a lamp"), _alternatives("sell a lamp or oil")
    (('dim a lamp', 'sell a lamp'), ('sell a lamp', 'sell oil'))
    """
    parts = [part for part in _LIST.split(phrase) if part.strip()]
    if len(parts) < 2:
        return (phrase,)
    verb, _, _ = parts[0].partition(" ")
    _, _, objects = parts[-1].partition(" ")
    return tuple(_completed(part, verb, objects, phrase) for part in parts)


def _completed(part: str, verb: str, objects: str, phrase: str) -> str:
    alone = " " not in part.strip()
    if phrase.startswith(part):
        return f"{part} {objects}" if alone and objects else part
    if alone and objects and not phrase.endswith(part):
        return f"{part} {objects}"
    return f"{verb} {part}" if alone else part


def _described(offers: Sequence[Offer]) -> Iterator[tuple[Topics, Topics]]:
    for offer in offers:
        for name, schema in offer.properties.items():
            about = topics(_words(name))
            if about and isinstance(schema, dict):
                yield about, topics(str(schema.get("description", "")))


def open_toolbox(tools: Sequence[ToolSpec]) -> Toolbox:
    """Return the toolbox of a request; equal tools share one, since reading schemas is slow."""
    return _open(tuple((tool.name, tool.description, json.dumps(tool.parameters)) for tool in tools))


@lru_cache(maxsize=256)
def _open(tools: tuple[tuple[str, str, str], ...]) -> Toolbox:
    return Toolbox([offer_of(*tool) for tool in tools])


def offer_of(name: str, description: str, parameters: str) -> Offer:
    """Return a tool as a reader of the request sees it; `parameters` is its schema in JSON."""
    schema = json.loads(parameters)
    properties = schema.get("properties") if isinstance(schema, dict) else None
    names = [
        f"{key} {body.get('description', '') if isinstance(body, dict) else ''}"
        for key, body in (properties.items() if isinstance(properties, dict) else ())
    ]
    return Offer(
        name=name,
        description=description,
        parameters=schema if isinstance(schema, dict) else {},
        name_topics=topics(_words(name)),
        description_topics=topics(description),
        parameter_topics=topics(" ".join(names)),
        doings=doings(_words(name), description),
        members=_members(description),
    )


def _members(description: str) -> Mapping[str, str]:
    """Return the agents that a description lists, as LlamaIndex lists hand-off targets.

    >>> _members("Hand off.\\nCurrently available agents:\\n{'faq': 'Answers questions'}\\n")
    {'faq': 'Answers questions'}
    """
    _, _, agents = description.partition(_AGENTS)
    try:
        found = ast.literal_eval(agents.strip()) if agents else {}
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return {}
    return {str(name): str(about) for name, about in found.items()} if isinstance(found, dict) else {}


def _words(name: str) -> str:
    """Return a name in words: `sendLamp`, `send-lamp` and `send_lamp` alike."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ").replace("-", " ").replace(".", " ")


def _field_weight(topic: str, offer: Offer) -> float:
    if topic in offer.name_topics:
        return IN_NAME
    # What a tool has to be told is no reason to call it, even where its description repeats it.
    return IN_PARAMETERS if topic in offer.parameter_topics else IN_DESCRIPTION
