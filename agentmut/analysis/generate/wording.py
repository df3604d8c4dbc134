"""Requests in plain words: what a user might say so that a tool is needed, or a rule applies."""

import re
from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from agentmut.text.sentences import sentence_spans
from agentmut.text.spans import Span
from agentmut.tools import ToolSpec

_CONDITION = re.compile(
    r"^(?:[*_`]*IMPORTANT:?[*_`]*\s*)?(?:if|when|whenever|once)\s+(?P<case>[^,:;]{4,200})", re.I
)
_LATE_CONDITION = re.compile(r"\s(?:if|when|whenever|unless|before|after)\s+(?P<case>[^,;]{4,200})", re.I)
_ORDER = re.compile(
    r"^(?:[*_`]*(?:always|never|do not|don't|you must(?: not)?|you should(?: not)?|must(?: not)?|please)[*_`]*\s+)+",
    re.I,
)
_SELF = re.compile(r"(?:you|i|we|the|this|it|they|your)\b", re.I)
"""How statements begin that ask for nothing."""
_PERSONS = (
    (re.compile(r"^(?:somebody|someone|(?:the|a) (?:customer|user|caller|client|person))\b", re.I), "I"),
    (re.compile(r"\b(?:the|a) (?:customer|user)'s\b", re.I), "my"),
)
_THIRD = re.compile(r"^I (?P<verb>[a-z]+?)(?P<ending>ies|es|s)\b")
_CONJUGATED = {"is": "am", "has": "have", "does": "do", "was": "was"}


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of an input, in order, without the blanks between them.

    >>> sentences("My parcel is late. Where is it?")
    ('My parcel is late.', 'Where is it?')
    """
    spans = sentence_spans(text, Span(0, len(text)), ())
    return tuple(text[span.start : span.end] for span in spans)


def normalised(text: str) -> str:
    """What two inputs have in common that differ in case, blanks and punctuation only."""
    return " ".join(re.findall(r"[^\W_]+", text.lower()))


def in_words(name: str) -> str:
    """A parameter's name as words.

    >>> in_words("order_id"), in_words("deliveryDate")
    ('order id', 'delivery date')
    """
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return re.sub(r"[\W_]+", " ", apart).strip().lower()


def request(tool: ToolSpec, arguments: Mapping[str, JsonValue]) -> str:
    """A request that the tool answers, with these arguments.

    >>> request(ToolSpec(name="cancel", description="Cancel an order."), {"order_id": "A-1"})
    'Please cancel an order. The order id is A-1.'
    """
    said = sentences(tool.description.strip())
    deed = re.split(r"[:;(]", said[0])[0] if said else in_words(tool.name)
    deed = deed.strip().rstrip(".!") or in_words(tool.name)
    wish = f"Please {deed[0].lower()}{deed[1:]}."
    return " ".join(
        [wish, *(f"The {in_words(name)} is {shown(value)}." for name, value in arguments.items())]
    )


def _told(name: str, value: JsonValue) -> str:
    said = in_words(name)
    verb = "are" if said.endswith("s") and not said.endswith(("ss", "us", "is")) else "is"
    return f"The {said} {verb} {shown(value)}."


def shown(value: JsonValue) -> str:
    """A value as a user would write it."""
    from agentmut.frozen import canonical_json

    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " and ".join(map(shown, value)) if value else "nothing"
    if isinstance(value, float):
        return f"{value:.15g}"
    return value if isinstance(value, str) else canonical_json(value)


def cases(rule: str) -> Iterator[str]:
    """What a user might say so that a rule of the prompt applies: its condition as a fact, or its deed as a wish.

    >>> list(cases("If somebody mentions a lawyer, escalate to a human."))
    ['I mention a lawyer.']
    >>> list(cases("Never cancel an order that has shipped."))
    ['Please cancel an order that has shipped.']
    """
    rule = " ".join(rule.split()).strip("*_` ")
    early = _CONDITION.match(rule)
    late = None if early else _LATE_CONDITION.search(rule)
    found = early or late
    if found:
        yield _stated(found["case"])
    if not early:
        deed = _ORDER.sub("", re.split(r"[;:]", rule)[0]).strip().rstrip(".!")
        deed = deed[: late.start()] if late and late.start() < len(deed) and not _ORDER.match(rule) else deed
        if 2 <= len(deed.split()) <= 30 and not _SELF.match(deed):
            yield f"Please {deed[0].lower()}{deed[1:]}."


def _stated(case: str) -> str:
    """A condition as a statement in the first person."""
    said = case.strip().rstrip(".!")
    for pattern, person in _PERSONS:
        said = pattern.sub(person, said)
    if match := _THIRD.match(said):
        verb = match["verb"] + match["ending"]
        said = f"I {_base(verb)}{said[match.end() :]}"
    return f"{said[0].upper()}{said[1:]}."


def _base(verb: str) -> str:
    if verb in _CONJUGATED:
        return _CONJUGATED[verb]
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    return verb[:-2] if re.search(r"(?:ss|sh|ch|x|z|o)es$", verb) else verb.removesuffix("s")
