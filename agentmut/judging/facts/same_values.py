"""Values that stand for each other in a pair of runs, such as 10 km in one and 6.2 miles in the other."""

import re
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
        matched = {fact: frozenset(self._matches(fact, follow_up)) for fact in source}
        answered = frozenset().union(*matched.values())
        return frozenset(fact for fact, found in matched.items() if not found), follow_up - answered

    def _matches(self, fact: Fact, follow_up: frozenset[Fact]) -> Iterator[Fact]:
        if fact in follow_up:
            yield fact
        images = self._images(fact)
        yield from (other for other in follow_up if any(_equal(image, other) for image in images))

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


def _equal(image: Fact, other: Fact) -> bool:
    """Return whether two facts are equal, or equal numbers of one unit except for rounding."""
    if image == other:
        return True
    number, _, unit = image.value.partition(" ")
    stated, _, other_unit = other.value.partition(" ")
    if image.kind != other.kind or unit != other_unit:
        return False
    try:
        wanted, found = Decimal(number), Decimal(stated)
    except InvalidOperation:
        return False
    return abs(wanted - found) <= ROUNDING * abs(wanted)
