"""Filling a tool's arguments from the conversation and from earlier results."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from agentmut.simulator.mind.dice import Dice
from agentmut.simulator.mind.language import Topics, topics
from agentmut.simulator.mind.profiles import Profile
from agentmut.simulator.mind.schema_nodes import plain, properties, required
from agentmut.simulator.mind.situation import Situation
from agentmut.simulator.mind.toolbox import Offer

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)+")
_TOKEN = re.compile(r"(?<![\w@.-])(?=[\w-]*\d)[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*(?![\w@-])")
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_MOMENT = re.compile(r"\b(\d{4}-\d{2}-\d{2})(?: at |[ T])(\d{2}:\d{2})\b")
_ADDRESS = re.compile(r"\b(?:https?://|www\.)[^\s<>'\"]*[\w/]")
_QUOTED = re.compile(r"(?<!\w)(?:'([^'\n]+)'|\"([^\"\n]+)\"|“([^”\n]{1,400})”)(?!\w)")
_PERSON = re.compile(r"(?:[Nn]ame is|I am|I'm|[Tt]his is)\s+([A-Z]\w+(?:\s[A-Z]\w+)*)")
_PROPER = re.compile(r"(?<=[a-z,]\s)[A-Z][a-z]\w*(?:\s[A-Z][a-z]\w*)*")
_WORD = re.compile(r"[A-Za-z][\w'-]*")
_IDENTIFIER = topics("id number code reference identifier key sku")
_EMAIL_TOPICS = topics("email mail")
_DATE_TOPICS = topics("date")
_MEMBER = topics("agent")
_ADDRESS_TOPICS = topics("url uri website webpage")
_PROSE = topics("reason summary message note text body detail description comment question query explanation")
_ORDINARY = topics(
    "want need like get give have know see tell help thanks thank hello hi hey please could today check find"
    " show look"
)
_WORDING = topics("query message text body question")
"""Prose that a user may give word for word."""

Schema = Mapping[str, Any]


class Slot(NamedTuple):
    """One argument to be filled."""

    name: str
    schema: Schema
    topics: Topics
    tool: Offer
    required: bool


class FilledCall(NamedTuple):
    """Arguments found, and the names of missing required ones."""

    arguments: dict[str, Any]
    missing: tuple[str, ...]


def fill(offer: Offer, clause: str, situation: Situation, dice: Dice, profile: Profile) -> FilledCall:
    """Fill a call of `offer` made because of `clause`; optional arguments only where a value is at hand."""
    arguments: dict[str, Any] = {}
    missing: list[str] = []
    for slot in _slots(offer):
        found = _distinct(candidates(slot, clause, situation))
        if found:
            arguments[slot.name] = _picked(slot, found, dice, profile)
        elif slot.required:
            missing.append(slot.name)
    return FilledCall(arguments, tuple(missing))


@lru_cache(maxsize=4_096)
def tokens(message: str) -> frozenset[str]:
    """Return the numbers of things and the addresses that a message gives."""
    long_enough = (token for token in _TOKEN.findall(message) if not token.isdigit() or len(token) > 3)
    return frozenset([*long_enough, *_EMAIL.findall(message)])


def candidates(slot: Slot, clause: str, situation: Situation) -> Iterator[Any]:
    """Yield values that could fill a slot, the most likely first."""
    if "const" in slot.schema:
        yield slot.schema["const"]
    elif isinstance(slot.schema.get("enum"), list):
        yield from _choices(slot, clause, situation)
    elif slot.tool.members and topics(slot.name.replace("_", " ")) & _MEMBER:
        yield from _members(slot, clause)
    elif _type(slot) in ("number", "integer"):
        yield from _numbers(slot, situation)
    elif _type(slot) == "boolean":
        yield from _booleans(slot, clause)
    elif _type(slot) == "array":
        yield from _lists(slot, clause, situation)
    elif _type(slot) == "object":
        yield from _objects(slot, clause, situation)
    else:
        yield from _strings(slot, clause, situation)


def known_values(slot: Slot, situation: Situation) -> Iterator[Any]:
    """Yield values for a slot from the conversation, those of the last message first."""
    return candidates(slot, situation.messages[-1] if situation.messages else "", situation)


def is_plain_text(slot: Slot) -> bool:
    """Return whether a slot takes words of any kind, and no number, date, address or choice."""
    name = topics(slot.name.replace("_", " "))
    telling = slot.schema.keys() & {"enum", "const", "format", "pattern"}
    special = name & (_EMAIL_TOPICS | _DATE_TOPICS) or _is_address(slot, name) or _is_identifier(slot, name)
    return _type(slot) == "string" and not telling and not special


def _slots(offer: Offer) -> Iterator[Slot]:
    for name, schema in offer.properties.items():
        body = plain(schema, offer.parameters)
        about = topics(f"{name.replace('_', ' ')} {body.get('description', '')}")
        yield Slot(name, body, about, offer, name in offer.required)


def _type(slot: Slot) -> str:
    kind = slot.schema.get("type")
    return kind if isinstance(kind, str) else "string"


def _messages(clause: str, situation: Situation) -> tuple[str, ...]:
    """Return the clause first, then its message, then the newest messages."""
    own = [message for message in situation.messages if clause in message]
    return (clause, *own, *reversed(situation.messages))


def _strings(slot: Slot, clause: str, situation: Situation) -> Iterator[str]:
    messages = _messages(clause, situation)
    name = topics(slot.name.replace("_", " "))
    described = str(slot.schema.get("description", ""))
    if slot.schema.get("format") == "email" or name & _EMAIL_TOPICS:
        yield from (found for message in messages for found in _EMAIL.findall(message))
    elif "YYYY-MM-DD HH:MM" in described:
        yield from (" ".join(found) for message in messages for found in _MOMENT.findall(message))
    elif slot.schema.get("format") == "date" or name & _DATE_TOPICS or "YYYY-MM-DD" in described:
        yield from (found for message in messages for found in _DATE.findall(message))
    elif _is_address(slot, name):
        yield from (found for message in messages for found in _ADDRESS.findall(message))
    elif _is_identifier(slot, name):
        yield from _identifiers(slot, messages)
    elif name & _PROSE:
        if slot.required:
            yield from _quotations(messages) if name & _WORDING else ()
            yield from (message.strip() for message in messages[:1])
        return
    elif slot.required:
        yield from _quotations(messages)
        yield from _phrases(slot, messages)
    yield from _stated(name, situation)
    if _is_identifier(slot, name):
        # an event's id, where the tool is about events
        yield from _stated(name - slot.tool.name_topics, situation)


def _stated(name: Topics, situation: Situation) -> Iterator[str]:
    """Yield what results give under a name."""
    yield from (str(fact.value) for fact in situation.facts if name and name <= fact.topics)


def _quotations(messages: Iterable[str]) -> Iterator[str]:
    """Yield quoted texts, which are usually names or exact wordings."""
    found = (match for message in messages for match in _QUOTED.findall(message))
    yield from (quoted for match in found for quoted in match if quoted)


def _is_address(slot: Slot, name: Topics) -> bool:
    return slot.schema.get("format") in ("uri", "url") or bool(name & _ADDRESS_TOPICS)


def _is_identifier(slot: Slot, name: Topics) -> bool:
    return bool(name & _IDENTIFIER) or "pattern" in slot.schema or _example(slot) is not None


def _example(slot: Slot) -> str | None:
    """Return the shape of the look-alike that a description gives: "such as L-17"."""
    examples = slot.schema.get("examples")
    listed = examples if isinstance(examples, list) else []
    words = " ".join(map(str, [slot.schema.get("description", ""), *listed]))
    match = next((found for found in _TOKEN.findall(words) if not found.isdigit() or len(found) > 3), None)
    return shape(match) if match else None


def shape(token: str) -> str:
    """Return what a token looks like.

    >>> shape("LM-2044x")
    'A-9a'
    """
    letters = re.sub(r"[a-z]+", "a", re.sub(r"[A-Z]+", "A", token))
    return re.sub(r"\d+", "9", letters)


def _identifiers(slot: Slot, messages: Iterable[str]) -> Iterator[str]:
    pattern, example = slot.schema.get("pattern"), _example(slot)
    for message in messages:
        for token in _TOKEN.findall(message):
            if pattern:
                fits = _matches(str(pattern), token)
            elif _DATE.fullmatch(token):
                fits = False
            else:
                fits = shape(token) == example if example else not token.isdigit() or len(token) > 3
            if fits:
                yield token


def _matches(pattern: str, token: str) -> bool:
    try:
        return len(pattern) < 200 and _compiled(pattern).search(token) is not None
    except re.error:
        return False


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _phrases(slot: Slot, messages: Iterable[str]) -> Iterator[str]:
    """Yield names of things: proper names first, else the words that do not belong to the tool itself."""
    texts = tuple(messages)
    if "name" in slot.name:
        yield from (found for message in texts for found in _PERSON.findall(message))
    for message in texts:
        runs = _runs(message, slot.tool.topics | _ORDINARY)
        for name in _PROPER.findall(message):
            yield next((run for run in runs if name in run), name)
        yield from sorted(runs, key=len, reverse=True)[:1]


def _runs(message: str, ordinary: Topics) -> list[str]:
    """Return groups of consecutive words that carry meaning."""
    runs: list[list[str]] = [[]]
    for word in _WORD.findall(message):
        about = topics(word)
        if about and not about & ordinary:
            runs[-1].append(word)
        elif runs[-1]:
            runs.append([])
    return [" ".join(run) for run in runs if run]


def _numbers(slot: Slot, situation: Situation) -> Iterator[float | int]:
    whole = _type(slot) == "integer"
    stated = [fact for fact in situation.numbers if fact.number is not None]
    related = [(len(slot.topics & fact.topics), index, fact.number) for index, fact in enumerate(stated)]
    for overlap, _, number in sorted(related, key=lambda r: (-r[0], -r[1])):
        if overlap and number is not None and _in_range(slot.schema, number):
            yield int(number) if whole and number == int(number) else number
    if "default" in slot.schema and slot.required:
        yield slot.schema["default"]


def _in_range(schema: Schema, number: float) -> bool:
    low, high = schema.get("minimum"), schema.get("maximum")
    above = not isinstance(low, int | float) or number >= low
    return above and (not isinstance(high, int | float) or number <= high)


def _choices(slot: Slot, clause: str, situation: Situation) -> Iterator[Any]:
    options = slot.schema["enum"]
    about = frozenset().union(*map(topics, _messages(clause, situation)))
    known = about | situation.known
    scores = [(len(topics(str(option).replace("_", " ")) & known), option) for option in options]
    best = max((score for score, _ in scores), default=0)
    if best:
        yield from (option for score, option in sorted(scores, key=lambda s: -s[0]) if score)
    elif slot.required and options:
        yield slot.schema.get("default", options[0])


def _members(slot: Slot, clause: str) -> Iterator[str]:
    """Yield the agents that a tool names; the agent whose description fits a wish best comes first."""
    about = topics(clause)
    shared = {name: len(about & topics(f"{name} {told}")) for name, told in slot.tool.members.items()}
    yield from (name for name in sorted(shared, key=lambda name: -shared[name]) if shared[name])


def _booleans(slot: Slot, clause: str) -> Iterator[bool]:
    if slot.required:
        yield bool(topics(clause) & slot.topics)


def _lists(slot: Slot, clause: str, situation: Situation) -> Iterator[list[Any]]:
    body = plain(slot.schema.get("items"), slot.tool.parameters)
    if slot.topics >= topics("email address") and "format" not in body:
        body = {**body, "format": "email"}
    inner = slot._replace(schema=body)
    found = _distinct(candidates(inner, clause, situation))
    if found or slot.required:
        yield found


def _objects(slot: Slot, clause: str, situation: Situation) -> Iterator[dict[str, Any]]:
    """Yield an object of known plain values; none if a required value is unknown.

    Lists and objects in it are left to whoever completes the call by its schema, which may contain itself.
    """
    needed = required(slot.schema)
    inside = [_inside(slot, key, body, key in needed) for key, body in properties(slot.schema).items()]
    plain_ones = [one for one in inside if _type(one) not in ("array", "object")]
    found = {one.name: _distinct(candidates(one, clause, situation)) for one in plain_ones}
    if slot.required and all(found.get(key, True) for key in needed):
        yield {key: values[0] for key, values in found.items() if values}


def _inside(slot: Slot, key: str, schema: Any, needed: bool) -> Slot:
    body = plain(schema, slot.tool.parameters)
    about = topics(f"{key.replace('_', ' ')} {body.get('description', '')}")
    return Slot(key, body, about, slot.tool, needed)


def _distinct(values: Iterable[Any]) -> list[Any]:
    return list({repr(value): value for value in values}.values())


def _picked(slot: Slot, found: list[Any], dice: Dice, profile: Profile) -> Any:
    """Return usually the first candidate; sometimes the second, or the first with its end missing."""
    best = found[0]
    if not slot.required or dice.chance(f"argument:{slot.tool.name}:{slot.name}", profile.argument_skill):
        return best
    if len(found) > 1:
        return found[1]
    return best[:-1] if isinstance(best, str) and len(best) > 1 and "enum" not in slot.schema else best
