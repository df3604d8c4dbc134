"""What a search starts from: the agent, its suite, and what stored runs show of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from agentmut.insight.coverage.context import CoverageContext
from agentmut.insight.coverage.measure import measure
from agentmut.insight.coverage.nouns import Coverage
from agentmut.insight.generate.proposal_material import Material
from agentmut.insight.generate.proposals import Proposal
from agentmut.insight.generate.stand_ins import StandIns
from agentmut.nouns import AgentConfig, AgentTrace, Mutant, Scenario
from agentmut.project import CoverageSettings
from agentmut.seams import Relation


@dataclass(frozen=True)
class Start:
    """What a search starts from."""

    config: AgentConfig
    scenarios: tuple[Scenario, ...]
    traces: dict[str, tuple[AgentTrace, ...]]
    """Stored runs of the original by scenario."""
    settings: CoverageSettings
    known: Material
    stand_ins: StandIns
    least: float = 0.8
    """The share of a scenario's runs that its evaluators have to hold in: the suite's threshold."""
    alive: tuple[Mutant, ...] = ()
    score: float | None = None
    relations: Sequence[Relation] = ()
    context: CoverageContext = field(default_factory=CoverageContext)
    """Where rules are written, and which models are meant to be supported."""
    also: tuple[Proposal, ...] = ()
    """Proposals from elsewhere, such as a model: tried first."""

    @property
    def coverage(self) -> Coverage:
        """Return what the suite covers before anything is tried."""
        context = replace(self.context, scenarios=self.scenarios)
        return measure(self.traces, self.config, self.settings, context)
