"""Dates, numbers, amounts and quantities are written in another notation."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from pydantic import JsonValue

from agentmut.nouns import Family
from agentmut.relations.invariants import RewordedTurn, some_kinds
from agentmut.relations.perturbation.notation import (
    currencies,
    dates,
    grouping,
    miles,
    number_words,
    times,
    units,
)
from agentmut.relations.turns import Change, Turn
from agentmut.seams import RelationExample, answer, example

_KINDS: Mapping[str, Callable[[Turn], Iterator[Change]]] = MappingProxyType(
    {
        "dates": dates,
        "times": times,
        "grouping": grouping,
        "words": number_words,
        "currencies": currencies,
        "units": units,
        "miles": miles,
    }
)
_ON_NOTATION = re.compile(
    r"\b(?:conver\w+|how many|(?:in|as|into) (?:words|digits|figures|numbers|letters|days|hours|minutes|weeks|metres"
    r"|meters|miles|grams)|notation|format\w*|units?|spell\w*|digits?|round\w*)\b",
    re.I,
)
"""What is asked may be the notation itself."""
_EXACT = tuple(kind for kind in _KINDS if kind != "miles")


class Formats(RewordedTurn):
    """A figure in a turn is written in another notation of the same value.

    The argument is a kind of notation or a list of kinds. `miles` rounds, and is only used where it is asked for.
    """

    id: ClassVar[str] = "perturbation.format"
    family: ClassVar[Family] = Family.PERTURBATION
    why: ClassVar[str] = "The agent reads a date or a figure in one notation only, and gets others wrong."
    nothing: ClassVar[str] = "no turn has a date, number or quantity that can be written otherwise for sure"

    def __init__(self, argument: JsonValue = None) -> None:
        self._kinds = some_kinds(argument, tuple(_KINDS), _EXACT)

    def changes(self, turn: Turn) -> Iterable[Sequence[Change]]:
        """Return one group for each kind of notation."""
        asks_for_one = _ON_NOTATION.search(turn.text)
        return [] if asks_for_one else [tuple(_KINDS[kind](turn)) for kind in self._kinds]

    def examples(self) -> Iterable[RelationExample]:
        """Yield a booking whose date is written otherwise."""
        asked, booked = "Book a table for 3 March 2026.", {"day": "2026-03-03"}
        told = answer("Your table is booked for 3 March 2026.", ("book", {**booked}))
        yield example(asked, told, answer("Booked for 2026-03-03.", ("book", {**booked})), True)
        yield example(asked, told, answer("Booked for 2026-03-04.", ("book", {"day": "2026-03-04"})), False)
