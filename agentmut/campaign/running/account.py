"""The account of a run, and runs that are fixed lists of trials."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from agentmut.campaign.decision.problems import DEAD_ENDPOINT, dead_endpoint
from agentmut.campaign.limits import Spend, price_missing
from agentmut.campaign.preparation.plan import RunPlan
from agentmut.campaign.trials import Launch, TrialResult
from agentmut.nouns import Mutant, Outcome, Scenario
from agentmut.project import BudgetSettings
from agentmut.trial import Detector, SuiteConfig


@dataclass(kw_only=True)
class Account:
    """The spending, the trials under way, and the reason why the run cannot continue."""

    spend: Spend = field(default_factory=Spend)
    in_flight: int = 0
    problem: str = ""
    """Why the run cannot be carried out; the first reason stays."""
    refused: bool = False
    """Whether the problem is one of the project file: a budget that cannot be kept."""
    unable: bool = False
    """Whether the problem is that the agent cannot run."""
    forgot: bool = False
    """Whether trials of it that never began are not reused."""
    _trouble: int = 0
    """Failures of the machinery in a row."""

    @property
    def unbegun(self) -> bool:
        """Return False, since other trials of the run may have been looked at elsewhere."""
        return False

    def note(self, result: TrialResult, budget: BudgetSettings) -> None:
        """Take in a finished trial."""
        self.in_flight -= 1
        spent = result.trace.foreign is None
        if spent and result.unpriced and budget.usd is not None and not self.problem:
            self.problem, self.refused = price_missing(result.unpriced, result.trace.unreported_models), True
        troubled = result.outcome in (Outcome.INFRASTRUCTURE, Outcome.NOT_JUDGED)
        self._trouble = self._trouble + 1 if troubled else 0
        if self._trouble >= DEAD_ENDPOINT:
            self.problem = self.problem or dead_endpoint(self._trouble, result, "give the same command again")


@dataclass
class TrialList(Account):
    """A fixed list of trials, all chosen before the first one starts, each run once. A `Work`."""

    plan: RunPlan
    suite: SuiteConfig
    scenarios: Mapping[str, Scenario]
    contenders: tuple[Mutant, ...]
    detectors: Mapping[str, Detector]
    wanted: deque[Launch]

    @property
    def decided(self) -> bool:
        """Return whether all have been launched."""
        return not self.wanted

    def launch(self) -> Launch | None:
        """Return the next trial of the list."""
        if not self.wanted:
            return None
        self.in_flight += 1
        return self.wanted.popleft()

    def record(self, launch: Launch, result: TrialResult) -> None:
        """Take in a finished trial."""
        self.note(result, self.plan.budget)
