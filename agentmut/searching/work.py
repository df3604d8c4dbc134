"""One round of a search as work for the loop: these trials, each once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agentmut.engine.limits import Spend, price_missing
from agentmut.engine.plan import RunPlan
from agentmut.engine.problems import DEAD_ENDPOINT, dead_endpoint
from agentmut.engine.suite import SuiteConfig
from agentmut.engine.trials import Launch, TrialResult
from agentmut.mutant import Mutant
from agentmut.scenario import Scenario
from agentmut.trace import Outcome
from agentmut.witness import Detector


class SearchPlan(RunPlan):
    """A search before its first trial. `scenarios` are those of the suite; what is tried follows from the seed."""

    kind: str = "suggest"
    trials: int
    """Most runs of the search, those that were reused included: so the same command ends the same way."""
    repeats: int


@dataclass
class Round:
    """Trials that were all decided on before the first of them. Changed by `launch` and `record` only."""

    plan: RunPlan
    suite: SuiteConfig
    scenarios: Mapping[str, Scenario]
    contenders: tuple[Mutant, ...]
    wanted: Sequence[Launch]
    spend: Spend = field(default_factory=Spend)
    in_flight: int = 0
    problem: str = ""
    results: dict[Launch, TrialResult] = field(default_factory=dict)
    detectors: Mapping[str, Detector] = field(init=False)
    _launched: int = 0
    _trouble: int = 0

    def __post_init__(self) -> None:
        self.detectors = {mutant.id: Detector(mutant, self.suite.full) for mutant in self.contenders}

    @property
    def decided(self) -> bool:
        """Whether all have been launched."""
        return self._launched == len(self.wanted)

    def launch(self) -> Launch | None:
        """The next one."""
        if self.decided:
            return None
        self._launched += 1
        self.in_flight += 1
        return self.wanted[self._launched - 1]

    def record(self, launch: Launch, result: TrialResult) -> None:
        """Take in a finished trial."""
        self.in_flight -= 1
        self.results[launch] = result
        if result.unpriced and self.plan.budget.usd is not None:
            self.problem = self.problem or price_missing(result.unpriced)
        self._trouble = self._trouble + 1 if result.outcome is Outcome.INFRASTRUCTURE else 0
        if self._trouble >= DEAD_ENDPOINT:
            self.problem = self.problem or dead_endpoint(self._trouble, result.reason)
