"""Requests in plain words that make a tool necessary, or a rule applicable."""

import re
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from agentmut._base import parameters
from agentmut.language import (
    AMBIGUOUS_VERBS,
    BASE_VERBS,
    DETERMINERS,
    PRONOUNS,
    STOP_WORDS,
    Span,
    base_of_third_person,
    order_at,
    reads_as_english,
    reads_as_foreign,
    sentence_spans,
)
from agentmut.nouns import ToolSpec

_CONDITION = re.compile(
    r"^(?:[*_`]*IMPORTANT:?[*_`]*\s*)?(?:if|when|whenever|once)\s+(?P<case>[^,:;]{4,200})", re.I
)
_LATE_CONDITION = re.compile(r"\s(?:if|when|whenever|unless)\s+(?P<case>[^,;]{4,200})", re.I)
_ORDER = re.compile(
    r"^(?:[*_`]*(?:always|never|do not|don't|you must(?: not)?|you should(?: not)?|must(?: not)?|please)[*_`]*\s+)+",
    re.I,
)
_BULLET = re.compile(r"^(?:[-*+•]|\(?\d{1,2}[.)])\s+")
_SELF = re.compile(r"(?:you|i|we|the|this|it|they|your)\b(?!\s+(?:customer|user)\b)", re.I)
"""How statements begin that ask for nothing."""
_PERSONS = (
    (re.compile(r"^(?:somebody|someone|(?:the|a) (?:customer|user|caller|client|person))\b", re.I), "I"),
    (re.compile(r"\b(?:the|a) (?:customer|user)'s\b", re.I), "my"),
)
_THIRD = re.compile(r"^I (?P<verb>[a-z]+s)\b")
_ASKED = (
    (re.compile(r"^I ask about\b"), "I have a question about"),
    (re.compile(r"^I ask (?:for|to have)\b"), "I would like"),
    (re.compile(r"^I ask to\b"), "I would like to"),
    (re.compile(r"^I ask (?=(?:who|what|when|where|which|why|how|whether|if)\b)"), "I would like to know "),
)
_OWN = ((re.compile(r"\btheir\b"), "my"), (re.compile(r"\bthey\b"), "I"))
_RELATIVE = re.compile(r",\s+(?:who|which)\b.*$")
_SHORT = 2
"""Words of a name or description that is taken for an order where its first word may be a verb."""
_GIVEN = r"(?:given|specified|provided)"
_PLACES = (
    (
        re.compile(
            rf"(?<!\s)\s+(?:with|by|for|using|at|from|of)\s+(?:(?:the|a|an|its)\s+)?(?:{_GIVEN}\s+)?`[^`]{{0,200}}`"
        ),
        "",
    ),
    (
        re.compile(
            rf"(?<!\s)\s+(?:with|by|for|using|at)\s+(?:(?:the|a|an)\s+)?{_GIVEN}\s+[\w ]{{1,200}}?(?=[.,]|$)"
        ),
        "",
    ),
    (re.compile(rf"\b{_GIVEN}\s+"), ""),
    (re.compile(r"`([^`]*)`"), r"\1"),
)
"""Words of a description that stand for arguments, as in "with the given `event_id`"."""
_AWAITED = re.compile(
    r"\sbefore you (?P<deed>(?:(?!\b(?:one|it|them|anything)\b)[^,.;:])+)(?=[,.;:]|$)", re.I
)
"""What a user asks for so that something has to be done before."""
_OF_ANSWERS = re.compile(
    r"\b(?:(?:every|each|all|your|the) (?:answer|reply|response)s?\b|the word\b|"
    r"the (?:user|customer|client|caller)(?=\s+(?:that|to|about|of|when|if|and)\b|,|$))",
    re.I,
)
"""What rules for answers speak of, and no user does."""
_UNSAID = re.compile(r"(?:who|which|that|whose|than|and|or|(?!\w*thing\b)\w+ing)\b", re.I)
"""How parts of sentences begin that do not stand for themselves."""


def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of an input, in order, without the blanks between them.

    >>> sentences("My parcel is late. Where is it?")
    ('My parcel is late.', 'Where is it?')
    """
    spans = sentence_spans(text, Span(0, len(text)), ())
    return tuple(text[span.start : span.end] for span in spans)


def normalised(text: str) -> str:
    """Return what two inputs have in common that differ in case, blanks and punctuation only."""
    return " ".join(re.findall(r"[^\W_]+", text.lower()))


def in_words(name: str) -> str:
    """Return a parameter's name as words.

    >>> in_words("order_id"), in_words("deliveryDate")
    ('order id', 'delivery date')
    """
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return re.sub(r"[\W_]+", " ", apart).strip().lower()


def request(tool: ToolSpec, arguments: Mapping[str, JsonValue]) -> str:
    """Return a request that the tool answers, with these arguments.

    >>> request(ToolSpec(name="cancel", description="Cancel an order."), {"order_id": "A-1"})
    'Please cancel an order. The order id is A-1.'

    A tool that is described in another language is asked for by its name and values, without an English sentence.

    >>> request(ToolSpec(name="termin_buchen", description="Bucht einen Termin."), {"tag": "Montag"})
    'Termin buchen. Tag: Montag.'
    """
    if reads_as_foreign(_descriptions(tool)) or not reads_as_english(tool.description):
        parts = [
            in_words(tool.name),
            *(f"{in_words(name)}: {shown(value)}" for name, value in arguments.items()),
        ]
        return " ".join(f"{part[:1].upper()}{part[1:]}." for part in parts)
    said = sentences(tool.description.strip())
    deed = imperative(_without_places(said[0])) if said else ""
    deed = deed or imperative(in_words(tool.name))
    wish = f"Please {deed}." if deed else f"I need the {in_words(tool.name)}."
    return " ".join([wish, *(_value_sentence(name, value) for name, value in arguments.items())])


def _descriptions(tool: ToolSpec) -> str:
    """Return what a tool and its parameters are said to do and mean."""
    return "\n".join([tool.description, *(one.description for one in parameters(tool.parameters))])


def imperative(text: str) -> str:
    """Return the order in a text, in the form that follows "please"; empty if the text is no order.

    >>> imperative("Reads the contents."), imperative("Current weather"), imperative("Escalate it, who takes over")
    ('read the contents', '', 'escalate it')
    """
    words = text.strip().rstrip(".!").split()
    first = words[0].lower() if words else ""
    base = "give me" if first == "returns" else base_of_third_person(first)
    reads = base == "give me" or _is_verb(first, base, text, words)
    return _RELATIVE.sub("", " ".join([base, *words[1:]])) if reads else ""


def _is_verb(first: str, base: str, text: str, words: Sequence[str]) -> bool:
    """Return whether a possible noun is a verb here: "refund", "list items", but not "order status of a customer"."""
    if base in BASE_VERBS:
        return (
            base != first or base not in AMBIGUOUS_VERBS or len(words) <= _SHORT or order_at(text) is not None
        )
    articles = DETERMINERS | PRONOUNS
    follows = len(words) > 1 and words[1].lower() in articles
    return follows and base.isalpha() and first not in STOP_WORDS | articles


def _without_places(description: str) -> str:
    """Return a description without placeholders for values that the request states itself, and without asides."""
    said = re.split(r"[:;(]|, (?:e\.g\.|for example|such as)", description)[0]
    for pattern, instead in _PLACES:
        said = pattern.sub(instead, said)
    return said.strip()


def _value_sentence(name: str, value: JsonValue) -> str:
    said = in_words(name)
    verb = "are" if said.endswith("s") and not said.endswith(("ss", "us", "is")) else "is"
    return f"The {said} {verb} {shown(value)}."


def shown(value: JsonValue) -> str:
    """Return a value in the form that a user writes."""
    from agentmut._base import canonical_json

    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " and ".join(map(shown, value)) if value else "nothing"
    if isinstance(value, float):
        return f"{value:.15g}"
    return value if isinstance(value, str) else canonical_json(value)


def cases(rule: str) -> Iterator[str]:
    """Yield requests to which a rule of the prompt applies: its condition as a fact, or its action as a wish.

    >>> list(cases("If somebody mentions a lawyer, escalate to a human."))
    ['I mention a lawyer.']
    >>> list(cases("Never cancel an order that has shipped."))
    ['Please cancel an order that has shipped.']
    """
    rule = _BULLET.sub("", " ".join(rule.split())).strip("*_` ")
    early = _CONDITION.match(rule)
    late = None if early else _LATE_CONDITION.search(rule)
    found = early or late
    if found and not _SELF.match(found["case"].replace("the ", "")) and not _UNSAID.match(found["case"]):
        yield _stated(found["case"])
    if early:
        return
    awaited = _AWAITED.search(rule)
    for said in ([awaited["deed"]] if awaited else []) + [_ORDER.sub("", rule)]:
        if deed := _deed(said, forbidden_or_asked=bool(_ORDER.match(rule))):
            yield f"Please {deed}."


def _deed(rule: str, *, forbidden_or_asked: bool) -> str:
    """Return the action of a rule as a user's wish; empty if no user would have this wish."""
    said = re.split(r"[;:]|\s+before\b", rule)[0].strip()
    late = None if forbidden_or_asked and " unless " not in said else _LATE_CONDITION.search(said)
    deed = imperative(said[: late.start()] if late else said)
    return deed if 2 <= len(deed.split()) <= 30 and not _OF_ANSWERS.search(deed) else ""


def _stated(case: str) -> str:
    """Return a condition as a statement in the first person."""
    said = case.strip().rstrip(".!")
    for pattern, person in _PERSONS:
        said = pattern.sub(person, said)
    if match := _THIRD.match(said):
        verb = match["verb"]
        said = f"I {_FIRST_PERSONS.get(verb) or base_of_third_person(verb)}{said[match.end() :]}"
    if said.startswith("I "):
        for pattern, instead in (*_ASKED, *_OWN):
            said = pattern.sub(instead, said)
    return f"{said[0].upper()}{said[1:]}."


_FIRST_PERSONS = {"is": "am", "was": "was"}
