"""The work that the loop carries out: it names the next trial and takes results until it has enough."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from agentmut.campaign.limits import Spend
from agentmut.campaign.preparation.plan import RunPlan
from agentmut.campaign.trials import Launch, TrialResult
from agentmut.nouns import Mutant, Scenario
from agentmut.trial import Detector, SuiteConfig


class Stop(StrEnum):
    """Why a run ended."""

    FINISHED = "finished"
    BUDGET = "budget"
    INTERRUPTED = "interrupted"
    QUARANTINED = "quarantined"
    """An outage has spoiled trials, which are set aside: it begins again with the others."""
    FAILED = "failed"
    """It cannot be carried out; `Work.problem` says why."""


class Work(Protocol):
    """The state of a run: a function of its plan and of the results recorded so far, in any order."""

    spend: Spend
    problem: str
    """Why the run cannot be carried out; empty while it can."""
    unable: bool
    """Whether that is since the agent cannot run: its trials are none to reuse."""
    forgot: bool
    """Whether the loop has taken care that they are not."""

    @property
    def unbegun(self) -> bool:
        """Return whether every fresh trial of the original raised an error before it did anything."""
        ...

    @property
    def plan(self) -> RunPlan:
        """Return what was decided before the first trial."""
        ...

    @property
    def suite(self) -> SuiteConfig:
        """Return the agent's config, and the part of it that each scenario uses."""
        ...

    @property
    def scenarios(self) -> Mapping[str, Scenario]:
        """Return the scenarios by name."""
        ...

    @property
    def contenders(self) -> tuple[Mutant, ...]:
        """Return the mutants whose trials may be launched."""
        ...

    @property
    def detectors(self) -> Mapping[str, Detector]:
        """Return, by mutant id, the detector that tells whether the mutation arrived."""
        ...

    @property
    def in_flight(self) -> int:
        """Return the number of trials launched and not recorded."""
        ...

    @property
    def decided(self) -> bool:
        """Return whether no further trial is wanted."""
        ...

    def launch(self) -> Launch | None:
        """Choose the next trial and count it as in flight; None when none can be launched now."""
        ...

    def record(self, launch: Launch, result: TrialResult) -> None:
        """Take in a finished trial."""
        ...
