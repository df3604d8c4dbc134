"""Describe differences between facts in words, for a report."""

from collections.abc import Iterator

from agentmut.language import Slot, days, slot
from agentmut.nouns import IS, Fact

MOST = 12
"""Differences that are spelled out; the rest are counted."""
_NAMES = {
    "decisions": "decision", "tools": "tool", "tool_calls": "tool", "json": "field", "options": "option", "ids": "id",
    "dates": "date", "numbers": "",
}  # fmt: skip


def phrases(left: frozenset[Fact], right: frozenset[Fact]) -> tuple[str, ...]:
    """Describe the facts in the source only (`left`), and those in the follow-up only (`right`).

    A value that became another of the same slot is one phrase: `decision: yes became no`.
    """
    left, right = _essential(left), _essential(right)
    changed = [*_changed(left, right)]
    paired = {fact for pair in changed for fact in pair}
    said = [f"{_place(one)}{_value(one)} became {_value(other)}" for one, other in changed]
    said += [f"{_named(fact)} only in the source" for fact in sorted(left - paired)]
    said += [f"{_named(fact)} only in the follow-up" for fact in sorted(right - paired)]
    more = [f"and {len(said) - MOST} more"] if len(said) > MOST else []
    return (*said[:MOST], *more)


def _essential(facts: frozenset[Fact]) -> frozenset[Fact]:
    """Drop facts that another fact implies: a call next to the call with its arguments, a day next to its full date."""
    tools = {fact.value for fact in facts if fact.kind == "tool_calls"}
    described = {tool.partition(" ")[0] for tool in tools if " " in tool}
    days_said = {day.without_year for fact in facts if fact.kind == "dates" for day in days(fact.value)}
    return frozenset(fact for fact in facts if not _is_repeated(fact, tools, described, days_said))


def _is_repeated(fact: Fact, tools: set[str], described: set[str], days_said: set[str]) -> bool:
    if fact.kind == "dates":
        return fact.value in days_said
    if fact.kind != "tool_calls":
        return False
    name = fact.value.partition("(")[0].partition(" ")[0]
    if name != fact.value and name in tools:
        return True
    return fact.value.startswith(f"{name}(") and name in described


def _changed(left: frozenset[Fact], right: frozenset[Fact]) -> Iterator[tuple[Fact, Fact]]:
    before, after = _by_slot(left), _by_slot(right)
    for one in sorted(left):
        place = slot(one)
        others = after.get(place, [])
        alone = len(before[place]) == 1
        if alone and len(others) == 1 and not (one.kind in ("tools", "tool_calls") and not place.name):
            yield one, others[0]


def _by_slot(facts: frozenset[Fact]) -> dict[Slot, list[Fact]]:
    by_slot: dict[Slot, list[Fact]] = {}
    for fact in facts:
        by_slot.setdefault(slot(fact), []).append(fact)
    return by_slot


def _place(fact: Fact) -> str:
    name = slot(fact).name if IS in fact.value else ""
    kind = _NAMES.get(fact.kind, fact.kind)
    return f"{' '.join(filter(None, (kind, name)))}: " if kind or name else ""


def _value(fact: Fact) -> str:
    place, is_named, value = fact.value.partition(IS)
    return value if is_named and "(" not in place else fact.value


def _named(fact: Fact) -> str:
    kind = _NAMES.get(fact.kind, fact.kind)
    return f"{kind} {fact.value}" if kind else fact.value
