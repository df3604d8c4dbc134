"""Numbers in the condition of a rule, such as `more than 30 guests`, held against the numbers that a user gives."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from agentmut.language import stem

_NUMBER = r"(\d+(?:[.,]\d+)?)[\s-]*([^\W\d_]+)?"
_MORE = r"more than|above|over|longer than|later than|greater than|exceeds|exceeding|mehr als|über|länger als"
_LESS = r"less than|below|under|fewer than|shorter than|younger than|weniger als|unter|kürzer als"
_BOUND = re.compile(rf"\b(?:(?P<more>{_MORE})|(?P<less>{_LESS}))\s+{_NUMBER}", re.I)
_GIVEN = re.compile(rf"(?<![\w.,:/#-]){_NUMBER}")


class Bound(NamedTuple):
    """A number that another has to be above, or below, and the stem of what it counts."""

    above: bool
    number: float
    unit: str

    def is_met(self, number: float) -> bool:
        """Return whether a number is on the bound's side."""
        return number > self.number if self.above else number < self.number


def bounds(condition: str) -> list[Bound]:
    """Return the bounds that a condition states, each with the unit behind its number.

    >>> bounds("the cake is for more than 30 guests")
    [Bound(above=True, number=30.0, unit='guest')]
    """
    return list(_bounds(condition))


def _bounds(condition: str) -> Iterator[Bound]:
    for match in _BOUND.finditer(condition):
        number, unit = match[3], match[4]
        if unit:
            yield Bound(match["more"] is not None, _value(number), stem(unit))


def is_missed(condition: str, text: str) -> bool:
    """Return whether the user gives numbers of a bound's unit, and all are on its other side.

    Without such a number nothing is known: a tool may tell it.

    >>> is_missed("more than 30 guests", "a cake for 12 guests"), is_missed("more than 30 guests", "for 45 guests")
    (True, False)
    >>> is_missed("more than 30 guests", "a cake for my guests")
    False
    """
    return any(same and not any(map(bound.is_met, same)) for bound, same in _compared(condition, text))


def is_met(condition: str, text: str) -> bool:
    """Return whether the user gives, for each bound, a number of its unit on its side; True without a bound.

    >>> [is_met("more than 30 guests", said) for said in ("for 12 guests", "for 45 guests", "for my guests")]
    [False, True, False]
    """
    return all(any(map(bound.is_met, same)) for bound, same in _compared(condition, text))


def _compared(condition: str, text: str) -> Iterator[tuple[Bound, list[float]]]:
    """Yield each bound with the numbers of its unit that the user gives."""
    given = [(_value(number), stem(unit)) for number, unit in _GIVEN.findall(text) if unit]
    for bound in _bounds(condition):
        yield bound, [number for number, unit in given if unit == bound.unit]


def _value(number: str) -> float:
    return float(number.replace(",", "."))
