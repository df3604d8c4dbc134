"""The tools that the conversation and the instructions need, and their order."""

from collections.abc import Iterable, Iterator
from math import exp
from typing import NamedTuple

from agentmut.simulator.mind.arguments import fill, tokens
from agentmut.simulator.mind.language import clauses, negated
from agentmut.simulator.mind.mind import Mind
from agentmut.simulator.mind.rules import Order
from agentmut.simulator.mind.toolbox import Offer

_NEEDED, _STEEPNESS = 1.15, 12.0  # score at which a wish calls for a tool as often as not


class Need(NamedTuple):
    """A tool that should be called."""

    tool: str
    clause: str
    """The words that it is called for."""
    since: int
    """Index of the user's message from which on a call counts."""
    asked: bool
    """Whether it serves a wish of the user, so that the user is told when it cannot be done."""


def needs(mind: Mind) -> tuple[Need, ...]:
    """Return all needs, satisfied ones included, with the tools that instructions demand before them."""
    found = [*_wishes(mind), *_duties(mind)]
    for order in mind.orders:
        if order.demanded and not mind.tools_for(order.then) and mind.about(order.first):
            found = [*_steps(mind, order.first), *found]
    complete = list(_with_prerequisites(mind, found))
    unasked = unprompted(mind, (need.tool for need in complete))
    return _unique([*(_steps_with(mind, (unasked,)) if unasked else ()), *complete])


def predecessors(mind: Mind, tool: str, pending: Iterable[str]) -> frozenset[str]:
    """Return the `pending` tools that have to be called before `tool`."""
    found: set[str] = set()
    for order in mind.orders:
        first = mind.tools_for(order.first)
        if tool not in first and (not order.then or tool in mind.tools_for(order.then)):
            found.update(first)
    return frozenset(found.intersection(pending) - {tool})


def _wishes(mind: Mind) -> Iterator[Need]:
    """Yield what the user's messages call for, clause by clause."""
    toolbox = mind.situation.toolbox
    for index, message in enumerate(mind.situation.messages):
        for clause in clauses(message):
            chosen = None if negated(clause) else toolbox.choose(clause, mind.dice, mind.profile)
            if chosen is not None and mind.dice.chance(f"need:{clause}", _need(chosen.score)):
                yield Need(chosen.offer.name, clause, index, True)


def _need(score: float) -> float:
    return 1 / (1 + exp(-_STEEPNESS * (score - _NEEDED)))


def _duties(mind: Mind) -> Iterator[Need]:
    """Yield what instructions call for by themselves."""
    for clause in mind.duties:
        yield from _steps(mind, clause.phrase)


def _steps(mind: Mind, phrase: str) -> Iterator[Need]:
    return _steps_with(mind, mind.tools_for(phrase))


def _steps_with(mind: Mind, tools: Iterable[str]) -> Iterator[Need]:
    message = mind.situation.messages[-1] if mind.situation.messages else ""
    return (Need(tool, message, 0, False) for tool in tools)


def _with_prerequisites(mind: Mind, found: list[Need]) -> Iterator[Need]:
    demanding = tuple(order for order in mind.orders if order.demanded)
    for need in found:
        for tool in _before(mind, demanding, need.tool, (need.tool,)):
            yield Need(tool, need.clause, 0, need.asked)
        yield need


def _before(mind: Mind, orders: tuple[Order, ...], tool: str, seen: tuple[str, ...]) -> Iterator[str]:
    """Yield the tools demanded before `tool`, each after its own prerequisites."""
    for order in orders:
        if tool in mind.tools_for(order.then):
            for first in mind.tools_for(order.first):
                if first not in seen:
                    yield from _before(mind, orders, first, (*seen, first))
                    yield first


def _unique(found: Iterable[Need]) -> tuple[Need, ...]:
    """Return one need for each tool and message; the user's own wish replaces an instruction's."""
    kept: dict[tuple[str, int], Need] = {}
    for need in found:
        known = kept.get((need.tool, need.since))
        if known is None or need.asked > known.asked:
            kept[need.tool, need.since] = need
    return tuple(kept.values())


def unprompted(mind: Mind, needed: Iterable[str]) -> str | None:
    """Return the tool that a model may call unasked: one that takes an otherwise unneeded number or address."""
    message = mind.situation.messages[-1] if mind.situation.messages else ""
    given = tokens(message)
    if not given:
        return None
    names = set(needed)
    used = " ".join(value for offer in _offers(mind, names, True) for value in _values(mind, offer, message))
    unused = given - {token for token in given if token in used}
    takers = [o for o in _offers(mind, names, False) if unused & set(_values(mind, o, message))]
    scores = {scored.offer.name: scored.score for scored in mind.situation.toolbox.ranked(message)}
    best = max(takers, default=None, key=lambda offer: scores.get(offer.name, 0.0))
    taken = best is not None and mind.dice.chance(f"unprompted:{message}", mind.profile.initiative)
    return best.name if best is not None and taken else None


def _offers(mind: Mind, names: set[str], needed: bool) -> Iterator[Offer]:
    return (offer for offer in mind.situation.toolbox.offers if (offer.name in names) == needed)


def _values(mind: Mind, offer: Offer, message: str) -> list[str]:
    """Return the values that a call would pass on; empty if the call is impossible."""
    filled = fill(offer, message, mind.situation, mind.dice, mind.profile)
    ready = not filled.missing or mind.situation.tried(offer.name)
    return [value for value in filled.arguments.values() if isinstance(value, str)] if ready else []
