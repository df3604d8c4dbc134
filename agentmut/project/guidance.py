"""The sections of `agentmut.yaml` on relations, coverage and suggestions."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from agentmut.project.section import Section

Named = str | Annotated[dict[str, JsonValue], Field(min_length=1, max_length=1)]
"""A name, or a mapping of one name to its argument."""


class RelationSettings(Section):
    """Which metamorphic relations `agentmut relations` checks, and with how much evidence."""

    use: tuple[Named, ...] | None = None
    """Names (`perturbation.noise`), families (`permutation`), or a name with its argument. All that need no argument
    when left out."""
    pairs: int = Field(default=50, ge=1, le=500)
    """Most pairs of a relation on a scenario."""
    sources: int = Field(default=60, ge=10, le=10_000)
    """Runs of the unchanged agent on each scenario, from which pairs start and with which they are compared."""
    tolerance: float = Field(default=0.1, gt=0, lt=1)
    """The rate of violations that a directional relation or a predicate may have."""
    compare: tuple[Named, ...] | None = None
    """The facts by which runs are compared, unless a scenario names some; chosen by scenario when left out."""
    own: tuple[str, ...] = ()
    """Relations of this project, as `module:object`."""


Dimension = Literal["tool", "path", "state", "boundary", "model"]


class CoverageSettings(Section):
    """What `agentmut coverage` measures against."""

    models: tuple[str, ...] = ()
    """Models that the agent is meant to support; its own, and those of mutation.swap_models, when left out."""
    weights: dict[Dimension, Annotated[float, Field(ge=0)]] = Field(default_factory=dict)
    """Weight of each dimension (tool, path, state, boundary, model) in the overall coverage; 1 where left out."""
    states: float | None = Field(default=None, gt=0)
    """Lambda of Eq. 17: the number of different abstract states expected of such an agent; estimated from the
    first traces of a config when left out."""
    depth: int = Field(default=12, ge=1, le=100)
    """Longest path, in edges, that is counted in an explicit graph."""
    target: dict[Dimension, Annotated[float, Field(gt=0, le=1)]] = Field(default_factory=dict)
    """Coverage aimed at in each dimension; 1 where left out."""


class SuggestSettings(Section):
    """How `agentmut suggest` looks for scenarios."""

    trials: int = Field(default=200, ge=1)
    """Most agent runs of one search."""
    repeats: int = Field(default=5, ge=1, le=100)
    """Runs of each proposed input."""
    model: str | None = None
    """A model that writes inputs too, through the adapter `openai` or `anthropic`: `openai:gpt-5.2`."""
