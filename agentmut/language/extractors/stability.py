"""Which facts the unchanged agent shows in nearly every run, and for which slots it never shows a new value."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from agentmut.language.quantities.units import unit_of
from agentmut.nouns import IS, Fact

FEWEST = 5
"""The fewest runs with which a fact can be called stable."""
NEARLY_ALL = 0.9
"""A fact is expected of a run when at least this share of the sources show it."""
MOST_LACKING = 0.1
"""At most this share of the sources lack any expected fact: two of them differ by those in about 18 % of pairs at most
(2 x 0.1 x 0.9)."""
MOST_NEW = 0.05
"""A slot is closed when at most this share of the sources show a value there that no other source shows."""

_WEEKDAY = "day of the week"


class Slot(NamedTuple):
    """What a fact gives a value for: an argument of a tool, a field, a unit, a kind."""

    kind: str
    name: str


def slot(fact: Fact) -> Slot:
    """Return the slot of a fact. Two facts of one slot with different values may contradict each other.

    >>> slot(Fact("numbers", "30 days")), slot(Fact("json", "/status = shipped")), slot(Fact("ids", "A-1042"))
    (Slot(kind='numbers', name='day'), Slot(kind='json', name='/status'), Slot(kind='ids', name=''))
    """
    name, is_named, _ = fact.value.partition(IS)
    if is_named and "(" not in name:
        return Slot(fact.kind, name)
    if fact.kind == "numbers":
        return Slot(fact.kind, unit_of(fact.value.partition(" ")[2]))
    if fact.kind == "dates" and fact.value.isalpha():
        return Slot(fact.kind, _WEEKDAY)
    return Slot(fact.kind, fact.value.partition("(")[0] if fact.value.endswith(")") else "")


class Stability(NamedTuple):
    """What to expect from a run of the unchanged agent."""

    expected: frozenset[Fact]
    """Facts that nearly all sources show."""
    known: frozenset[Fact]
    """Facts that any source shows."""
    slots: frozenset[Slot]
    """The slots of the known facts."""
    closed: frozenset[Slot]
    """Slots in which a value that no source shows is news."""
    closed_kinds: frozenset[str]
    """Kinds of which a slot that no source has is news."""
    compared_whole: frozenset[str] = frozenset()
    """Kinds that were asked for though no fact of theirs is stable: each fact of one run only is a difference."""
    sources: tuple[frozenset[Fact], ...] = ()
    """The facts of each source."""

    def is_news(self, fact: Fact) -> bool:
        """Return whether a run of the unchanged agent would hardly ever show this unknown fact."""
        place = slot(fact)
        if place.name == _WEEKDAY:  # named in passing: another one is news, not the first
            return place in self.closed
        return place in self.closed if place in self.slots else fact.kind in self.closed_kinds

    def are_together(self, some: frozenset[Fact], others: frozenset[Fact]) -> bool:
        """Return whether one source shows a fact of each: the two speak of two things, and do not contradict."""
        return any(not (run.isdisjoint(some) or run.isdisjoint(others)) for run in self.sources)


def stability(runs: Sequence[frozenset[Fact]], kinds: Sequence[str]) -> Stability:
    """Return what these runs of the unchanged agent have in common.

    Facts are expected in the order of their share, as long as at least `NEARLY_ALL` of the runs show the fact
    and at most `MOST_LACKING` of them lack any expected one.
    """
    known = frozenset().union(*runs)
    most_new = int(MOST_NEW * len(runs))
    slotted = [_by_slot(run) for run in runs]
    of_slot: dict[Slot, list[list[Fact]]] = {}
    for places in slotted:
        for place, facts in places.items():
            of_slot.setdefault(place, []).append(facts)
    by_kind = {kind: [frozenset(s for s in places if s.kind == kind) for places in slotted] for kind in kinds}
    return Stability(
        expected=frozenset(_expected(runs)),
        known=known,
        slots=frozenset(of_slot),
        closed=frozenset(place for place, shown in of_slot.items() if _with_new(shown) <= most_new),
        sources=tuple(runs),
        closed_kinds=frozenset(kind for kind, shown in by_kind.items() if _with_new(shown) <= most_new),
    )


def _expected(runs: Sequence[frozenset[Fact]]) -> Iterator[Fact]:
    counts = Counter(fact for run in runs for fact in run)
    lacking: set[int] = set()
    for fact, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        lack = {index for index, run in enumerate(runs) if fact not in run}
        if count >= NEARLY_ALL * len(runs) and len(lacking | lack) <= MOST_LACKING * len(runs):
            lacking |= lack
            yield fact


def _by_slot(run: frozenset[Fact]) -> dict[Slot, list[Fact]]:
    found: dict[Slot, list[Fact]] = {}
    for fact in run:
        found.setdefault(slot(fact), []).append(fact)
    return found


def _with_new(runs: Sequence[Collection[object]]) -> int:
    """Return in how many of the runs some fact stands that no other run shows."""
    counts = Counter(item for run in runs for item in run)
    return sum(any(counts[item] == 1 for item in run) for run in runs)
