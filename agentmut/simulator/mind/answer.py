"""Composition of an answer from results, documents and instructions."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from agentmut.simulator.mind import formats
from agentmut.simulator.mind.facts import Fact, result_facts
from agentmut.simulator.mind.formats import Format
from agentmut.simulator.mind.language import Topics, clauses, topics
from agentmut.simulator.mind.mind import Mind
from agentmut.simulator.mind.plan import Plan, quoted
from agentmut.simulator.mind.rules import Clause
from agentmut.simulator.mind.saying import is_speech, rendered, wants_source
from agentmut.simulator.mind.situation import Call, Passage

NOTHING_KNOWN = "I am sorry, I have no information about that."
PADDING = (
    "I have gone through everything that you wrote and everything that I could find, "
    "and I did my best to give you a complete and helpful answer."
)
_ECHO, _PAD, _DETAIL = 0.6, 0.7, 0.7  # how often models repeat a question, pad, and tell a detail unasked
_FORBIDDEN = 0.6  # share of a forbidden subject's topics that makes a sentence speak of it
_ASKED = 1 / 3  # share of a forbidden subject's topics that makes a question ask for it
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


class Piece(NamedTuple):
    """A sentence of the answer; the sentence with the highest `rank` is left out first when space is short."""

    rank: int
    text: str


def compose(mind: Mind, plan: Plan) -> str:
    """Return the answer, in the form that the followed instructions want."""
    forms = list(mind.forms)
    sources = quoted(mind)
    pieces = [
        *_courtesies(mind),
        *_obstacles(plan),
        *_results(mind),
        *(Piece(2 + 4 * i, passage.text) for i, passage in enumerate(sources)),
    ]
    known = bool(pieces)
    pieces = [*_echo(mind), *pieces, *_remarks(mind, sources)]
    if not known and not plan.steps:
        pieces.append(Piece(1, NOTHING_KNOWN))
    if mind.dice.chance("padding", _PAD):
        pieces.append(Piece(9, PADDING))
    allowed = _without_forbidden(mind, forms, pieces)
    keys = next((form.keys for form in forms if form.keys), ())
    return in_json(mind, keys, _shaped([], allowed)) if keys else _shaped(forms, allowed)


def in_json(mind: Mind, keys: Iterable[str], answer: str) -> str:
    """Return an answer as a JSON object: each key gets the fact with its name, the first other key the text."""
    values: dict[str, Any] = {key: _fact_for(mind, key) for key in keys}
    free = next((key for key, value in values.items() if value is None), None)
    return formats.as_json({**values, free: answer} if free else values)


def _fact_for(mind: Mind, key: str) -> Any:
    about = topics(key.replace("_", " "))
    return next((fact.value for fact in mind.situation.facts if about and about <= fact.topics), None)


def _shaped(forms: list[Format], pieces: list[Piece]) -> str:
    """Return the answer with openings, endings and phrases, without its least important parts if limits demand it."""
    start = [form.start for form in forms if form.start]
    end = [*(form.include for form in forms if form.include), *(form.end for form in forms if form.end)]
    limits = [form.limit for form in forms if form.limit]
    kept = list(pieces)
    while len(kept) > 1 and not all(_fits(start, kept, end, limit) for limit in limits):
        del kept[max(range(len(kept)), key=lambda index: (kept[index].rank, index))]
    body = " ".join(piece.text for piece in kept)
    for number, unit in limits:
        fixed = formats.measure(" ".join([*start, *end]), unit) if start or end else 0
        body = formats.cut(body, (max(1, number - fixed), unit))
    return " ".join([*start, body, *end])


def _fits(start: list[str], kept: list[Piece], end: list[str], limit: tuple[int, str]) -> bool:
    return formats.fits([*start, *(piece.text for piece in kept), *end], limit)


def _echo(mind: Mind) -> Iterator[Piece]:
    message = mind.situation.messages[-1] if mind.situation.messages else ""
    question = next((part for part in clauses(message) if part.endswith("?")), None)
    if question and mind.dice.chance("echo", _ECHO):
        yield Piece(8, f"You asked: {question}")


def _courtesies(mind: Mind) -> Iterator[Piece]:
    for clause in _speech(mind):
        if _is_courtesy(clause.phrase):
            yield Piece(4, rendered(clause.phrase))


def _remarks(mind: Mind, sources: list[Passage]) -> Iterator[Piece]:
    for clause in _speech(mind):
        rank = 1 if clause.firm else 3
        if wants_source(clause.phrase):
            names = dict.fromkeys(passage.source for passage in sources if passage.source)
            yield from (Piece(rank, f"Source: {name}.") for name in names)
        elif not _is_courtesy(clause.phrase) and rendered(clause.phrase):
            yield Piece(rank, rendered(clause.phrase))


def _is_courtesy(phrase: str) -> bool:
    return phrase.lower().startswith(("thank", "apolog", "greet", "wish"))


def _speech(mind: Mind) -> list[Clause]:
    return [clause for clause in mind.duties if is_speech(clause.phrase, mind.situation.toolbox)]


def _obstacles(plan: Plan) -> Iterator[Piece]:
    yield from (Piece(1, rendered(question) or f"First: {question}.") for question in plan.questions)
    if plan.missing:
        wanted = " and ".join(name.replace("_", " ") for name in plan.missing)
        yield Piece(1, f"Could you give me the {wanted}?")
    for refusal in plan.refusals:
        yield Piece(1, f"I am sorry, I cannot {refusal.tool.replace('_', ' ')} here: {refusal.reason}.")


def _results(mind: Mind) -> Iterator[Piece]:
    latest = len(mind.situation.messages) - 1
    about = topics(mind.situation.messages[-1]) if mind.situation.messages else frozenset()
    for call in mind.situation.calls:
        if call.message == latest:
            yield from _result_pieces(mind, call, about)


def _result_pieces(mind: Mind, call: Call, about: Topics) -> Iterator[Piece]:
    name = call.name.replace("_", " ").capitalize()
    facts = [told for fact in result_facts(call.result) if (told := _allowed(mind, fact, about))]
    if call.failed:
        yield Piece(1, f"{name} did not succeed: {_listed(facts)}.")
        return
    first = [fact for fact in facts if (fact.topics | fact.evidence) & about] or facts[:3]
    rest = [f for f in facts if f not in first and mind.dice.chance(f"tell:{f.key}", _DETAIL)]
    yield Piece(2, f"{name}: {_listed(first) or 'done'}.")
    if rest:
        yield Piece(5, f"In addition: {_listed(rest)}.")


def _listed(facts: Iterable[Fact]) -> str:
    return ", ".join(fact.in_words for fact in facts).rstrip(".")


def _without_forbidden(mind: Mind, forms: list[Format], pieces: Iterable[Piece]) -> list[Piece]:
    phrases = [form.avoid.lower() for form in forms if form.avoid]
    return [
        piece
        for piece in pieces
        if not any(phrase in piece.text.lower() for phrase in phrases)
        and not _forbidden(mind, topics(piece.text))
    ]


def _forbidden(mind: Mind, about: Topics) -> bool:
    return any(len(subject & about) >= _FORBIDDEN * len(subject) for subject in _forbidden_subjects(mind))


def _allowed(mind: Mind, fact: Fact, about: Topics) -> Fact | None:
    """Return what may be told of a fact: of a result in sentences, those that are not withheld; None for nothing."""
    if fact.key or not isinstance(fact.value, str):
        return None if _withheld(mind, fact.topics, about) else fact
    sentences = _SENTENCE.split(fact.value)
    told = [one for one in sentences if not _withheld(mind, topics(one), about)]
    if len(told) == len(sentences):
        return fact
    return fact._replace(value=" ".join(told)) if told else None


def _withheld(mind: Mind, matter: Topics, about: Topics) -> bool:
    """Return whether a matter is left out: a forbidden one, or one that a specific request does not name."""
    asked = [s for s in _forbidden_subjects(mind) if len(s & about) >= _ASKED * len(s)]
    return _forbidden(mind, matter) or any(not matter & (about - subject) for subject in asked)


def _forbidden_subjects(mind: Mind) -> Iterator[Topics]:
    """Yield what may not be spoken of: the objects of forbidden steps that mean no tool."""
    for clause in mind.bans:
        if not mind.situation.toolbox.forbidden(clause.phrase):
            _, _, matter = clause.phrase.partition(" ")
            yield from filter(None, map(topics, _alternatives(matter)))


def _alternatives(matter: str) -> list[str]:
    return matter.replace(", ", " or ").replace(" and ", " or ").split(" or ")
