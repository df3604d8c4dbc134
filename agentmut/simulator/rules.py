"""What an instruction asks for: steps to take or not to take, when, and in which order."""

import re
from functools import lru_cache
from typing import NamedTuple

from agentmut.simulator.conditions import Condition, Test, comparison_in, condition, without_comparison
from agentmut.simulator.formats import Format, demands
from agentmut.simulator.language import Topics, topics
from agentmut.simulator.saying import speaks
from agentmut.text import Modality, modality

_NUMBER_NEXT = r"(?!\s+[$€£]?\s?\d)"
_BREAK = re.compile(r";\s+|:\s+|\s+[-–—]\s+|(?:,\s*|\s+)but\s+|(?<=[.!?])\s+", re.IGNORECASE)
_IF = r"if|when|whenever|as soon as|once|in case|where|for"
_LEADING_IF = re.compile(
    rf"^(?P<word>{_IF}|unless)\s+(?P<when>.+?),\s*(?:then\s+)?(?P<rest>\S.*)$", re.I | re.S
)
_TRAILING_IF = re.compile(
    r"^(?P<rest>.*?\S),?\s+(?P<word>if|when|whenever|as soon as|once|in case|unless)\s+(?P<when>.+)$",
    re.I | re.S,
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
    r",?\s*\b(?:instead of|rather than)\s+(?P<other>[^,;]+)|,?\s*\binstead\b", re.IGNORECASE
)
_ONLY = re.compile(r"\bonly\b\s*", re.IGNORECASE)
_FIRST = re.compile(r"^first,?\s+|,?\s+first\b", re.IGNORECASE)
_ALWAYS = re.compile(r"\b(?:always|every|each)\b", re.IGNORECASE)
_LEAD_WORDS = re.compile(
    r"^(?:(?:please|you|we|must|should|may|can|shall|always|never|do not|don['’]t|not|also|then|and|to|avoid|"
    r"refrain from|make sure|ensure|be sure|try|usually|ideally|that|have|need|are|allowed|"
    r"required)\b[\s,]*)+",
    re.IGNORECASE,
)
_BY_YOU = re.compile(r"\byou(?:['’]ve| have)?\b", re.IGNORECASE)
_LITERAL = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»")
_RELATIVE = re.compile(
    r"^(?P<rest>.*?\S)\s+(?:that|which|who)\s+(?P<when>(?:has|have|had|is|are|was|were|does|do|did|can)\b.+)$",
    re.I | re.S,
)
_MARKUP = re.compile(r"\*\*|__|(?<!\w)\*|\*(?!\w)|`")
_STATEMENT = re.compile(
    r"^(?:you are|you're|you work|you help|we|our|this|these|it|there|today)\b", re.IGNORECASE
)


class Clause(NamedTuple):
    """One step that an instruction asks for or forbids."""

    phrase: str
    forbids: bool
    when: Condition | None
    always: bool


class Order(NamedTuple):
    """`first` comes before `then`; an empty `then` means before everything else."""

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


class _Parts(NamedTuple):
    clauses: tuple[Clause, ...] = ()
    orders: tuple[Order, ...] = ()
    when: Condition | None = None


@lru_cache(maxsize=2_048)
def understand(instruction: str, heading: str | None, position: float) -> Rule:
    """Read one instruction; a heading that states a condition ("If it is late:") counts for it."""
    words = _MARKUP.sub("", instruction).strip().rstrip(".!")
    kind = _strength(words)
    states = kind is Modality.IMPERATIVE and _STATEMENT.match(words) is not None
    form = demands(words)
    parts = _Parts() if states or form else _read(words, _heading_condition(heading))
    return Rule(words, kind, topics(words), position, form, parts.clauses, parts.orders, states)


def _strength(words: str) -> Modality:
    """How strongly words bind; what is to be said literally ("... can I ...") does not count."""
    return modality(_LITERAL.sub('""', words))


def _heading_condition(heading: str | None) -> Condition | None:
    match = re.match(rf"^(?:{_IF})\s+(.+)$", heading or "", re.IGNORECASE)
    return condition(match[1]) if match else None


def _read(words: str, when: Condition | None) -> _Parts:
    """Read clause by clause; a condition holds for the clauses after it too."""
    clauses: list[Clause] = []
    orders: list[Order] = []
    for part in filter(None, (piece.strip() for piece in _BREAK.split(words))):
        found = _read_clause(part, when)
        clauses += found.clauses
        orders += found.orders
        when = found.when or when
    return _Parts(tuple(clauses), tuple(orders))


def _read_clause(words: str, inherited: Condition | None) -> _Parts:
    first = _FIRST.search(words) is not None
    always = _ALWAYS.search(words) is not None
    forbids = _strength(words) is Modality.FORBID
    only = _ONLY.search(words) is not None
    plain = _FIRST.sub("", _ONLY.sub("", words)).strip()
    if (match := _LEADING_ORDER.match(plain) or _TRAILING_ORDER.match(plain)) is not None:
        return _ordered(match, inherited, forbids or only)
    rest, when = _split_condition(plain, only and not forbids)
    when = when or inherited
    if only and not forbids and when is not inherited:  # "only X if Y" forbids X unless Y
        return _Parts((Clause(_bare(rest), True, when, False),), (), when)
    orders = (Order(_bare(rest), "", when, True),) if first and not forbids else ()
    return _Parts(_steps(rest, forbids, when, always), orders, when)


def _ordered(match: re.Match[str], when: Condition | None, forbids: bool) -> _Parts:
    rest, own = _split_condition(match["rest"], False)
    other, late = _split_condition(match["other"], False)
    when = own or late or when
    word, step, other = match["word"].lower(), _bare(rest), _bare(other)
    if word == "before" and not forbids:  # "X before Y"
        return _Parts((), (Order(step, other, when, True),), when)
    if word in ("then", "and then"):
        return _Parts((Clause(step, False, when, False),), (Order(step, other, when, False),), when)
    # "X after Y", "never X before/until/without Y": Y comes first
    follows = () if forbids else (Clause(step, False, condition(other, done=True), False),)
    return _Parts(follows, (Order(other, step, when, forbids),), when)


def _split_condition(words: str, only: bool) -> tuple[str, Condition | None]:
    match = (
        _LEADING_IF.match(words) or _TRAILING_IF.match(words) or (_ONLY_FOR.match(words) if only else None)
    )
    if match is not None:
        done = match["word"].lower() in ("once", "as soon as") or _BY_YOU.match(match["when"]) is not None
        inverted = (match["word"].lower() == "unless") != only
        return match["rest"], condition(match["when"], inverted=inverted, done=done)
    if (match := _RELATIVE.match(words)) is not None and not speaks(_bare(match["rest"])):
        return match["rest"], condition(match["when"])  # "a lamp that is broken"
    inner = _inner_comparison(words)
    return without_comparison(words) if inner else words, inner


def _inner_comparison(words: str) -> Condition | None:
    """ "Hand over claims above 90 lumen": the comparison is the condition."""
    comparison = comparison_in(words)
    if comparison is None:
        return None
    return Condition(words, ((Test(comparison.topics, comparison=comparison),),))


def _steps(words: str, forbids: bool, when: Condition | None, always: bool) -> tuple[Clause, ...]:
    instead = _INSTEAD.search(words)
    kept = _INSTEAD.sub("", words).strip() if instead else words
    step = Clause(_bare(kept), forbids, when, always)
    if instead is None or not instead["other"]:
        return (step,)
    return (step, Clause(_bare(instead["other"]), True, when, False))


def _bare(words: str) -> str:
    """A step without "you must", "never", "make sure to"."""
    return _LEAD_WORDS.sub("", words.strip()).strip(" ,.")
