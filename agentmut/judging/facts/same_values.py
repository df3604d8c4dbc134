"""Values that stand for each other in a pair of runs, such as 10 km in one and 6.2 miles in the other."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from agentmut.language import short
from agentmut.nouns import IS, AgentTrace, Comparer, Extractor, Fact, Scenario

ROUNDING = Decimal("0.01")
"""A converted number may be rounded by so much of itself."""
_PIECE = re.compile(rf"(?<={IS})[^,()]+")
"""An argument's value in a call as a whole."""


class Same(NamedTuple):
    """Which values of the source stand for which values of the follow-up, normalised as facts are."""

    facts: Mapping[Fact, frozenset[Fact]]
    values: Mapping[str, str]
    """Values as arguments and fields show them."""

    @classmethod
    def from_texts(
        cls, same: Mapping[str, str], extractors: Sequence[Extractor], scenario: Scenario
    ) -> "Same":
        """Build the table from values as texts write them."""
        facts: dict[Fact, frozenset[Fact]] = {}
        readers = [one for one in extractors if not isinstance(one, Comparer)] if same else []
        for before, after in same.items():
            for reader in readers:
                new = reader.facts(scenario, AgentTrace(outputs=(after,)))
                facts |= dict.fromkeys(reader.facts(scenario, AgentTrace(outputs=(before,))), new)
        return cls(facts, {short(before): short(after) for before, after in same.items()})

    def images(self, facts: Iterable[Fact]) -> frozenset[Fact]:
        """Return what these facts may have become in the follow-up."""
        return frozenset(image for fact in facts for image in self._images(fact))

    def unmatched(
        self, source: frozenset[Fact], follow_up: frozenset[Fact]
    ) -> tuple[frozenset[Fact], frozenset[Fact]]:
        """Return the facts of each run without a counterpart in the other."""
        if not self.values:
            return source - follow_up, follow_up - source
        numbers = _Numbers.from_facts(follow_up)
        matched = {fact: frozenset(self._matches(fact, follow_up, numbers)) for fact in source}
        answered = frozenset().union(*matched.values())
        return frozenset(fact for fact, found in matched.items() if not found), follow_up - answered

    def _matches(self, fact: Fact, follow_up: frozenset[Fact], numbers: "_Numbers") -> Iterator[Fact]:
        if fact in follow_up:
            yield fact
        for image in self._images(fact):
            if image in follow_up:
                yield image
            yield from numbers.about(image)

    def _images(self, fact: Fact) -> frozenset[Fact]:
        images = self.facts.get(fact, frozenset())
        place, is_named, value = fact.value.partition(IS)
        if value in self.values:
            return images | {Fact(fact.kind, f"{place}{IS}{self.values[value]}")}
        if is_named and "(" in place:
            return images | {Fact(fact.kind, _PIECE.sub(self._replaced, fact.value))}
        return images

    def _replaced(self, piece: re.Match[str]) -> str:
        return self.values.get(piece.group(), piece.group())


class _Numbers(NamedTuple):
    """Facts that are a number, by kind and unit, in the order of their numbers."""

    of_unit: Mapping[tuple[str, str], list[tuple[Decimal, Fact]]]

    @classmethod
    def from_facts(cls, facts: Iterable[Fact]) -> "_Numbers":
        """Return those of the facts that are a number."""
        found: dict[tuple[str, str], list[tuple[Decimal, Fact]]] = {}
        for fact in facts:
            number, unit = _read(fact)
            if number is not None:
                found.setdefault((fact.kind, unit), []).append((number, fact))
        return cls({unit: sorted(numbers) for unit, numbers in found.items()})

    def about(self, image: Fact) -> Sequence[Fact]:
        """Return the facts whose number is that of another fact, except for rounding."""
        wanted, unit = _read(image)
        if wanted is None:
            return ()
        near, rounding = self.of_unit.get((image.kind, unit), []), ROUNDING * abs(wanted)
        start = bisect_left(near, wanted - rounding, key=_number)
        return [fact for _, fact in near[start : bisect_right(near, wanted + rounding, key=_number)]]


def _number(one: tuple[Decimal, Fact]) -> Decimal:
    return one[0]


def _read(fact: Fact) -> tuple[Decimal | None, str]:
    """Return the number of a fact, and its unit; None if it is no number."""
    number, _, unit = fact.value.partition(" ")
    try:
        found = Decimal(number)
    except InvalidOperation:
        return None, unit
    return (found if found.is_finite() else None), unit
