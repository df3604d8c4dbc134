"""The figures that a text states, each with the way it is written there."""

from collections.abc import Iterator

from agentmut.language.quantities.calendar_days import days
from agentmut.language.quantities.quantities import blanked, quantities
from agentmut.language.quantities.stated_identifiers import identifiers

Figure = tuple[str, str]
"""Kind and value; two are the same figure when both are equal."""


def stated_figures(text: str) -> dict[Figure, str]:
    """Map each figure of a text, read as `figures` does, to the way it is written where it comes first.

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
    rest = blanked(rest, [thing.span for thing in found_identifiers])
    for day in found_days:
        yield "date", day.value, (day.span[0], day.span[1])
        yield "date", day.without_year, (day.span[0], day.span[1])
    for thing in found_identifiers:
        yield "id", thing.value, (thing.span[0], thing.span[1])
    for quantity in quantities(rest):
        yield "number", str(quantity), (quantity.span[0], quantity.span[1])
