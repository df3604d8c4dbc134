"""Calling a tool that nobody asked for, because the user gave something that only a tool can use."""

from collections.abc import Iterable, Iterator

from agentmut.simulator.mind.arguments import fill, tokens
from agentmut.simulator.mind.mind import Mind
from agentmut.simulator.mind.toolbox import Offer


def unprompted(mind: Mind, needed: Iterable[str]) -> str | None:
    """The tool that a model may call unasked: one that takes a number or address nothing else needs."""
    said = mind.situation.said[-1] if mind.situation.said else ""
    given = tokens(said)
    if not given:
        return None
    names = set(needed)
    used = " ".join(value for offer in _offers(mind, names, True) for value in _values(mind, offer, said))
    unused = given - {token for token in given if token in used}
    takers = [o for o in _offers(mind, names, False) if unused & set(_values(mind, o, said))]
    scores = {scored.offer.name: scored.score for scored in mind.situation.toolbox.ranked(said)}
    best = max(takers, default=None, key=lambda offer: scores.get(offer.name, 0.0))
    taken = best is not None and mind.dice.chance(f"unprompted:{said}", mind.profile.initiative)
    return best.name if best is not None and taken else None


def _offers(mind: Mind, names: set[str], needed: bool) -> Iterator[Offer]:
    return (offer for offer in mind.situation.toolbox.offers if (offer.name in names) == needed)


def _values(mind: Mind, offer: Offer, said: str) -> list[str]:
    """What a call would pass on, empty where it cannot be made."""
    filled = fill(offer, said, mind.situation, mind.dice, mind.profile)
    ready = not filled.missing or mind.situation.tried(offer.name)
    return [value for value in filled.arguments.values() if isinstance(value, str)] if ready else []
