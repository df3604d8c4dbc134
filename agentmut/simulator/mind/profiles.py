"""The three models that the simulator plays. The figures are made up: no real model was measured."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from agentmut.language import Modality


class Profile(NamedTuple):
    """How well a model does each thing; probabilities unless said otherwise."""

    obeys: Mapping[Modality, float]
    """Chance of following an applicable instruction, by how strongly it is put."""
    attention: float
    """Words of irrelevant text that halve the odds of following an instruction."""
    middle: float
    """Share of the odds lost by an instruction in the middle of the prompt."""
    tool_skill: float
    """Chance of taking the tool that fits best, where one clearly does."""
    position_bias: float
    """Chance of taking the tool offered first, where several fit about equally well."""
    argument_skill: float
    """Chance of filling a required argument from the right place."""
    retrieval: float
    """Chance of finding the sentence that answers, where one does."""
    caution: float
    """Chance of stopping when a step that others depend on has failed."""
    initiative: float
    """Chance of calling a tool unasked with what the user gave and nothing else needs."""
    parallel: float
    """Chance of calling independent tools in one go."""
    window: int
    """Characters of the system message that are taken in."""
    gullible: float
    """Chance of following an order that stands in a document or a tool's result."""
    hasty: float = 1.0
    """By what the odds of not following a rule with a condition are multiplied, for want of thought."""


def _obeys(must: float, plain: float, should: float, may: float) -> Mapping[Modality, float]:
    by_modality = {
        Modality.FORBID: must,
        Modality.MUST: must,
        Modality.IMPERATIVE: plain,
        Modality.SHOULD: should,
        Modality.MAY: may,
    }
    return MappingProxyType(by_modality)


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "sim-large": Profile(
            obeys=_obeys(0.99, 0.975, 0.92, 0.55),
            attention=6_000,
            middle=0.1,
            tool_skill=0.995,
            position_bias=0.7,
            argument_skill=0.998,
            retrieval=0.99,
            caution=0.98,
            initiative=0.3,
            parallel=0.5,
            window=48_000,
            gullible=0.05,
        ),
        "sim-medium": Profile(
            obeys=_obeys(0.95, 0.92, 0.82, 0.4),
            attention=2_000,
            middle=0.2,
            tool_skill=0.98,
            position_bias=0.75,
            argument_skill=0.98,
            retrieval=0.95,
            caution=0.9,
            initiative=0.25,
            parallel=0.3,
            window=16_000,
            gullible=0.3,
        ),
        "sim-small": Profile(
            obeys=_obeys(0.85, 0.78, 0.62, 0.25),
            attention=700,
            middle=0.35,
            tool_skill=0.92,
            position_bias=0.85,
            argument_skill=0.93,
            retrieval=0.85,
            caution=0.7,
            initiative=0.2,
            parallel=0.1,
            window=6_000,
            gullible=0.7,
        ),
    }
)
