"""Read the figures that answers state: numbers with units, dates and times, identifiers."""

import json
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import ClassVar, NamedTuple

from pydantic import JsonValue

from agentmut._base import canonical_json
from agentmut.language.extractors.leaves import leaves
from agentmut.language.quantities.calendar_days import days
from agentmut.language.quantities.quantities import blanked, quantities
from agentmut.language.quantities.stated_identifiers import identifiers
from agentmut.nouns import AgentTrace, Fact, Scenario

Figure = tuple[str, str]
"""Kind and value; two are the same figure when both are equal."""
_KINDS = ("number", "date", "id")


class Figures(NamedTuple):
    """The figures of a text, sorted by kind. Each figure is of one kind only."""

    numbers: frozenset[str]
    dates: frozenset[str]
    ids: frozenset[str]


@lru_cache(maxsize=512)  # every relation reads the same source runs again
def figures(text: str) -> Figures:
    """Return the figures of a text, normalised.

    >>> figures("Order A-1042 of March 2026: $12.50")
    Figures(numbers=frozenset({'12.5 dollars'}), dates=frozenset({'2026-03'}), ids=frozenset({'A-1042'}))
    """
    found = stated_figures(text)
    return Figures(*(frozenset(value for kind, value in found if kind == asked) for asked in _KINDS))


def stated_figures(text: str) -> dict[Figure, str]:
    """Map each figure of a text to the way it is written where it comes first.

    A day with its year is also there without it.

    >>> stated_figures("Pay $1,200.00 within five days.")
    {('number', '1200 dollars'): '$1,200.00', ('number', '5 days'): 'five days'}
    """
    found: dict[Figure, str] = {}
    for kind, value, (start, end) in _read(text):
        if value:
            found.setdefault((kind, value), text[start:end])
    return found


def _read(text: str) -> Iterator[tuple[str, str, tuple[int, int]]]:
    found_days = tuple(days(text))
    rest = blanked(text, [day.span for day in found_days])
    found_identifiers = tuple(identifiers(rest))
    rest = blanked(rest, [one.span for one in found_identifiers])
    for day in found_days:
        yield "date", day.value, (day.span[0], day.span[1])
        yield "date", day.without_year, (day.span[0], day.span[1])
    for one in found_identifiers:
        yield "id", one.value, (one.span[0], one.span[1])
    for quantity in quantities(rest):
        yield "number", str(quantity), (quantity.span[0], quantity.span[1])


def texts_of(trace: AgentTrace) -> Iterator[str]:
    """Return the answers as texts; structured answers are written as JSON."""
    for output in trace.outputs:
        if output is not None:
            yield output if isinstance(output, str) else canonical_json(output)


def leaf_texts(trace: AgentTrace) -> Iterator[str]:
    """Return the answers as texts. Structured answers, and texts that are JSON, give one text for each value."""
    for output in trace.outputs:
        value = _parsed(output) if isinstance(output, str) else output
        if isinstance(value, str):
            yield value
        elif value is not None:
            yield from (leaf if isinstance(leaf, str) else canonical_json(leaf) for _, leaf in leaves(value))


def _parsed(text: str) -> JsonValue:
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        found: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found


def without_left_out_years(facts: frozenset[Fact], other_run: frozenset[Fact]) -> frozenset[Fact]:
    """Return the facts without the dates whose day the other run shows: leaving out the year is no difference.

    >>> facts = frozenset({Fact("dates", "2026-03-03"), Fact("dates", "2026-03-04")})
    >>> [fact.value for fact in without_left_out_years(facts, frozenset({Fact("dates", "3 March")}))]
    ['2026-03-04']
    """
    with_year = {
        day.without_year for fact in other_run if fact.kind == Dates.name for day in days(fact.value)
    }

    def is_left_out(fact: Fact) -> bool:
        day = next((day.without_year for day in days(fact.value)), "") if fact.kind == Dates.name else ""
        return bool(day) and day not in with_year and Fact(fact.kind, day) in other_run

    return frozenset(fact for fact in facts if not is_left_out(fact))


class _Figures:
    name: ClassVar[str]
    read: ClassVar[Callable[[Figures], frozenset[str]]]

    def __init__(self, argument: JsonValue = None) -> None:
        if argument is not None:
            raise ValueError(f"takes no argument, got {argument!r}; write `- {self.name}`")

    def facts(self, scenario: Scenario, trace: AgentTrace) -> frozenset[Fact]:
        """Return the figures of one kind that the answers state."""
        read = type(self).read
        return frozenset(
            Fact(self.name, value) for text in leaf_texts(trace) for value in read(figures(text))
        )


class Numbers(_Figures):
    """`numbers`: numbers with their units; `five days` is `5 days`, and `$1,200.00` is `1200 dollars`."""

    name: ClassVar[str] = "numbers"
    read: ClassVar[Callable[[Figures], frozenset[str]]] = staticmethod(lambda found: found.numbers)


class Dates(_Figures):
    """`dates`: days, months, years and times of day; `March 3rd, 2026` is `2026-03-03`, and also `3 March`."""

    name: ClassVar[str] = "dates"
    read: ClassVar[Callable[[Figures], frozenset[str]]] = staticmethod(lambda found: found.dates)


class Ids(_Figures):
    """`ids`: order numbers, article codes, addresses. Upper and lower case count as the same."""

    name: ClassVar[str] = "ids"
    read: ClassVar[Callable[[Figures], frozenset[str]]] = staticmethod(lambda found: found.ids)
