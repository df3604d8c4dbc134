"""Comparing two runs of a scenario by the facts they show."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from agentmut.facts.fact import Extractor, Fact
from agentmut.scenario import Scenario
from agentmut.trace import AgentTrace


class Comparison(NamedTuple):
    """Which facts are compared."""

    extractors: tuple[Extractor, ...]

    def facts(self, scenario: Scenario, trace: AgentTrace) -> frozenset[Fact]:
        """All facts of a run."""
        return frozenset().union(*(one.facts(scenario, trace) for one in self.extractors))

    def differences(
        self,
        scenario: Scenario,
        source: AgentTrace,
        follow_up: AgentTrace,
        same: Mapping[str, str] = MappingProxyType({}),
    ) -> tuple[str, ...]:
        """What one run shows and the other does not, in words; empty where they agree.

        `same` says which values of the source stand for which of the follow-up (10 km for 6.2 miles).
        """
        raise NotImplementedError  # branch w6-facts


def comparison_for(scenario: Scenario, sources: Sequence[AgentTrace] = ()) -> Comparison:
    """The comparison that the scenario asks for, or the default for it.

    `sources` are runs of the unchanged agent, used for nothing else, that show which facts are stable.
    """
    raise NotImplementedError  # branch w6-facts
