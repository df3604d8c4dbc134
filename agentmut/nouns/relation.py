"""Metamorphic relations as data: follow-up runs, and the pair that is judged (AgentAssay paper, Definition 6.1)."""

import random
from enum import StrEnum
from typing import NamedTuple

from pydantic import Field, JsonValue

from agentmut._base import Frozen
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.fact import FactComparison
from agentmut.nouns.mutant import Edit
from agentmut.nouns.scenario import Scenario
from agentmut.nouns.trace import AgentTrace


class Family(StrEnum):
    """The four families of the AgentAssay paper, section 6.1."""

    PERMUTATION = "permutation"
    PERTURBATION = "perturbation"
    COMPOSITION = "composition"
    ORACLE = "oracle"


class Expectation(StrEnum):
    """The expectation of a relation, and so the baseline for its violations."""

    INVARIANT = "invariant"
    """Both runs show the same facts: compared with how often two runs of the unchanged agent differ."""
    DIRECTIONAL = "directional"
    """The follow-up may move one way only: compared with the tolerance of the project."""
    PREDICATE = "predicate"
    """A condition holds of the run or the pair: compared with the tolerance of the project."""


class FollowUpRun(Frozen):
    """One further run. A field that is None or empty keeps the scenario's value."""

    turns: tuple[JsonValue, ...] | None = None
    edits: tuple[Edit, ...] = ()
    """The config transformation: edits of the suite's full config, as operators make them."""


class FollowUp(Frozen):
    """The follow-up of a source run. Without runs, the relation judges the source run alone, at no cost."""

    runs: tuple[FollowUpRun, ...] = ()
    description: str
    """What was changed, in a phrase that a report can quote: `order of the documents reversed`."""
    expected: dict[str, JsonValue] = Field(default_factory=dict)
    """What `holds` needs to know of the change, such as the limit that was added."""


SAME_AGAIN = FollowUp(runs=(FollowUpRun(),), description="nothing changed")
"""The identity: the agent against itself. Every invariant relation is judged on it too, as the control."""


class Source(NamedTuple):
    """A run that a relation starts from."""

    scenario: Scenario
    config: AgentConfig
    """The suite's full config."""
    trace: AgentTrace
    rng: random.Random
    """Seeded by relation, scenario and number of the pair; the only source of chance."""


class Pair(NamedTuple):
    """A source run with its follow-up runs, to be judged."""

    scenario: Scenario
    config: AgentConfig
    source: AgentTrace
    follow_up: FollowUp
    traces: tuple[AgentTrace, ...]
    """One for each of `follow_up.runs`."""
    comparison: FactComparison
    """Which facts of this scenario's runs are compared."""

    @property
    def trace(self) -> AgentTrace:
        """Return the last follow-up run; the source run if there is none."""
        return self.traces[-1] if self.traces else self.source
