"""The demands of an instruction: steps to take or to avoid, their conditions, and their order."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from agentmut.language import Modality, modality
from agentmut.simulator.mind.conditions import Condition, Test, comparison_in, condition, without_comparison
from agentmut.simulator.mind.formats import Format, demands
from agentmut.simulator.mind.language import Topics, topics
from agentmut.simulator.mind.saying import speaks
from agentmut.simulator.mind.steps import LITERAL, bare, compounds, forbids, is_unresolved, without_quotations
from agentmut.simulator.mind.verbs import orders as begins_order
from agentmut.simulator.mind.wording import (
    mentioned,
    permitted,
    plain,
    third_person,
    without_lead,
    without_link,
)

_NUMBER_NEXT = r"(?!\s+[$€£]?\s?\d)"
_BREAK = re.compile(
    r";\s+|:\s+|(?<!\s)\s++[-–—]\s+|(?:,\s*+|(?<!\s)\s++)but\s+|,\s+so\s+(?!that\b|as\b|they\b|it\b|we\b|the\b)|(?<=[.!?])\s+",
    re.IGNORECASE,
)
_IF = r"if|when|whenever|as soon as|once|in case|where|for"
_LEADING_IF = re.compile(rf"^(?P<word>{_IF}|unless)\s+(?P<when>\S.*)$", re.I | re.S)
_COMMA = re.compile(r",\s*(?:then\s+)?(?=\S)", re.I)
_TRAILING_IF = re.compile(
    r"^(?P<rest>.*?\S),?\s+(?P<word>if|when|whenever|as soon as|once|in case|unless)\s+(?P<when>.+)$",
    re.I | re.S,
)
_HEDGE = re.compile(
    r"(?:,|(?<!\s))\s*+\b(?:if|when|whenever|where|wherever|as)(?: at all)? (?:possible|necessary|needed|appropriate"
    r"|applicable|relevant|required)\b,?",
    re.I,
)
_ONLY_FOR = re.compile(r"^(?P<rest>.*?\S)\s+(?P<word>for|to|on)\s+(?P<when>.+)$", re.I | re.S)
_LEADING_ORDER = re.compile(
    rf"^(?P<word>before|after){_NUMBER_NEXT}\s+(?P<other>.+?),\s*(?:then\s+)?(?P<rest>\S.*)$", re.I | re.S
)
_TRAILING_ORDER = re.compile(
    rf"^(?P<rest>.*?\S),?\s+(?:(?:and\s+)?only\s+)?"
    rf"(?P<word>before|after|until|without|and then|then){_NUMBER_NEXT}\s+(?P<other>.+)$",
    re.I | re.S,
)
_INSTEAD = re.compile(
    r"(?:,|(?<!\s))\s*+\b(?:(?:instead of|rather than)\s+(?P<other>[^,;]+)|instead\b)", re.IGNORECASE
)
_ONLY = re.compile(r"\bonly\b\s*", re.IGNORECASE)
_FIRST = re.compile(r"^first,?\s+|(?:,|(?<!\s))\s++first\b", re.IGNORECASE)
_ALWAYS = re.compile(r"\b(?:always|every|each)\b", re.IGNORECASE)
_BY_YOU = re.compile(r"\byou(?:['’]ve| have)?\b", re.IGNORECASE)
_RELATIVE = re.compile(
    r"^(?P<rest>.*?\S)\s+(?:that|which|who)\s+(?P<when>(?:has|have|had|is|are|was|were|does|do|did|can)\b.+)$",
    re.I | re.S,
)
_MARKUP = re.compile(r"\*\*|__|(?<!\w)\*|\*(?!\w)|`")
_STATEMENT = re.compile(
    r"^(?:you are|you're|you work|you help|we|our|this|these|it|there|today)\b", re.IGNORECASE
)
_TASK = re.compile(
    r"^you (?!(?:must|should|may|can|have|need|always|never|first|only|ought|are)\b)\w+\b"
    r"(?!.*\b(?:if|when|whenever|before|after|unless|until|once|then)\b)",
    re.I | re.S,
)


class Clause(NamedTuple):
    """One step that an instruction asks for or forbids."""

    phrase: str
    forbids: bool
    when: Condition | None
    always: bool
    firm: bool = True
    """It is more than advice or leave."""


class Order(NamedTuple):
    """An order of steps: `first` comes before `then`; an empty `then` stands for everything else."""

    first: str
    then: str
    when: Condition | None
    demanded: bool
    """Whether `then` calls for `first`, or only both together must come in this order."""


class Rule(NamedTuple):
    """An instruction, understood."""

    text: str
    modality: Modality
    topics: Topics
    position: float
    """Where it stands in the prompt, from 0 to 1."""
    form: Format | None
    clauses: tuple[Clause, ...]
    orders: tuple[Order, ...]
    states: bool
    """It tells something rather than asking for something."""
    when: Condition | None = None
    """The condition of its form, and of sentences that lean on it."""

    @property
    def of_reader(self) -> bool:
        """Return whether the sentence describes the reader or the reader's task, which answers no question."""
        return self.text.lower().startswith("you ")


class _Parts(NamedTuple):
    clauses: tuple[Clause, ...] = ()
    orders: tuple[Order, ...] = ()
    when: Condition | None = None


@lru_cache(maxsize=2_048)
def understand(
    instruction: str, heading: str | None, position: float, scope: Condition | None = None
) -> Rule:
    """Return one instruction's rule; a heading with a condition ("If it is late:") applies to it.

    `scope` is the condition of the sentence that it leans on.
    """
    text = _MARKUP.sub("", instruction).strip().rstrip(".!")
    words = permitted(mentioned(without_lead(without_link(text))))
    pieces = tuple(plain(piece) for piece in _pieces(words))
    kind = modality("; ".join(pieces))
    states = kind is Modality.IMPERATIVE and scope is None and _states(words)
    body, own = _conditional("; ".join(pieces))
    form = demands(body)
    outer = scope or _heading_condition(heading)
    parts = _Parts() if states else _read(words, outer)
    if form:
        parts = _Parts(_besides(parts.clauses) if form.include else (), (), own or outer)
    steps = tuple(clause._replace(firm=_is_firm(kind)) for clause in parts.clauses)
    return Rule(text, kind, topics(text), position, form, steps, parts.orders, states, parts.when)


def _states(words: str) -> bool:
    """Return whether words state a fact ("We open at nine") or the reader's task ("You help guests")."""
    return _STATEMENT.match(words) is not None or (_TASK.match(words) is not None)


def matter_condition(lead: str) -> Condition:
    """Return the condition in a question ("Broken lamp?") or in the name of a matter before a rule."""
    named = re.sub(rf"^(?:{_IF}|is|are|does|do|has|have|did|was|were)\s+", "", lead.strip(" ?:."), flags=re.I)
    return condition(named)


def _is_firm(kind: Modality) -> bool:
    return kind not in (Modality.SHOULD, Modality.MAY)


def _besides(clauses: tuple[Clause, ...]) -> tuple[Clause, ...]:
    """Return the steps besides a literal sentence to say."""
    return tuple(clause for clause in clauses if not LITERAL.search(clause.phrase) and not clause.forbids)


def _heading_condition(heading: str | None) -> Condition | None:
    words = without_lead(f"{heading}: do so") if heading and " " in heading.strip() else ""
    match = re.match(rf"^(?:{_IF})\s+(.+?)(?:, do so|: do so)$", words, re.I | re.S)
    stated = re.match(rf"^(?:{_IF}|on|upon|in case of|requests?|questions?)\b", heading or "", re.I)
    return condition(match[1]) if match and stated else None


def _pieces(words: str) -> list[str]:
    return [piece for piece in map(str.strip, _BREAK.split(words)) if piece]


def _read(words: str, when: Condition | None) -> _Parts:
    """Return the parts, clause by clause; a condition also holds for the clauses after it."""
    clauses: list[Clause] = []
    orders: list[Order] = []
    for piece in _pieces(words):
        theirs = _their_matter(piece, clauses) if when is None else None
        found = _read_clause(plain(piece), when or theirs)
        clauses += found.clauses
        orders += found.orders
        when = found.when or when
    return _Parts(tuple(clauses), tuple(orders), when)


def _their_matter(piece: str, before: list[Clause]) -> Condition | None:
    """Return the condition for orders to other people: the conversation is about the order or the forbidden step."""
    if not third_person(piece):
        return None
    return condition(next((clause.phrase for clause in before if clause.forbids), piece))


def _read_clause(words: str, inherited: Condition | None) -> _Parts:
    first = _FIRST.search(words) is not None
    banned = forbids(words)
    only = _ONLY.search(words) is not None
    plainly = _HEDGE.sub("", _FIRST.sub("", _ONLY.sub("", words))).strip()
    if (match := _LEADING_ORDER.match(plainly) or _TRAILING_ORDER.match(plainly)) and not _is_told(match):
        return _ordered(match, inherited, banned or only)
    rest, when = _split_condition(plainly, only and not banned)
    when = when or inherited
    if only and not banned and when is not inherited:  # "only X if Y" forbids X unless Y
        return _Parts((Clause(bare(rest), True, when, False),), (), when)
    orders = (
        (Order(bare(rest), "", when, True),) if first and not (banned or is_unresolved(bare(rest))) else ()
    )
    return _Parts(tuple(_steps(rest, when, _ALWAYS.search(words) is not None)), orders, when)


def _is_told(match: re.Match[str]) -> bool:
    """Return whether the order is for the user: "tell them to stop before they leave"."""
    rest = bare(_conditional(match["rest"])[0])
    reported = speaks(rest) and re.search(r"\bto\b", rest) is not None
    return reported and re.search(r"\byou(?:r)?\b", match["other"], re.I) is None


def _ordered(match: re.Match[str], when: Condition | None, banned: bool) -> _Parts:
    rest, own = _split_condition(match["rest"], False)
    other, late = _split_condition(match["other"], False)
    when = own or late or when
    word, step, other = match["word"].lower(), bare(rest), bare(other)
    if word == "before" and not banned:  # "X before Y"
        return _Parts((), (Order(step, other, when, True),), when)
    if word in ("then", "and then"):
        return _Parts((Clause(step, False, when, False),), (Order(step, other, when, False),), when)
    # "X after Y", "never X before/until/without Y": Y comes first
    follows = () if banned else (Clause(step, False, condition(other, done=True), False),)
    return _Parts(follows, (Order(other, step, when, banned),), when)


def _split_condition(words: str, only: bool) -> tuple[str, Condition | None]:
    rest, when = _conditional(words, only)
    if when is not None:
        return rest, when
    if only and (match := _ONLY_FOR.match(words)) is not None:
        return match["rest"], condition(match["when"], inverted=True)
    if speaks(bare(rest)):  # numbers and relative clauses belong to what is said
        return words, None
    if (match := _RELATIVE.match(words)) is not None:
        return match["rest"], condition(match["when"])  # "a lamp that is broken"
    inner = _inner_comparison(words)
    return without_comparison(words) if inner else words, inner


def _conditional(words: str, only: bool = False) -> tuple[str, Condition | None]:
    """Return a sentence without "if ..." at its beginning or end, and that condition; quotations stay."""
    words = _HEDGE.sub("", words).strip()
    masked = without_quotations(words)
    if (match := _LEADING_IF.match(masked)) is not None and (comma := _end_of_condition(masked)) is not None:
        when, rest = words[match.start("when") : comma.start()], words[comma.end() :]
    elif (match := _TRAILING_IF.match(masked)) is not None:
        when, rest = words[match.start("when") :], words[: match.end("rest")]
    else:
        return words, None
    word = match["word"].lower()
    done = word in ("once", "as soon as") or _BY_YOU.match(when) is not None
    return rest, condition(when, inverted=(word == "unless") != only, done=done)


def _end_of_condition(masked: str) -> re.Match[str] | None:
    """Return the comma after a leading condition: where an order begins, or else the first."""
    commas = list(_COMMA.finditer(masked))
    return next((comma for comma in commas if begins_order(masked[comma.end() :])), next(iter(commas), None))


def _inner_comparison(words: str) -> Condition | None:
    """Return the comparison inside an order as its condition: "Hand over claims above 90 lumen"."""
    comparison = comparison_in(words)
    if comparison is None:
        return None
    return Condition(words, ((Test(comparison.topics, comparison=comparison),),))


def _steps(words: str, when: Condition | None, always: bool) -> Iterator[Clause]:
    for part in compounds(words):
        instead = _INSTEAD.search(part)
        kept = _INSTEAD.sub("", part).strip() if instead else part
        if is_unresolved(bare(kept)):
            continue
        yield Clause(bare(kept), forbids(part), when, always)
        if instead is not None and instead["other"]:
            yield Clause(bare(instead["other"]), True, when, False)
