"""What a request's settings do to a model: temperature, top_p, reasoning effort, stop sequences."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from agentmut.nouns import ModelRequest
from agentmut.simulator.mind.profiles import Profile

USUAL_TEMPERATURE = 0.7
"""Where the profiles' figures hold, and what an unset temperature is."""
_STEADIEST = 0.7  # share of the slips that is left at temperature 0, or with hardly any top_p
_HEAT = 0.4  # degrees above the usual at which slips have doubled odds
_EFFORTS: Mapping[str, float] = MappingProxyType({"medium": 1.5, "low": 2.5, "minimal": 4.0, "none": 4.0})


class Said(NamedTuple):
    """A text as far as it was said."""

    text: str
    finish_reason: str


def under(profile: Profile, request: ModelRequest) -> Profile:
    """The profile as the request's settings make it; the very same where they are unset."""
    factor = slips(request.temperature, request.top_p)
    hasty = _EFFORTS.get(request.reasoning_effort or "", 1.0)
    if factor == 1 and hasty == 1:
        return profile
    obeys = MappingProxyType({kind: _slipping(p, factor) for kind, p in profile.obeys.items()})
    return profile._replace(
        obeys=obeys,
        tool_skill=_slipping(profile.tool_skill, factor),
        argument_skill=_slipping(profile.argument_skill, factor),
        retrieval=_slipping(profile.retrieval, factor),
        caution=_slipping(profile.caution, factor),
        hasty=hasty,
    )


def slips(temperature: float | None, top_p: float | None) -> float:
    """The factor for the odds of each slip: 0.7 at temperature 0, 1 at 0.7, 5 at 1.5.

    A top_p below 1 takes that much off what is above 0.7, since the unlikely words are not drawn then.

    >>> slips(None, None), slips(0.0, 1.0), round(slips(1.5, None), 6), round(slips(1.5, 0.5), 6)
    (1.0, 0.7, 5.0, 2.85)
    """
    degrees = USUAL_TEMPERATURE if temperature is None else temperature
    above = max(0.0, degrees - USUAL_TEMPERATURE) / _HEAT
    below = min(degrees, USUAL_TEMPERATURE) / USUAL_TEMPERATURE
    factor = _STEADIEST + (1 - _STEADIEST) * below + above**2
    return factor if top_p is None or top_p == 1 else _STEADIEST + (factor - _STEADIEST) * top_p


def ended(text: str, stops: Iterable[str], limit: int | None) -> Said:
    """A text up to the first stop sequence in it, and to the limit in characters.

    >>> ended("One. Two. Three.", [" Th"], None)
    Said(text='One. Two.', finish_reason='stop')
    >>> ended("One. Two.", ["Two"], 3)
    Said(text='One', finish_reason='length')
    """
    until = min((at for stop in stops if stop and (at := text.find(stop)) >= 0), default=len(text))
    said = text[:until]
    if limit is None or len(said) <= limit:
        return Said(said, "stop")
    return Said(said[:limit], "length")


def _slipping(probability: float, factor: float) -> float:
    """The chance of not slipping, with the odds of slipping multiplied."""
    if probability <= 0:
        return probability
    return 1 / (1 + factor * (1 - probability) / probability)
